#include "llm/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace ksearch::llm {
namespace {

std::string_view strip(std::string_view text, std::string_view what = " \t\r\n") {
  const auto first = text.find_first_not_of(what);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(what) - first + 1);
}

bool letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  while (!(text = strip(text)).empty()) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    list.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return list;
}

/// The run of fence characters a line begins with, after at most three blanks.
struct Fence {
  char mark = 0;
  std::size_t count = 0;
  std::string_view info;
};
Fence fence_of(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin > 3) return {};
  const char mark = line[begin];
  if (mark != '`' && mark != '~') return {};
  const auto end = std::min(line.find_first_not_of(mark, begin), line.size());
  if (end - begin < 3) return {};
  const std::string_view info = strip(line.substr(end));
  if (mark == '`' && info.find('`') != std::string_view::npos) return {};
  return {mark, end - begin, info};
}

/// title="a.cpp", file=a.cpp, (a.cpp), `a.cpp`
std::string_view bare_word(std::string_view word) {
  constexpr std::string_view kDress = "\"'`*()[]{},:";
  word = strip(word, kDress);
  for (const std::string_view key : {"title=", "file=", "filename=", "path=", "name="})
    if (word.starts_with(key)) word.remove_prefix(key.size());
  return strip(word, kDress);
}

void read_info(Block& block, std::string_view info) {
  const auto list = words(info);
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::string_view word = list[i];
    if (i == 0) {
      const auto colon = word.find(':');
      const bool joined = colon != std::string_view::npos && colon > 0 && colon + 1 < word.size();
      const bool is_path = !joined && looks_like_path(bare_word(word));
      if (!is_path) {
        block.label = std::string(word.substr(0, colon));
        for (char& c : block.label)
          c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (!joined) continue;
        word = word.substr(colon + 1);
      }
    }
    if (const auto path = bare_word(word); looks_like_path(path)) {
      if (block.path.empty())
        block.path = std::string(path);
      else if (block.path != path)
        block.other_path = std::string(path);
    }
  }
}

/// The path that the line above a block gives, or nothing: "**a.cpp**", "### File: `a.cpp`",
/// "The full file `a.cpp`:".
std::string_view path_above(std::string_view line) {
  std::string_view text = strip(line, " \t#*>-_");
  for (const std::string_view key : {"File:", "file:", "Filename:", "filename:", "Path:", "File"})
    if (text.starts_with(key)) {
      text.remove_prefix(key.size());
      break;
    }
  const auto list = words(text);
  const bool alone = list.size() == 1 || (list.size() > 1 && list[1].starts_with("("));
  if (alone && looks_like_path(bare_word(list[0]))) return bare_word(list[0]);
  if (!strip(line).ends_with(':')) return {};
  std::string_view found;
  for (const std::string_view word : words(line)) {
    if (!word.starts_with('`') && !word.starts_with("**")) continue;
    if (!looks_like_path(bare_word(word))) continue;
    if (!found.empty()) return {};
    found = bare_word(word);
  }
  return found;
}

/// "// a.cpp" as the first line, and nothing else in it.
std::string_view path_inside(std::string_view text) {
  std::string_view first = strip(text.substr(0, text.find('\n')));
  if (!first.starts_with("//") && !first.starts_with("/*")) return {};
  first = strip(first, "/* \t");
  for (const std::string_view key : {"File:", "file:"})
    if (first.starts_with(key)) first = strip(first.substr(key.size()));
  return looks_like_path(first) ? first : std::string_view();
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) { normalise(text); }

  SplitReply run() {
    std::string_view rest = text_;
    while (!rest.empty()) {
      ++number_;
      const auto end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      take(line);
    }
    for (Block& block : out_.blocks) name(block);
    out_.open_think = thinking_;
    if (thought_) out_.notes.push_back("thinking removed");
    return std::move(out_);
  }

 private:
  void normalise(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) {
      text.remove_prefix(3);
      out_.notes.push_back("byte order mark removed");
    }
    bool carriage = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
        carriage = true;
        continue;
      }
      text_ += text[i];
    }
    if (carriage) out_.notes.push_back("CRLF line ends became LF");
  }

  void take(std::string_view line) {
    if (open_) return inside(line);
    const auto said = after_thinking(line);
    if (!said) {
      out_.prose += '\n';
      return;
    }
    if (const Fence fence = fence_of(*said); fence.count > 0) return open(fence);
    out_.prose += *said;
    out_.prose += '\n';
    if (strip(*said).empty()) return;
    above_ = std::string(*said);
    above_line_ = number_;
  }

  /// What a line says after all thinking on it; nothing where it ends within some.
  std::optional<std::string_view> after_thinking(std::string_view line) {
    constexpr std::string_view kOpen = "<think", kClose = "</think";  // or "...ing>"
    while (true) {
      if (thinking_) {
        const std::size_t end = find_tag(line, kClose);
        if (end == line.npos) return std::nullopt;
        thinking_ = false;
        line.remove_prefix(end + tag_size(line.substr(end), kClose));
      }
      const std::string_view text = strip(line);
      if (const std::size_t size = tag_size(text, kOpen)) {
        thinking_ = thought_ = true;
        line = text.substr(size);
      } else if (const std::size_t close = tag_size(text, kClose)) {
        thought_ = true;  // its opening was the chat template's
        out_.blocks.clear();
        out_.prose.assign(number_ - 1, '\n');
        line = text.substr(close);
      } else {
        return line;
      }
    }
  }

  /// Of the tag that `text` begins with; 0: it begins with none.
  static std::size_t tag_size(std::string_view text, std::string_view tag) {
    if (!text.starts_with(tag)) return 0;
    text.remove_prefix(tag.size());
    for (const std::string_view rest : {">", "ing>"})
      if (text.starts_with(rest)) return tag.size() + rest.size();
    return 0;
  }

  static std::size_t find_tag(std::string_view text, std::string_view tag) {
    std::size_t at = text.find(tag);
    while (at != text.npos && tag_size(text.substr(at), tag) == 0) at = text.find(tag, at + 1);
    return at;
  }

  void open(const Fence& fence) {
    open_ = fence;
    open_.info = {};
    out_.prose += '\n';
    Block block;
    block.line = number_;
    read_info(block, fence.info);
    if (!above_.empty() && number_ - above_line_ <= 2) {
      const std::string above(path_above(above_));
      if (block.path.empty())
        block.path = above;
      else if (!above.empty() && above != block.path)
        block.other_path = above;
    }
    above_.clear();
    out_.blocks.push_back(std::move(block));
  }

  void inside(std::string_view line) {
    out_.prose += '\n';
    Block& block = out_.blocks.back();
    const Fence fence = fence_of(line);
    if (fence.mark == open_.mark && fence.count >= open_.count) {
      if (fence.info.empty()) {
        block.closed = true;
        open_ = {};
        return;
      }
      if (block.opening_inside == 0) block.opening_inside = number_;
    }
    block.text += line;
    block.text += '\n';
  }

  static void name(Block& block) {
    if (!block.path.empty()) return;
    block.path = std::string(path_inside(block.text));
    block.named_inside = !block.path.empty();
  }

  std::string text_;
  SplitReply out_;
  std::size_t number_ = 0;
  bool thinking_ = false, thought_ = false;
  struct Open {
    char mark = 0;
    std::size_t count = 0;
    std::string_view info;
    Open() = default;
    Open(const Fence& fence) : mark(fence.mark), count(fence.count) {}
    explicit operator bool() const { return count > 0; }
  } open_;
  std::string above_;  // the last line of prose that was not blank
  std::size_t above_line_ = 0;
};

}  // namespace

SplitReply split_reply(std::string_view text) { return Splitter(text).run(); }

bool looks_like_path(std::string_view text) {
  if (text.empty() || text.size() > 200) return false;
  const bool plain = std::ranges::all_of(text, [](char c) {
    return letter_or_digit(c) || std::string_view("._-/\\+").find(c) != std::string_view::npos;
  });
  const auto dot = text.rfind('.');
  if (!plain || dot == std::string_view::npos || dot == 0) return false;
  const std::string_view extension = text.substr(dot + 1);
  return !extension.empty() && extension.size() <= 8 &&
         std::isalpha(static_cast<unsigned char>(extension[0])) != 0 &&
         std::ranges::all_of(extension, [](char c) { return letter_or_digit(c) || c == '+'; });
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.find('\\') != std::string_view::npos) return false;
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.starts_with('-')) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace ksearch::llm
