#include "report/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace ksearch::report {
namespace {

struct Glyph {
  std::size_t bytes = 1;
  int width = 1;
  bool valid = true;
};

/// Ranges of two columns: Unicode's East Asian Width W and F, coarsely, and emoji.
bool is_wide(char32_t c) {
  static constexpr std::pair<char32_t, char32_t> kWide[] = {
      {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
      {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
      {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  return std::ranges::any_of(kWide, [c](auto r) { return c >= r.first && c <= r.second; });
}

Glyph glyph_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x20 || first == 0x7f) return {1, 0, false};
  if (first < 0x80) return {1, 1, true};
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 1;
  if (length == 1 || at + length > text.size()) return {1, 1, false};
  char32_t c = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {1, 1, false};
    c = (c << 6) | (byte(at + i) & 0x3fu);
  }
  if (c >= 0x80 && c < 0xa0) return {length, 0, false};  // C1 controls: some terminals obey them
  const bool combining = (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f);
  const bool steers = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return {length, combining ? 0 : is_wide(c) ? 2 : 1, !steers};
}

/// Length of the escape sequence "ESC [ ... letter" that begins at `at`, or 0.
std::size_t escape_at(std::string_view text, std::size_t at) {
  if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') return 0;
  for (std::size_t i = at + 2; i < text.size(); ++i)
    if (text[i] >= '@' && text[i] <= '~') return i + 1 - at;
  return text.size() - at;
}

/// Words in lines, of which the first has `first` columns and the others `rest`; `fit` makes of a
/// word what is printed. A line feed stays one.
template <class F>
std::vector<std::string> in_lines(std::string_view text, int first, int rest, F&& fit) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      lines.push_back(std::exchange(line, {}));
      ++at;
      continue;
    }
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const std::size_t end = std::min({text.find(' ', at), text.find('\n', at), text.size()});
    const std::string word = fit(text.substr(at, end - at));
    if (!line.empty() && columns(line) + 1 + columns(word) > (lines.empty() ? first : rest))
      lines.push_back(std::exchange(line, {}));
    if (!line.empty()) line += ' ';
    line += word;
    at = end;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string paint(const Style& style, Paint paint, std::string_view text) {
  if (!style.color || paint == Paint::plain || text.empty()) return std::string(text);
  const char* code = "0";
  switch (paint) {
    case Paint::plain:
      break;
    case Paint::strong:
      code = "1";
      break;
    case Paint::dim:
      code = "2";
      break;
    case Paint::good:
      code = "32";
      break;
    case Paint::bad:
      code = "31";
      break;
    case Paint::busy:
      code = "33";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

int columns(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t escape = escape_at(text, at)) {
      at += escape;
      continue;
    }
    const Glyph glyph = glyph_at(text, at);
    width += glyph.width;
    at += glyph.bytes;
  }
  return width;
}

std::string cut(const Style& style, std::string_view text, int width) {
  if (columns(text) <= width) return std::string(text);
  if (width <= 0) return {};
  std::string out;
  bool painted = false;
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t escape = escape_at(text, at)) {
      out += text.substr(at, escape);
      painted = text.substr(at, escape) != "\x1b[0m";
      at += escape;
      continue;
    }
    const Glyph glyph = glyph_at(text, at);
    if (used + glyph.width > width - 1) break;
    out += text.substr(at, glyph.bytes);
    used += glyph.width;
    at += glyph.bytes;
  }
  out += style.utf8 ? "…" : "~";
  if (painted) out += "\x1b[0m";
  return out;
}

std::string pad(const Style& style, std::string_view text, int width) {
  std::string out = cut(style, text, width);
  out.append(static_cast<std::size_t>(std::max(0, width - columns(out))), ' ');
  return out;
}

std::string pad_left(const Style& style, std::string_view text, int width) {
  const std::string out = cut(style, text, width);
  return std::string(static_cast<std::size_t>(std::max(0, width - columns(out))), ' ') + out;
}

std::string printable(const Style& style, std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    const bool keep = glyph.valid && (style.utf8 || glyph.bytes == 1);
    if (keep)
      out += text.substr(at, glyph.bytes);
    else
      out += text[at] == '\n' || text[at] == '\t' ? ' ' : '?';
    at += glyph.bytes;
  }
  return out;
}

std::vector<std::string> wrap(const Style& style, std::string_view text, int width) {
  return in_lines(text, width, width,
                  [&](std::string_view word) { return cut(style, word, width); });
}

std::string hanging(const Style& style, std::string_view text, int first, int rest, int width) {
  std::string out;
  int indent = first;
  for (const std::string& line :
       in_lines(printable(style, text), width - first, width - rest,
                [](std::string_view word) { return std::string(word); })) {
    out += std::string(static_cast<std::size_t>(indent), ' ') + line + '\n';
    indent = rest;
  }
  return out.empty() ? std::string(static_cast<std::size_t>(first), ' ') + '\n' : out;
}

std::string table(const Style& style, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& right) {
  std::vector<int> widths(right.size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], columns(row[i]));
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows[r].size() && i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      line += right[i] ? pad_left(style, rows[r][i], widths[i]) : pad(style, rows[r][i], widths[i]);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += r == 0 ? paint(style, Paint::dim, line) : line;
    out += '\n';
  }
  return out;
}

}  // namespace ksearch::report
