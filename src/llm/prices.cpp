#include "llm/prices.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::llm {
namespace {

using base::Json;

constexpr double kLargestPrice = 1;  // USD a token: far above all that is sold

/// A cost of a file that people edit; the error says what was probably meant.
base::Result<std::optional<double>> cost(const Json& model, const char* key,
                                         const std::string& where) {
  const auto it = model.find(key);
  if (it == model.end() || it->is_null()) return std::nullopt;
  if (it->is_number()) {
    const double value = it->get<double>();
    if (value >= 0 && value <= kLargestPrice) return value;
  }
  return base::usage_error(where + "." + key, "is no cost of one token in US dollars",
                           "write 1.25e-6 for 1.25 dollars a million tokens");
}

/// "-20251211", "-2025-12-11", "@20251211", ":latest", "-latest": the same model.
bool only_a_date(std::string_view rest) {
  if (rest.empty() || std::string_view("-@:").find(rest.front()) == std::string_view::npos)
    return false;
  rest.remove_prefix(1);
  return rest == "latest" ||
         (rest.size() >= 8 && rest.find_first_not_of("0123456789-") == std::string_view::npos);
}

std::int64_t limit(const Json& model, const char* key) {
  const auto it = model.find(key);
  return it != model.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

}  // namespace

double Price::of(const Tokens& tokens) const {
  const auto plain = std::max<std::int64_t>(0, tokens.in - tokens.cached - tokens.cache_written);
  return static_cast<double>(plain) * in +
         static_cast<double>(tokens.cached) * cached.value_or(in) +
         static_cast<double>(tokens.cache_written) * cache_written.value_or(in) +
         static_cast<double>(tokens.out) * out;
}

base::Result<Prices> Prices::parse(std::string_view text, std::string_view where) {
  KS_TRY(const Json json, base::parse_json(text, where));
  if (!json.is_object())
    return base::usage_error(std::string(where), "is no object of models and their prices");
  Prices prices;
  for (const auto& [name, model] : json.items()) {
    if (!model.is_object() || name == "sample_spec") continue;  // LiteLLM's own description
    const std::string place = fmt::format("{}: {}", where, name);
    KS_TRY(const auto in, cost(model, "input_cost_per_token", place));
    KS_TRY(const auto out, cost(model, "output_cost_per_token", place));
    if (!in || !out) continue;
    Price price{*in, *out};
    KS_TRY(price.cached, cost(model, "cache_read_input_token_cost", place));
    KS_TRY(price.cache_written, cost(model, "cache_creation_input_token_cost", place));
    price.context = limit(model, "max_input_tokens");
    price.max_output = limit(model, "max_output_tokens");
    if (const auto source = model.find("source"); source != model.end() && source->is_string())
      price.source = source->get<std::string>();
    prices.prices_[name] = std::move(price);
  }
  return prices;
}

void Prices::lay_over(Prices over) {
  for (auto& [name, price] : over.prices_) prices_[name] = std::move(price);
}

const Price* Prices::find(std::string_view model) const {
  if (const auto it = prices_.find(model); it != prices_.end()) return &it->second;
  const Price* best = nullptr;
  std::size_t longest = 0;
  for (const auto& [name, price] : prices_) {
    const std::string_view bare = std::string_view(name).substr(name.rfind('/') + 1);
    if (bare == model) return &price;
    if (model.starts_with(bare) && bare.size() > longest &&
        only_a_date(model.substr(bare.size()))) {
      best = &price;
      longest = bare.size();
    }
  }
  return best;
}

}  // namespace ksearch::llm
