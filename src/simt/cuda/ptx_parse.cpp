#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "simt/cuda/ptx.h"

namespace ksearch::simt::cuda {
namespace {

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names) : names_(names) {
    // Comments are blanks.
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i).starts_with("//")) {
        while (i < text.size() && text[i] != '\n') ++i;
      } else if (text.substr(i).starts_with("/*")) {
        i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
        continue;
      }
      if (i < text.size()) text_ += text[i];
    }
  }

  base::Result<PtxBlock> run() {
    PtxBlock block;
    for (;;) {
      blanks();
      if (at_ >= text_.size()) return block;
      // Scopes only hide names, which do not clash in practice.
      if (peek() == ';' || peek() == '{' || peek() == '}') {
        ++at_;
        continue;
      }
      if (text_.compare(at_, 4, ".reg") == 0) {
        KS_RETURN_IF_ERROR(registers(block));
        continue;
      }
      KS_TRY(PtxInstruction one, instruction());
      block.instructions.push_back(std::move(one));
    }
  }

 private:
  char peek(std::size_t i = 0) const { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    blanks();
    const std::size_t from = at_;
    while (in_name(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
    return text_.substr(from, at_ - from);
  }
  base::Error fault(std::string what) const {
    return {base::ErrorKind::usage, "asm", std::move(what), ""};
  }

  base::Result<void> registers(PtxBlock& block) {
    at_ += 4;
    blanks();
    std::string type = word();
    while (type.starts_with('.')) type.erase(0, 1);
    do {
      blanks();
      if (peek() == '%') ++at_;
      const std::string name = word();
      if (name.empty()) return std::unexpected(fault("a register's name is missing"));
      if (take('<')) {
        const int count = std::atoi(text_.c_str() + at_);
        if (count < 1 || count > 256) return std::unexpected(fault("that many registers"));
        for (int i = 0; i < count; ++i)
          block.registers.push_back({"ks::ptx::" + type, ptx_variable(name + std::to_string(i))});
        while (at_ < text_.size() && peek() != '>') ++at_;
        ++at_;
      } else {
        block.registers.push_back({"ks::ptx::" + type, ptx_variable(name)});
      }
    } while (take(','));
    if (!take(';')) return std::unexpected(fault(".reg has no end"));
    return {};
  }

  base::Result<PtxInstruction> instruction() {
    PtxInstruction one;
    if (take('@')) {
      const bool negated = take('!');
      KS_TRY(const PtxOperand guard, operand());
      one.guard = (negated ? "!" : "") + ("ks::ptx::as<bool>(" + guard.text + ")");
    }
    const std::string name = word();
    blanks();
    if (peek() == ':')
      return std::unexpected(fault("jumps in assembly are not supported by check"));
    if (name.empty())
      return std::unexpected(fault(fmt::format("\"{}\" is no instruction", text_.substr(at_, 20))));
    for (std::size_t from = 0; from <= name.size();) {
      // L2::128B is one piece.
      const std::size_t dot = std::min(name.find('.', from), name.size());
      one.name.push_back(name.substr(from, dot - from));
      from = dot + 1;
    }
    while (!take(';')) {
      if (at_ >= text_.size()) break;
      KS_TRY(PtxOperand next, operand());
      one.operands.push_back(std::move(next));
      if (take('|')) {
        KS_TRY(PtxOperand second, operand());
        one.operands.push_back(std::move(second));
        one.name.push_back("pair");
      }
      if (!take(',')) {
        blanks();
        if (at_ < text_.size() && peek() != ';')
          return std::unexpected(
              fault(fmt::format("\"{}\" is not understood", text_.substr(at_, 20))));
      }
    }
    return one;
  }

  base::Result<PtxOperand> operand() {
    blanks();
    PtxOperand result;
    if (take('{')) {
      result.kind = PtxOperand::Kind::list;
      do {
        KS_TRY(PtxOperand part, operand());
        result.parts.push_back(std::move(part));
      } while (take(','));
      if (!take('}')) return std::unexpected(fault("a list has no end"));
      return result;
    }
    if (take('[')) {
      KS_TRY(const PtxOperand base, operand());
      result.kind = PtxOperand::Kind::address;
      result.text = base.text;
      result.offset = "0";
      blanks();
      if (take('+')) {
        KS_TRY(const PtxOperand offset, operand());
        result.offset = offset.text;
      }
      if (!take(']')) return std::unexpected(fault("an address has no end"));
      return result;
    }
    if (peek() == '!') {
      ++at_;
      KS_TRY(PtxOperand negated, operand());
      negated.text = "!" + negated.text;
      return negated;
    }
    if (peek() == '%') return percent();
    if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '-') return number();
    const std::string name = word();
    if (name.empty())
      return std::unexpected(fault(fmt::format("\"{}\" is no operand", text_.substr(at_, 20))));
    if (name == "_") {
      result.kind = PtxOperand::Kind::sink;
      return result;
    }
    result.text = name == "WARP_SZ" ? "32u" : ptx_variable(name);
    return result;
  }

  base::Result<PtxOperand> percent() {
    ++at_;
    PtxOperand result;
    if (peek() == '[') {
      const std::size_t end = std::min(text_.find(']', at_), text_.size());
      const std::string name = text_.substr(at_ + 1, end - at_ - 1);
      const auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end()) return std::unexpected(fault("no operand is named " + name));
      at_ = end + 1;
      result.text = fmt::format("ks_a{}", found - names_.begin());
      return result;
    }
    if (std::isdigit(static_cast<unsigned char>(peek()))) {
      std::size_t index = 0;
      while (std::isdigit(static_cast<unsigned char>(peek())) && index < 1000)
        index = index * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      if (index >= names_.size())
        return std::unexpected(fault(fmt::format("there is no operand {}", index)));
      result.text = fmt::format("ks_a{}", index);
      return result;
    }
    if (peek() == '%') ++at_;  // %%laneid
    const std::string name = word();
    result.text = ptx_register(name);
    return result;
  }

  base::Result<PtxOperand> number() {
    PtxOperand result;
    result.kind = PtxOperand::Kind::number;
    std::string text = peek() == '-' ? "-" : "";
    if (!text.empty()) ++at_;
    const std::string digits = word();
    if (digits.size() == 10 && (digits.starts_with("0f") || digits.starts_with("0F")))
      result.text = "__builtin_bit_cast(float, 0x" + digits.substr(2) + "u)";
    else if (digits.size() == 18 && (digits.starts_with("0d") || digits.starts_with("0D")))
      result.text = "__builtin_bit_cast(double, 0x" + digits.substr(2) + "ul)";
    else
      result.text = text + (digits.ends_with('U') ? digits.substr(0, digits.size() - 1) : digits);
    return result;
  }

  const std::vector<std::string>& names_;
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

bool PtxInstruction::has(std::string_view piece) const {
  return std::find(name.begin(), name.end(), piece) != name.end();
}

std::string PtxInstruction::whole_name() const {
  std::string all;
  for (const std::string& piece : name)
    if (piece != "pair") all += (all.empty() ? "" : ".") + piece;
  return all;
}

base::Result<PtxBlock> parse_ptx(std::string_view text, const std::vector<std::string>& names) {
  return Parser(text, names).run();
}

}  // namespace ksearch::simt::cuda
