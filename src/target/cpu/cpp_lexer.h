// Just enough of C++'s lexical rules to know what is code, comment, string and directive, as a
// compiler would: line splices, raw strings, digit separators, digraphs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ksearch::target {

struct CppToken {
  enum class Kind { end, newline, identifier, number, text, character, hash, punctuation };
  Kind kind = Kind::end;
  std::string spelling;  ///< after splicing; of `text` the bytes between the quotes
  int line = 1;
  bool starts_line = false;  ///< nothing but blanks and comments before it
};

class CppLexer {
 public:
  explicit CppLexer(std::string_view text) : text_(text) {}

  CppToken next();
  /// Right after `#include`: "<vector>" or "\"tile.h\"" as written; empty where it is neither.
  std::string header_name();

 private:
  static constexpr char kEnd = '\0';
  void skip_splices();
  char peek();
  char peek_second();
  char take();
  bool skip_comment();
  CppToken quoted(char quote, CppToken token);
  CppToken raw_string(CppToken token);

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
};

}  // namespace ksearch::target
