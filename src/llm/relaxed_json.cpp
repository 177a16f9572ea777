#include "llm/relaxed_json.h"

#include <fmt/format.h>

#include <map>

namespace ksearch::llm {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/// Rewrites into strict JSON, line by line where it stood.
class Strictener {
 public:
  explicit Strictener(std::string_view in) : in_(in) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> list;
    for (const auto& [kind, times] : forgiven_)
      list.push_back(times == 1 ? kind : fmt::format("{} ({} times)", kind, times));
    return list;
  }

 private:
  char now() const { return in_[at_]; }
  bool starts(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  void step() {
    const char c = now();
    if (starts("//") || starts("/*")) return comment();
    if (c == '"') return text_in('"');
    if (c == '\'') {
      ++forgiven_["single quotes"];
      return text_in('\'');
    }
    if (c == ',' && closes_next(at_ + 1)) {
      ++forgiven_["trailing comma"];
      ++at_;
      return;
    }
    if (name_start(c)) return word();
    if (digit(c) || c == '.' || c == '+' || c == '-') return number();
    out_ += c;
    ++at_;
  }

  /// The position after white space and comments.
  std::size_t skip(std::size_t i) const {
    while (i < in_.size()) {
      if (blank(in_[i])) {
        ++i;
      } else if (in_.substr(i).starts_with("//")) {
        i = std::min(in_.find('\n', i), in_.size());
      } else if (in_.substr(i).starts_with("/*")) {
        const auto end = in_.find("*/", i + 2);
        i = end == std::string_view::npos ? in_.size() : end + 2;
      } else {
        break;
      }
    }
    return i;
  }
  bool closes_next(std::size_t from) const {
    const std::size_t i = skip(from);
    return i < in_.size() && (in_[i] == '}' || in_[i] == ']');
  }

  void comment() {
    ++forgiven_["comment"];
    const bool line = starts("//");
    const auto found = line ? in_.find('\n', at_) : in_.find("*/", at_ + 2);
    const std::size_t end = found == std::string_view::npos ? in_.size() : line ? found : found + 2;
    out_ += ' ';
    for (; at_ < end; ++at_)
      if (now() == '\n') out_ += '\n';
  }

  void text_in(char quote) {
    out_ += '"';
    for (++at_; at_ < in_.size() && now() != quote; ++at_) {
      if (now() == '\\' && at_ + 1 < in_.size()) {
        const char next = in_[++at_];
        if (next == '\'') {
          out_ += '\'';
        } else {
          out_ += '\\';
          out_ += next;
        }
      } else if (now() == '"') {
        out_ += "\\\"";
      } else {
        out_ += now();
      }
    }
    if (at_ < in_.size()) {  // else it has no end, and the strict reader says so
      out_ += '"';
      ++at_;
    }
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < in_.size() && (name_start(now()) || digit(now()))) ++at_;
    const std::string_view text = in_.substr(begin, at_ - begin);
    const std::size_t next = skip(at_);
    if (next < in_.size() && in_[next] == ':') {
      ++forgiven_["unquoted key"];
      out_ += fmt::format("\"{}\"", text);
    } else {
      out_ += text;
    }
  }

  void number() {
    const std::size_t begin = at_;
    while (at_ < in_.size() && (digit(now()) || now() == '.' || now() == '+' || now() == '-' ||
                                now() == 'e' || now() == 'E' || name_start(now())))
      ++at_;
    std::string text(in_.substr(begin, at_ - begin));
    const auto forgive = [&](bool wrong, const char* kind) {
      if (wrong) ++forgiven_[kind];
      return wrong;
    };
    if (forgive(text.starts_with('+') && text.size() > 1, "plus sign")) text.erase(0, 1);
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    if (forgive(text.size() > sign + 1 && text[sign] == '.' && digit(text[sign + 1]),
                "number that starts with a point"))
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(sign), '0');
    if (forgive(text.size() > 1 && text.back() == '.' && digit(text[text.size() - 2]),
                "number that ends with a point"))
      text += '0';
    out_ += text;
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  std::map<std::string, int> forgiven_;
};

}  // namespace

base::Result<RelaxedJson> parse_relaxed_json(std::string_view text, std::string_view where) {
  if (auto strict = base::parse_json(text, where)) return RelaxedJson{std::move(*strict), {}};
  Strictener stricter(text);
  const std::string rewritten = stricter.run();
  KS_TRY(base::Json value, base::parse_json(rewritten, where));
  return RelaxedJson{std::move(value), stricter.notes()};
}

}  // namespace ksearch::llm
