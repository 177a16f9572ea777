// What tokens cost, from a file in the format of LiteLLM's model_prices_and_context_window.json:
// {"MODEL": {"input_cost_per_token": USD, "output_cost_per_token": USD, ...}}, which most tools
// share. Members that we do not use are left alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "llm/chat.h"

namespace ksearch::llm {

/// US dollars a token.
struct Price {
  double in = 0, out = 0;
  std::optional<double> cached;              ///< read from the provider's cache; none: as `in`
  std::optional<double> cache_written;       ///< none: as `in`
  std::int64_t context = 0, max_output = 0;  ///< tokens; 0: unknown
  std::string source;                        ///< where the figures are from
  double of(const Tokens& tokens) const;
};

class Prices {
 public:
  /// A model without costs, like one that is counted in images, is left out. A negative cost or one
  /// above a dollar a token is an error: a figure per million tokens was put in its place.
  static base::Result<Prices> parse(std::string_view text, std::string_view where);
  /// Entries of `over` replace ours.
  void lay_over(Prices over);
  /// By its name, by the name with the provider before it ("gemini/gemini-2.5-pro"), else by the
  /// longest name that it continues with a date ("gpt-5.2-2025-12-11").
  const Price* find(std::string_view model) const;
  const std::map<std::string, Price, std::less<>>& all() const { return prices_; }

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

}  // namespace ksearch::llm
