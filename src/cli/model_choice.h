// Which model at which address with which key: from the command line, the environment and the files
// of models and prices.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"
#include "cli/session.h"
#include "llm/client.h"
#include "llm/models.h"
#include "llm/prices.h"

namespace ksearch::cli {

/// knowledge/models.json and prices.json, then the user's in $XDG_CONFIG_HOME/ksearch (else
/// ~/.config/ksearch), then those that options name.
struct ModelFiles {
  llm::Models models;
  llm::Prices prices;
};
base::Result<ModelFiles> load_model_files(const Context& context, const ModelOptions& options);

/// `model` as the provider calls it, or PROVIDER/MODEL. The error says which variable the key is
/// missing from. A key goes to no other host than this one in the clear.
base::Result<llm::Endpoint> endpoint_of(const Context& context, const ModelFiles& files,
                                        const ModelOptions& options, std::string_view model);

/// For run.json: names of variables and files, never a key.
base::Json to_json(const ModelOptions& options);
/// Those a run was started with.
base::Result<ModelOptions> model_options_of(const store::RunInfo& info);

/// "5usd", "0.5 usd", "$2", "3"; nothing for what is no amount above zero.
std::optional<double> parse_money(std::string_view text);

/// One line: calls, tokens and money that so many evaluations will take, roughly.
std::string forecast(const llm::Endpoint& planner, const llm::Endpoint& coder,
                     std::int64_t spec_tokens, std::optional<std::int64_t> evaluations);

}  // namespace ksearch::cli
