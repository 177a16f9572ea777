#include "cli/model_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/counted.h"
#include "os/files.h"

namespace ksearch::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const os::Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  return it == environment.end() ? std::string() : it->second;
}

fs::path config_folder(const os::Environment& environment) {
  if (const std::string set = variable(environment, "XDG_CONFIG_HOME"); !set.empty())
    return fs::path(set) / "ksearch";
  const std::string home = variable(environment, "HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".config/ksearch";
}

/// Ours, the user's, the one that was named: each laid over the one before.
template <class File>
base::Result<File> load_laid(const Context& context, const char* name, const std::string& named) {
  File file;
  std::error_code error;
  const fs::path ours = context.home.folder() / "knowledge" / name;
  const fs::path users = config_folder(context.environment) / name;
  for (const fs::path& path : {ours, users, fs::path(named)}) {
    if (path.empty() || (path == users && !fs::exists(path, error))) continue;
    KS_TRY(const std::string text, os::read_file(path));
    KS_TRY(File over, File::parse(text, path.string()));
    file.lay_over(std::move(over));
  }
  return file;
}

std::string trimmed(std::string text) {
  const auto blank = " \t\r\n";
  text.erase(text.find_last_not_of(blank) + 1);
  text.erase(0, text.find_first_not_of(blank));
  return text;
}

base::Result<std::string> key_of(const Context& context, const ModelOptions& options,
                                 const llm::Provider* provider, const std::string& model) {
  if (!options.key_file.empty()) {
    KS_TRY(std::string key, os::read_file(options.key_file, 1 << 16));
    key = trimmed(std::move(key));
    if (key.empty() || key.find('\n') != std::string::npos)
      return base::usage_error(options.key_file, "does not hold one key on one line");
    return key;
  }
  const bool asked = !options.key_variable.empty();
  const std::string name = asked                                  ? options.key_variable
                           : options.base_url.empty() && provider ? provider->key_variable
                                                                  : "KSEARCH_API_KEY";
  const std::string key = trimmed(variable(context.environment, name));
  // A server of one's own may want none.
  const bool needed = asked || (options.base_url.empty() && !name.empty());
  if (key.empty() && needed)
    return base::usage_error(model, fmt::format("needs a key, and {} is not set", name),
                             fmt::format("export {}=..., or --key-file FILE", name));
  return key;
}

/// The host of an address is this machine.
bool is_here(std::string_view url) {
  const std::size_t begin = url.find("://");
  if (begin != url.npos) url.remove_prefix(begin + 3);
  url = url.substr(0, url.find('/'));
  if (url.find('@') != url.npos) return false;
  for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"})
    if (url == host || (url.starts_with(host) && url[host.size()] == ':')) return true;
  return false;
}

base::Result<void> check_address(const llm::Endpoint& endpoint) {
  const std::string& url = endpoint.base_url;
  const bool plain = url.starts_with("http://");
  const bool printable = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7f; });
  const bool host = url.find("://") + 3 < url.size() && url[url.find("://") + 3] != '/';
  if ((!plain && !url.starts_with("https://")) || !printable || !host)
    return base::usage_error("--base-url", fmt::format("\"{}\" is no address", url),
                             "http://127.0.0.1:8080/v1");
  if (plain && !endpoint.key.empty() && !is_here(url))
    return base::usage_error("--base-url", fmt::format("{} would carry the key in the clear", url),
                             "use https, or a tunnel that ends on this machine");
  return {};
}

std::string rounded(std::int64_t tokens) {
  return tokens >= 1000000 ? fmt::format("{:.1f} M", static_cast<double>(tokens) / 1e6)
                           : fmt::format("{} k", (tokens + 500) / 1000);
}

}  // namespace

base::Result<ModelFiles> load_model_files(const Context& context, const ModelOptions& options) {
  ModelFiles files;
  KS_TRY(files.models, load_laid<llm::Models>(context, "models.json", options.models_file));
  KS_TRY(files.prices, load_laid<llm::Prices>(context, "prices.json", options.prices_file));
  return files;
}

base::Result<llm::Endpoint> endpoint_of(const Context& context, const ModelFiles& files,
                                        const ModelOptions& options, std::string_view model) {
  if (model.starts_with("llm:")) model.remove_prefix(4);
  llm::Endpoint endpoint;
  endpoint.model = model;
  const llm::Provider* provider = nullptr;
  if (options.base_url.empty()) {
    provider = files.models.provider(model.substr(0, model.find('/')));
    if (provider)
      endpoint.model = model.substr(model.find('/') + 1);
    else
      provider = files.models.provider_of(model);
  }
  if (!provider && options.base_url.empty()) {
    std::string known;
    for (const llm::Provider& p : files.models.providers())
      known += (known.empty() ? "" : ", ") + p.name;
    return base::usage_error(std::string(model), "nobody is known who serves this model",
                             fmt::format("name the provider ({}) as PROVIDER/MODEL, or the server "
                                         "with --base-url",
                                         known));
  }
  endpoint.base_url = provider ? provider->base_url : options.base_url;
  endpoint.wire = provider ? provider->wire : &llm::kOpenAiChat;
  if (!options.api.empty()) endpoint.wire = llm::find_wire(options.api);
  if (!endpoint.wire)
    return base::usage_error("--api", fmt::format("\"{}\" is no wire format", options.api),
                             "chat, responses or messages");
  KS_TRY(endpoint.key, key_of(context, options, provider, endpoint.model));
  KS_RETURN_IF_ERROR(check_address(endpoint));
  endpoint.quirks = files.models.quirks(provider ? provider->name : "", endpoint.model);
  if (const llm::Price* price = files.prices.find(endpoint.model)) endpoint.price = *price;
  return endpoint;
}

base::Json to_json(const ModelOptions& options) {
  return {{"planner", options.planner},
          {"coder", options.coder},
          {"base_url", options.base_url},
          {"api", options.api},
          {"key_variable", options.key_variable},
          {"key_file", options.key_file},
          {"models_file", options.models_file},
          {"prices_file", options.prices_file},
          {"max_output", options.max_output},
          {"retry_wait_ms", options.retry_wait.count()},
          {"stream", options.stream}};
}

base::Result<ModelOptions> model_options_of(const store::RunInfo& info) {
  ModelOptions options;
  const auto it = info.options.find("model");
  if (it == info.options.end()) return options;
  base::ObjectReader in(*it, "run.json: options.model");
  options.planner = in.text("planner");
  options.coder = in.text("coder");
  options.base_url = in.text("base_url");
  options.api = in.text("api");
  options.key_variable = in.text("key_variable");
  options.key_file = in.text("key_file");
  options.models_file = in.text("models_file");
  options.prices_file = in.text("prices_file");
  options.max_output = static_cast<int>(in.integer("max_output"));
  options.retry_wait = std::chrono::milliseconds(in.integer("retry_wait_ms"));
  options.stream = in.boolean_or("stream", true);
  KS_RETURN_IF_ERROR(in.finish());
  return options;
}

std::optional<double> parse_money(std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  unit = trimmed(unit);
  constexpr double kMost = 1e6;
  if (error != std::errc() || !(value > 0) || value > kMost) return std::nullopt;
  if (!unit.empty() && unit != "usd" && unit != "dollars") return std::nullopt;
  return value;
}

std::string forecast(const llm::Endpoint& planner, const llm::Endpoint& coder,
                     std::int64_t spec_tokens, std::optional<std::int64_t> evaluations) {
  // An evaluation is one program; every third or so ends a cycle, which asks the planner once or
  // twice. Beside the specification a question has programs and outcomes; an answer is a program or
  // some operations, and what the model thinks before it. Rough: reasoning models think longer.
  constexpr double kPlans = 0.5, kCodes = 1.1;
  constexpr double kAround = 6000, kAnswer = 3000;
  const std::int64_t count = evaluations.value_or(100);
  const auto calls = static_cast<double>(count) * (kPlans + kCodes);
  const double in = static_cast<double>(spec_tokens) + kAround;
  std::string text =
      fmt::format("forecast: {} take about {:.0f} calls of {}{}, {} tokens in and {} out",
                  base::counted(count, "evaluation"), calls, coder.model,
                  planner.is_same(coder)         ? ""
                  : planner.model == coder.model ? " of two servers"
                                                 : " and " + planner.model,
                  rounded(static_cast<std::int64_t>(calls * in)),
                  rounded(static_cast<std::int64_t>(calls * kAnswer)));
  if (!planner.price || !coder.price) return text + "; what they cost is not known (--prices FILE)";
  const auto dollars = [&](const llm::Price& price, double share) {
    return static_cast<double>(count) * share * (in * price.in + kAnswer * price.out);
  };
  return text + fmt::format("; about {:.2g} USD, less what the provider caches",
                            dollars(*planner.price, kPlans) + dollars(*coder.price, kCodes));
}

}  // namespace ksearch::cli
