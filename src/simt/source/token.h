// A kernel's preprocessed source as tokens that remember the blanks before them and their line, so
// that what is written back keeps every line where it was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ksearch::simt::source {

struct Token {
  enum class Kind {
    identifier,
    number,
    text,         ///< string or character
    directive,    ///< a whole line that begins with #
    attribute,    ///< [[...]], made by read_attributes
    punctuation,  ///< one operator: "::", "->", "<<=", ...; ">" stands alone always
    end,
  };
  Kind kind = Kind::end;
  std::string spelling;  ///< as in the source, for what looks at it
  std::string written;   ///< what is written back: a pass changes this
  std::string before;    ///< blanks
  std::string file;      ///< by the line markers
  int line = 0;
  std::size_t attributes = 0;  ///< of an attribute: its index in Source::attributes

  bool is(std::string_view text) const { return spelling == text; }
  bool is_identifier() const { return kind == Kind::identifier; }
  /// "kernel.metal:12"
  std::string place() const { return file + ":" + std::to_string(line); }
};

/// One entry of [[...]]: a name and, where there are any, its arguments' tokens as text.
struct Attribute {
  std::string name, argument;
};

struct Source {
  std::vector<Token> tokens;  ///< the last one is of Kind::end
  std::vector<std::vector<Attribute>> attributes;

  /// The index after the bracket that closes the one at `open`; `(`, `[` and `{` nest; the end
  /// where none closes it.
  std::size_t after_closing(std::size_t open) const;
  /// The same for `<`: gives up (returns `open`) at `;`, `{` or the end.
  std::size_t after_angle(std::size_t open) const;
  std::string text(std::size_t from, std::size_t to) const;  ///< spellings with blanks
  /// Writes nothing for [from, to) but the line ends before and inside them.
  void erase(std::size_t from, std::size_t to);
};

Source tokenize(std::string_view preprocessed);
std::string write(const Source& source);

}  // namespace ksearch::simt::source
