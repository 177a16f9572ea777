// ksearch models: providers, keys and prices as they are known here; --test makes one small call.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/model_choice.h"

namespace ksearch::cli {
namespace {

using base::Json;

/// Per million tokens, as price lists have it.
std::string price_text(const llm::Price& price) {
  std::string text = fmt::format("{:.4g} in, {:.4g} out", price.in * 1e6, price.out * 1e6);
  if (price.cached) text += fmt::format(", {:.4g} cached", *price.cached * 1e6);
  return text;
}

bool has_key(const Context& context, const llm::Provider& provider) {
  const auto it = context.environment.find(provider.key_variable);
  return it != context.environment.end() && !it->second.empty();
}

void print_list(const Context& context, const ModelFiles& files) {
  for (const llm::Provider& provider : files.models.providers()) {
    fmt::print("{}: {} ({}), {} {}\n", provider.name, provider.base_url, provider.wire->name,
               provider.key_variable, has_key(context, provider) ? "is set" : "is not set");
    for (const auto& [name, price] : files.prices.all()) {
      const std::string bare = name.substr(name.rfind('/') + 1);
      if (files.models.provider_of(bare) != &provider) continue;
      fmt::print("  {:<28} USD a million tokens: {}\n", "llm:" + bare, price_text(price));
    }
  }
  fmt::print("others, and servers of your own: --engineer llm:MODEL --base-url ADDRESS\n");
}

Json list_json(const Context& context, const ModelFiles& files) {
  Json json{{"providers", Json::array()}, {"prices", Json::array()}};
  for (const llm::Provider& provider : files.models.providers())
    json["providers"].push_back({{"name", provider.name},
                                 {"base_url", provider.base_url},
                                 {"api", provider.wire->name},
                                 {"key", provider.key_variable},
                                 {"key_is_set", has_key(context, provider)}});
  for (const auto& [name, price] : files.prices.all())
    json["prices"].push_back({{"model", name},
                              {"input_cost_per_token", price.in},
                              {"output_cost_per_token", price.out},
                              {"source", price.source}});
  return json;
}

class Keep final : public llm::CallWatch {
 public:
  void begun(int, int) override {}
  void ended(const llm::Call& call) override { calls.push_back(call); }
  std::vector<llm::Call> calls;
};

/// One small question that must be answered by one JSON object.
base::Result<int> test(const Context& context, const ModelsOptions& options,
                       const ModelFiles& files) {
  KS_TRY(const llm::Endpoint endpoint, endpoint_of(context, files, options.how, options.test));
  const auto transport = llm::make_curl_transport();
  llm::ClientOptions how;
  how.tries = 2;
  how.parts = 1;
  how.max_output = options.how.max_output;
  how.stream = options.how.stream;
  how.limits.whole = std::chrono::seconds(120);
  llm::Client client(endpoint, transport.get(), how);
  Keep keep;
  const auto said = client.complete(
      {R"(Answer with this JSON object and nothing else: {"ready": true})", 0, true}, {}, keep);
  double cost = 0;
  for (const llm::Call& call : keep.calls) cost += call.cost_usd;
  const llm::Call& last = keep.calls.back();
  const bool json = said && base::parse_json(said->text, "answer").has_value();
  if (options.json) {
    fmt::print("{}", base::to_text({{"model", endpoint.model},
                                    {"address", llm::address(*endpoint.wire, endpoint.base_url)},
                                    {"answered", said.has_value()},
                                    {"why_not", said ? "" : said.error().message},
                                    {"json", json},
                                    {"counts_tokens", said && !last.estimated},
                                    {"tokens_in", last.tokens.in},
                                    {"tokens_out", last.tokens.out},
                                    {"seconds", last.seconds},
                                    {"cost_usd", cost},
                                    {"price_known", endpoint.price.has_value()},
                                    {"left_out", client.notes()}}));
    return said ? kDone : kEnvironment;
  }
  fmt::print("{} at {} ({})\n", endpoint.model, llm::address(*endpoint.wire, endpoint.base_url),
             endpoint.wire->name);
  if (!said) {
    fmt::print("  no answer: {}: {}\n", llm::name(said.error().kind), said.error().message);
    return kEnvironment;
  }
  fmt::print("  answers in {:.1f} s{}\n", last.seconds, how.stream ? ", as a stream" : "");
  fmt::print("  {}\n", json ? "one JSON object, as asked for"
                            : "text that is not one JSON object: it will be looked for in answers");
  fmt::print("  {}\n", last.estimated
                           ? "tokens are not counted: they are estimated"
                           : fmt::format("tokens counted: {} in ({} cached), {} out",
                                         last.tokens.in, last.tokens.cached, last.tokens.out));
  fmt::print("  {}\n", endpoint.price
                           ? fmt::format("cost {:.2g} USD ({})", cost, price_text(*endpoint.price))
                           : "price not known: --prices FILE");
  for (const std::string& note : client.notes()) fmt::print("  {}\n", note);
  return kDone;
}

}  // namespace

base::Result<int> models(const Context& context, const ModelsOptions& options) {
  KS_TRY(const ModelFiles files, load_model_files(context, options.how));
  if (!options.test.empty()) return test(context, options, files);
  if (options.json)
    fmt::print("{}", base::to_text(list_json(context, files)));
  else
    print_list(context, files);
  return kDone;
}

}  // namespace ksearch::cli
