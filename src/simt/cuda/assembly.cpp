#include <fmt/format.h>

#include <map>

#include "simt/cuda/ptx.h"
#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

/// A string literal's text.
std::string unquoted(const std::string& literal) {
  if (const std::size_t open = literal.find('(');
      literal.starts_with("R\"") && open != std::string::npos)
    return literal.substr(open + 1, literal.rfind(')') - open - 1);
  std::string text;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      text += literal[i];
      continue;
    }
    const char next = literal[++i];
    text += next == 'n' || next == 'r' ? '\n' : next == 't' ? ' ' : next;
  }
  return text;
}

struct AsmOperand {
  std::string name, constraint, expression;
};

/// What stands between the parentheses of an asm statement.
struct AsmStatement {
  std::string text;
  std::vector<AsmOperand> operands;
};

class Reader {
 public:
  Reader(const Source& source, std::size_t from, std::size_t to)
      : source_(source), at_(from), to_(to) {}

  base::Result<AsmStatement> run() {
    AsmStatement statement;
    while (at_ < to_ && token().kind == Token::Kind::text) statement.text += unquoted(take());
    if (statement.text.empty() && at_ < to_ && !token().is(":") && !token().is("::"))
      return fault("its text is no literal");
    // Outputs, inputs; what comes after these is clobbered.
    for (int section = 0; at_ < to_ && section < 2;) {
      if (token().is("::")) {
        section += 2;
        ++at_;
        if (section > 2) break;
        if (at_ < to_ && !token().is(":")) KS_RETURN_IF_ERROR(operands(statement));
        continue;
      }
      if (!token().is(":")) return fault("it is not understood");
      ++section;
      ++at_;
      if (at_ < to_ && !token().is(":") && !token().is("::"))
        KS_RETURN_IF_ERROR(operands(statement));
    }
    return statement;
  }

 private:
  const Token& token() const { return source_.tokens[at_]; }
  std::string take() { return source_.tokens[at_++].spelling; }
  std::unexpected<base::Error> fault(std::string what) const {
    return base::usage_error(token().place(), "assembly: " + std::move(what));
  }

  base::Result<void> operands(AsmStatement& statement) {
    while (at_ < to_) {
      AsmOperand one;
      if (token().is("[")) {
        one.name = source_.tokens[at_ + 1].spelling;
        at_ = source_.after_closing(at_);
      }
      if (token().kind != Token::Kind::text) return fault("an operand has no constraint");
      one.constraint = unquoted(take());
      if (!token().is("(")) return fault("an operand has no expression");
      const std::size_t after = source_.after_closing(at_);
      one.expression = source_.text(at_ + 1, after - 1);
      at_ = after;
      statement.operands.push_back(std::move(one));
      if (at_ >= to_ || !token().is(",")) return {};
      ++at_;
    }
    return {};
  }

  const Source& source_;
  std::size_t at_, to_;
};

/// The register type of a constraint's letter.
std::string register_of(const std::string& constraint) {
  static const std::map<char, std::string> kLetters = {{'r', "b32"}, {'f', "f32"}, {'l', "b64"},
                                                       {'h', "b16"}, {'d', "f64"}, {'n', "s64"},
                                                       {'q', "b128"}};
  const auto found = kLetters.find(constraint.empty() ? ' ' : constraint.back());
  return found == kLetters.end() ? std::string() : found->second;
}

base::Result<std::string> statement_text(const AsmStatement& statement, const std::string& place) {
  std::vector<std::string> names;
  for (const AsmOperand& operand : statement.operands) names.push_back(operand.name);
  auto block = parse_ptx(statement.text, names);
  if (!block) return base::usage_error(place, "assembly: " + block.error().what);
  std::string text = "do { ", stores;
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    const AsmOperand& operand = statement.operands[i];
    const std::string type = register_of(operand.constraint);
    if (type.empty())
      return base::usage_error(
          place, fmt::format("assembly: constraint \"{}\" is not supported", operand.constraint));
    const bool output = operand.constraint.starts_with('=') || operand.constraint.starts_with('+');
    text += fmt::format("ks::ptx::{} ks_a{}", type, i);
    text += operand.constraint.starts_with('=')
                ? "; "
                : fmt::format(" = ks::ptx::as<ks::ptx::{}>({}); ", type, operand.expression);
    if (output) stores += fmt::format("ks::ptx::set({}, ks_a{}); ", operand.expression, i);
  }
  for (const PtxRegister& one : block->registers) text += one.type + " " + one.name + "; ";
  for (const PtxInstruction& one : block->instructions) {
    auto emitted = emit_ptx(one);
    if (!emitted) return base::usage_error(place, emitted.error().what);
    text += *emitted + " ";
  }
  return text + stores + "} while (0)";
}

}  // namespace

base::Result<void> replace_assembly(Source& source) {
  for (std::size_t i = 0; i + 1 < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    if (!token.is("asm") && !token.is("__asm__") && !token.is("__asm")) continue;
    std::size_t open = i + 1;
    while (source.tokens[open].is("volatile") || source.tokens[open].is("__volatile__") ||
           source.tokens[open].is("__volatile") || source.tokens[open].is("inline"))
      ++open;
    if (!source.tokens[open].is("(")) continue;
    const std::size_t after = source.after_closing(open);
    KS_TRY(const AsmStatement statement, Reader(source, open + 1, after - 1).run());
    KS_TRY(const std::string text, statement_text(statement, token.place()));
    source.erase(i, after);
    source.tokens[i].written = text;
    i = after - 1;
  }
  return {};
}

}  // namespace ksearch::simt::cuda
