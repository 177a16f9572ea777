// Providers and what is peculiar to their models, as data: knowledge/models.json, and the user's
// own file laid over it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "llm/wire.h"

namespace ksearch::llm {

struct Provider {
  std::string name;      ///< "openai"
  std::string base_url;  ///< with the version: ".../v1"
  const Wire* wire = nullptr;
  std::string key_variable;         ///< "OPENAI_API_KEY"; empty: no key
  std::vector<std::string> models;  ///< patterns with *: whose models these are
};

/// Models by pattern, with what they want otherwise. Later entries that match are laid over earlier
/// ones.
struct ModelQuirks {
  std::vector<std::string> models;
  std::string provider;  ///< empty: wherever it is served
  base::Json quirks;     ///< as in the file
};

class Models {
 public:
  static base::Result<Models> parse(std::string_view text, std::string_view where);
  /// The other's entries come after ours; a provider of the same name replaces ours.
  void lay_over(Models over);

  const std::vector<Provider>& providers() const { return providers_; }
  const Provider* provider(std::string_view name) const;
  /// The one that sells `model`, or null.
  const Provider* provider_of(std::string_view model) const;
  Quirks quirks(std::string_view provider, std::string_view model) const;

 private:
  std::vector<Provider> providers_;
  std::vector<ModelQuirks> quirks_;
};

/// * stands for any characters, upper and lower case are one.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace ksearch::llm
