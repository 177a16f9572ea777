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

/// Columns as wide as their widest cell, two blanks between; cells that `right` marks are set to
/// the right. The first row is a heading.
std::string table(const Style& style, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& right);

std::string ratio_text(double ratio);       ///< "1.31x", "41.2x", "128x"
std::string seconds_text(double seconds);   ///< "9s", "1m05s", "2h10m"
std::string time_text(double nanoseconds);  ///< "850 ns", "12.3 us", "1.42 ms", "2.10 s"
std::string percent_text(double fraction);  ///< "62%"
std::string bytes_text(double bytes);       ///< "48 KiB"

}  // namespace ksearch::report
