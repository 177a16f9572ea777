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

}  // namespace

void read_attributes(Source& source) {
  for (std::size_t i = 0; i + 2 < source.tokens.size(); ++i) {
    Token& token = source.tokens[i];
    // a[[]{ return 0; }()] is no attribute: its second bracket closes at once.
    if (!token.is("[") || !source.tokens[i + 1].is("[") || !source.tokens[i + 1].before.empty() ||
        !source.tokens[i + 2].is_identifier())
      continue;
    const std::size_t after = source.after_closing(i);
    if (after < i + 4 || !source.tokens[after - 2].is("]")) continue;
    source.attributes.push_back(entries(source, i + 2, after - 2));
    source.erase(i, after);
    // One token stands for all; the rest, written as nothing, has no spelling either.
    token.kind = Token::Kind::attribute;
    token.attributes = source.attributes.size() - 1;
    std::string blanks;
    for (std::size_t k = i + 1; k < after; ++k)
      blanks += source.tokens[k].before + source.tokens[k].written;
    token.spelling = "[[]]";
    token.written += blanks;
    source.tokens.erase(source.tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        source.tokens.begin() + static_cast<std::ptrdiff_t>(after));
  }
}

}  // namespace ksearch::simt::msl
