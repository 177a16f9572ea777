#include "llm/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ksearch::llm {
namespace {

using base::Json;
using base::ObjectReader;

/// Reads the quirks of an entry onto `quirks`.
base::Result<void> read_quirks(const Json& json, const std::string& where, Quirks& quirks) {
  ObjectReader in(json, where);
  quirks.max_tokens = in.text_or("max_tokens", quirks.max_tokens);
  quirks.json = in.boolean_or("json", quirks.json);
  quirks.stream = in.boolean_or("stream", quirks.stream);
  quirks.stream_usage = in.boolean_or("stream_usage", quirks.stream_usage);
  quirks.cache_marks = in.boolean_or("cache_marks", quirks.cache_marks);
  quirks.max_output = static_cast<int>(in.integer_or("max_output", quirks.max_output));
  if (const Json* body = in.optional_object("body")) base::add_members(quirks.body, *body);
  in.ignore("source");
  return in.finish();
}

base::Result<Provider> read_provider(const Json& json, const std::string& where) {
  ObjectReader in(json, where);
  Provider provider;
  provider.name = in.text("name");
  provider.base_url = in.text("base_url");
  const std::string wire = in.text("api");
  provider.wire = find_wire(wire);
  if (in.ok() && !provider.wire)
    in.fault("api", fmt::format("\"{}\" is no wire format", wire), "chat, responses or messages");
  provider.key_variable = in.text_or("key", "");
  provider.models = in.texts_or_empty("models");
  in.ignore("source");
  KS_RETURN_IF_ERROR(in.finish());
  return provider;
}

base::Result<ModelQuirks> read_model(const Json& json, const std::string& where) {
  ObjectReader in(json, where);
  ModelQuirks entry;
  entry.models = in.texts_or_empty("models");
  entry.provider = in.text_or("provider", "");
  entry.quirks = in.object("quirks");
  KS_RETURN_IF_ERROR(in.finish());
  Quirks ignored;
  ignored.body = Json::object();
  KS_RETURN_IF_ERROR(read_quirks(entry.quirks, in.place("quirks"), ignored));
  return entry;
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && lower(pattern[p]) == lower(text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

base::Result<Models> Models::parse(std::string_view text, std::string_view where) {
  KS_TRY(const Json json, base::parse_json(text, where));
  ObjectReader in(json, std::string(where));
  Models models;
  if (const std::string format = in.text("format"); in.ok() && format != "ksearch.models/1")
    in.fault("format", fmt::format("\"{}\" is not ksearch.models/1", format));
  const Json* providers = in.optional_array("providers");
  const Json* quirks = in.optional_array("models");
  KS_RETURN_IF_ERROR(in.finish());
  for (std::size_t i = 0; providers && i < providers->size(); ++i) {
    KS_TRY(Provider provider,
           read_provider((*providers)[i], fmt::format("{}: providers[{}]", where, i)));
    models.providers_.push_back(std::move(provider));
  }
  for (std::size_t i = 0; quirks && i < quirks->size(); ++i) {
    KS_TRY(ModelQuirks entry, read_model((*quirks)[i], fmt::format("{}: models[{}]", where, i)));
    models.quirks_.push_back(std::move(entry));
  }
  return models;
}

void Models::lay_over(Models over) {
  for (Provider& provider : over.providers_) {
    const auto ours = std::ranges::find(providers_, provider.name, &Provider::name);
    if (ours == providers_.end())
      providers_.push_back(std::move(provider));
    else
      *ours = std::move(provider);
  }
  for (ModelQuirks& entry : over.quirks_) quirks_.push_back(std::move(entry));
}

const Provider* Models::provider(std::string_view name) const {
  const auto it = std::ranges::find(providers_, name, &Provider::name);
  return it == providers_.end() ? nullptr : &*it;
}

const Provider* Models::provider_of(std::string_view model) const {
  for (const Provider& provider : providers_)
    for (const std::string& pattern : provider.models)
      if (matches(pattern, model)) return &provider;
  return nullptr;
}

Quirks Models::quirks(std::string_view provider, std::string_view model) const {
  Quirks quirks;
  quirks.body = Json::object();
  for (const ModelQuirks& entry : quirks_) {
    if (!entry.provider.empty() && entry.provider != provider) continue;
    const bool ours = std::ranges::any_of(
        entry.models, [&](const std::string& pattern) { return matches(pattern, model); });
    // Checked when the file was read.
    if (ours) (void)read_quirks(entry.quirks, "quirks", quirks);
  }
  return quirks;
}

}  // namespace ksearch::llm
