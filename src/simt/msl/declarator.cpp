#include "simt/msl/declarator.h"

namespace ksearch::simt::msl {
namespace {

bool names_space(const Token& token) {
  return token.is("device") || token.is("constant") || token.is("thread") ||
         token.is("threadgroup");
}
bool is_qualifier(const Token& token) {
  return token.is("const") || token.is("volatile") || token.is("static") || token.is("constexpr") ||
         token.is("inline") || token.is("typename");
}

}  // namespace

std::set<std::string> type_names(const Source& source) {
  const std::vector<Token>& tokens = source.tokens;
  std::set<std::string> types;
  for (const char* scalar : {"float", "half", "bfloat", "int", "uint", "short", "ushort", "char",
                             "uchar", "long", "ulong", "bool"}) {
    types.insert(scalar);
    for (const char* n : {"2", "3", "4"}) types.insert(std::string(scalar) + n);
  }
  for (const char* name : {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
                           "int64_t", "uint64_t", "size_t", "void", "unsigned"})
    types.insert(name);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if ((tokens[i].is("struct") || tokens[i].is("union")) && tokens[i + 1].is_identifier() &&
        (i == 0 || (!tokens[i - 1].is("<") && !tokens[i - 1].is(","))))
      types.insert(tokens[i + 1].spelling);
  return types;
}

Declarator read_declarator(const Source& source, std::size_t i, std::size_t end) {
  const std::vector<Token>& tokens = source.tokens;
  Declarator d;
  for (; i < end; ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::attribute || is_qualifier(token)) continue;
    if (names_space(token)) {
      // float* thread* p: the last one is the pointer's own.
      if (!d.pointer) d.space = token.spelling;
      continue;
    }
    if (!token.is_identifier() || !d.type.empty()) break;
    d.type = token.spelling;
    while (i + 2 < end && tokens[i + 1].is("::")) {
      i += 2;
      d.type = tokens[i].spelling;
    }
    if (i + 1 < end && tokens[i + 1].is("<")) {
      const std::size_t after = source.after_angle(i + 1);
      if (after == i + 1) return {};
      i = after - 1;
    }
  }
  while (i < end && (tokens[i].is("*") || tokens[i].is("&") || tokens[i].is("const") ||
                     names_space(tokens[i]))) {
    d.pointer = d.pointer || tokens[i].is("*") || tokens[i].is("&");
    ++i;
  }
  d.name = i;
  d.array = i + 1 < end && tokens[i].is_identifier() && tokens[i + 1].is("[");
  return d;
}

std::size_t argument_end(const Source& source, std::size_t from, std::size_t close) {
  const std::vector<Token>& tokens = source.tokens;
  for (std::size_t i = from; i < close; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
      i = source.after_closing(i) - 1;
    else if (tokens[i].is("<") && source.after_angle(i) > i && source.after_angle(i) <= close)
      i = source.after_angle(i) - 1;
    else if (tokens[i].is(","))
      return i;
  }
  return close;
}

}  // namespace ksearch::simt::msl
