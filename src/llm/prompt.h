// Prompts as text files: literal text and placeholders {{name}} or {{name:BUDGET}}, the budget in
// characters. Lines before the first other one that begin with % are for editors and are not sent.
// An unknown or unused placeholder is an error when the file is read, so that a prompt never goes
// out with a hole in it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ksearch::llm {

/// A section that was cut to its budget.
struct Cut {
  std::string section;
  std::size_t characters = 0;  ///< of the whole section
  std::size_t left_out = 0;
};

class Prompt {
 public:
  /// Every name must be used in the text, and the text may use no other.
  static base::Result<Prompt> parse(std::string_view text, std::string_view where,
                                    const std::vector<std::string>& names);
  /// `values` has every name (our bug otherwise). Values are not searched for placeholders.
  std::string fill(const std::map<std::string, std::string>& values,
                   std::vector<Cut>* cuts = nullptr) const;

 private:
  struct Part {
    std::string text;        ///< literal, or
    std::string name;        ///< of a placeholder
    std::size_t budget = 0;  ///< characters; 0: none
  };
  std::vector<Part> parts_;
};

/// The rule of cutting: whole lines from the start (two thirds) and the end (one third), with a
/// line between them that says how much is left out. The result is within the budget where that is
/// at least some hundred characters.
std::string cut_to(std::string_view text, std::size_t budget, std::size_t* left_out = nullptr);

/// Tokens of a text where nobody counted them: a token is about four characters of English or code.
std::int64_t estimated_tokens(std::string_view text);

}  // namespace ksearch::llm
