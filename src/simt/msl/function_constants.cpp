#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

const Attribute* function_constant(const Source& source, const Token& token) {
  if (token.kind != Token::Kind::attribute) return nullptr;
  for (const Attribute& attribute : source.attributes[token.attributes])
    if (attribute.name == "function_constant") return &attribute;
  return nullptr;
}

}  // namespace

base::Result<void> bind_function_constants(Source& source,
                                           const std::map<int, std::string>& values) {
  std::map<std::string, bool> defined;
  std::vector<Token>& tokens = source.tokens;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const Attribute* attribute = function_constant(source, tokens[i]);
    if (!attribute || !tokens[i + 1].is(";")) continue;
    const std::optional<int> index = number_of(*attribute);
    if (!index)
      return base::usage_error(tokens[i].place(), "function_constant takes a number up to 65535");
    std::size_t first = i;
    while (first > 0 && !tokens[first].is("constant") && !tokens[first].is(";") &&
           !tokens[first].is("}"))
      --first;
    if (!tokens[first].is("constant"))
      return base::usage_error(tokens[i].place(), "a function constant is declared `constant`");
    const std::string& name = tokens[i - 1].spelling;
    const auto value = values.find(*index);
    defined[name] = value != values.end();
    tokens[first].written = "static const";
    tokens[first].spelling = "static";
    tokens[i].written =
        " = " + (value == values.end() ? "{}" : "(" + value->second + ")") + tokens[i].written;
  }
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (!tokens[i].is("is_function_constant_defined") || !tokens[i + 1].is("(")) continue;
    const auto found = defined.find(tokens[i + 2].spelling);
    if (found == defined.end())
      return base::usage_error(tokens[i].place(),
                               tokens[i + 2].spelling + " is no function constant");
    source.erase(i + 1, i + 4);
    tokens[i].written = found->second ? "true" : "false";
  }
  return {};
}

}  // namespace ksearch::simt::msl
