#include "search/duplicate.h"

#include "base/hash.h"
#include "search/renamed.h"

namespace ksearch::search {
namespace {

bool word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

bool space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

class Normaliser {
 public:
  explicit Normaliser(std::string_view in) : in_(in) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  bool starts(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  void step() {
    const char c = in_[at_];
    if (starts("//")) {
      skip_to_line_end();
    } else if (starts("/*")) {
      const auto end = in_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? in_.size() : end + 2;
      gap_ = true;
    } else if (starts("\\\n")) {
      at_ += 2;
    } else if (starts("\\\r\n")) {
      at_ += 3;
    } else if (space(c)) {
      if (c == '\n') end_line();
      gap_ = true;
      ++at_;
    } else if (c == '"') {
      raw_prefix() ? copy_raw() : copy_quoted('"');
    } else if (c == '\'' && !(at_ > 0 && word(in_[at_ - 1]) && digit_before())) {
      copy_quoted('\'');
    } else {
      if (c == '#' && line_empty_) directive_ = true;
      put(c);
      ++at_;
    }
  }

  /// 1'000'000: a separator within a number.
  bool digit_before() const {
    std::size_t i = at_;
    while (i > 0 && (word(in_[i - 1]) || in_[i - 1] == '\'')) --i;
    return in_[i] >= '0' && in_[i] <= '9';
  }

  bool raw_prefix() const {
    if (at_ == 0 || in_[at_ - 1] != 'R') return false;
    return at_ < 2 || !word(in_[at_ - 2]) || in_[at_ - 2] == 'L' || in_[at_ - 2] == 'u' ||
           in_[at_ - 2] == 'U' || in_[at_ - 2] == '8';
  }

  void copy_raw() {
    const auto open = in_.find('(', at_);
    if (open == std::string_view::npos) return copy_quoted('"');
    const std::string close = ")" + std::string(in_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const auto end = in_.find(close, open);
    copy_to(end == std::string_view::npos ? in_.size() : end + close.size());
  }

  void copy_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < in_.size() && in_[end] != quote && in_[end] != '\n')
      end += in_[end] == '\\' ? 2 : 1;
    copy_to(std::min(end + 1, in_.size()));
  }

  void copy_to(std::size_t end) {
    put(in_[at_]);
    out_.append(in_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
  }

  void put(char c) {
    // A directive keeps its spaces: `#define f(x)` and `#define f (x)` differ.
    const bool needed = directive_ || (!out_.empty() && word(out_.back()) && word(c)) ||
                        (!out_.empty() && out_.back() == c);  // "a - -b" is not "a--b"
    if (gap_ && needed && !out_.empty() && out_.back() != '\n') out_ += ' ';
    gap_ = false;
    line_empty_ = false;
    out_ += c;
  }

  void skip_to_line_end() {
    while (at_ < in_.size() && in_[at_] != '\n') ++at_;
  }

  void end_line() {
    if (directive_) out_ += '\n';
    directive_ = false;
    line_empty_ = true;
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  bool gap_ = false;
  bool line_empty_ = true;
  bool directive_ = false;
};

}  // namespace

std::string normal_code(std::string_view source) { return Normaliser(source).run(); }

std::string normal_hash(const kernel::Program& program) {
  base::Json json = kernel::to_json(program);
  json.erase("select");
  std::vector<std::string> codes;
  for (base::Json& source : json["sources"]) {
    codes.push_back(normal_code(source["text"].get_ref<const std::string&>()));
    source.erase("text");
  }
  // What the plan names means something outside the sources.
  json["codes"] = with_common_names(codes, identifiers(base::to_line(json)));
  return base::short_hash(base::to_line(json));
}

}  // namespace ksearch::search
