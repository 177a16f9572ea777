// Text for people: width on a terminal, cutting to a width, tables, numbers as engineers read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksearch::report {

/// What the reader's terminal can show. Decided once, in `cli`.
struct Style {
  bool color = false;
  bool utf8 = true;
};

enum class Paint { plain, strong, dim, good, bad, busy };

/// `text` between escape sequences where the style has colour; as it is otherwise.
std::string paint(const Style& style, Paint paint, std::string_view text);

/// Columns that UTF-8 text takes; escape sequences take none, East Asian wide characters two.
int columns(std::string_view text);
/// At most `width` columns; what is cut ends with "…" ("~" without UTF-8). Escape sequences stay
/// whole, and colours are closed.
std::string cut(const Style& style, std::string_view text, int width);
/// Cut, and filled with blanks to exactly `width` columns.
std::string pad(const Style& style, std::string_view text, int width);
std::string pad_left(const Style& style, std::string_view text, int width);
/// Bytes that are no UTF-8, and control characters, become "?": nothing that a library or a model
/// wrote may steer the terminal. Without UTF-8 all that is not ASCII becomes "?".
std::string printable(const Style& style, std::string_view text);

/// Words in lines of at most `width` columns; words that are longer are cut. A line feed stays one.
std::vector<std::string> wrap(const Style& style, std::string_view text, int width);

/// Words in lines of `width` columns, the first set in by `first` and the others by `rest`; words
/// that are longer stay whole. Each line ends with a line feed.
std::string hanging(const Style& style, std::string_view text, int first, int rest, int width);

/// Columns as wide as their widest cell, two blanks between; cells that `right` marks are set to
/// the right. The first row is a heading.
std::string table(const Style& style, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& right);

}  // namespace ksearch::report
