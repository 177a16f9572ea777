#include "kernel/expr.h"
#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

/// [[a, b(c)]]: the entries between the inner brackets.
std::vector<Attribute> entries(const Source& source, std::size_t from, std::size_t to) {
  std::vector<Attribute> all;
  for (std::size_t i = from; i < to;) {
    Attribute entry{source.tokens[i].spelling, {}};
    ++i;
    while (i < to && source.tokens[i].is("::")) {
      entry.name += "::" + source.tokens[i + 1].spelling;
      i += 2;
    }
    if (i < to && source.tokens[i].is("(")) {
      const std::size_t after = source.after_closing(i);
      entry.argument = source.text(i + 1, after - 1);
      i = after;
    }
    all.push_back(std::move(entry));
    while (i < to && !source.tokens[i].is(",")) ++i;
    ++i;
  }
  return all;
}

/// The index after the attribute that begins at `i`, or `i`.
std::size_t after_attribute(const Source& source, std::size_t i) {
  const std::vector<Token>& tokens = source.tokens;
  if (i + 2 >= tokens.size() || !tokens[i].is("[") || !tokens[i + 1].is("[") ||
      !tokens[i + 1].before.empty() || !tokens[i + 2].is_identifier())
    return i;
  // a[[]{ return 0; }()] is none: its second bracket closes at once.
  const std::size_t after = source.after_closing(i);
  return after >= i + 4 && tokens[after - 2].is("]") ? after : i;
}

}  // namespace

void read_attributes(Source& source) {
  std::vector<Token> kept;
  kept.reserve(source.tokens.size());
  for (std::size_t i = 0; i < source.tokens.size();) {
    const std::size_t after = after_attribute(source, i);
    kept.push_back(source.tokens[i]);
    if (after == i) {
      ++i;
      continue;
    }
    source.attributes.push_back(entries(source, i + 2, after - 2));
    source.erase(i, after);
    // One token stands for all of them.
    Token& token = kept.back();
    token = source.tokens[i];
    token.kind = Token::Kind::attribute;
    token.spelling = "[[]]";
    token.attributes = source.attributes.size() - 1;
    for (std::size_t k = i + 1; k < after; ++k)
      token.written += source.tokens[k].before + source.tokens[k].written;
    i = after;
  }
  source.tokens = std::move(kept);
}

std::optional<int> number_of(const Attribute& attribute) {
  constexpr std::int64_t kLargest = 65535;  // Metal: function constants
  const auto parsed = kernel::Expr::parse(attribute.argument, attribute.name);
  const auto value = parsed ? parsed->eval_integer({}) : std::unexpected(parsed.error());
  if (!value || *value < 0 || *value > kLargest) return std::nullopt;
  return static_cast<int>(*value);
}

}  // namespace ksearch::simt::msl
