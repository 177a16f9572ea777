#include "simt/ir/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "simt/ir/collective.h"
#include "simt/ir/device_headers.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array<std::string_view, 30> kTranscendental = {
    "exp",  "exp2", "exp10", "log",   "log2",  "log10", "sin",   "cos",   "tan",   "asin",
    "acos", "atan", "atan2", "sinh",  "cosh",  "tanh",  "asinh", "acosh", "atanh", "pow",
    "powi", "erf",  "erfc",  "expm1", "log1p", "sinpi", "cospi", "tanpi", "cbrt",  "sincos"};
std::string typed(std::string_view type, std::string_view what) {
  return fmt::format("{}.{}", type, what);
}

/// "exp2" of "@llvm.exp2.f32" or "@exp2f".
std::string_view mathematical_name(std::string_view callee) {
  callee.remove_prefix(1);
  if (callee.starts_with("llvm.")) {
    callee.remove_prefix(5);
    const std::size_t last = callee.rfind('.');
    return callee.substr(0, last);
  }
  if (callee.ends_with('f') && callee != "erf") callee.remove_suffix(1);
  return callee;
}

std::optional<Operation> mathematical_call(const Instruction& instruction, const Origin& origin,
                                           std::string_view type, int count) {
  const std::string_view name = mathematical_name(callee(instruction));
  const std::string_view asked = without_arguments(origin.entry);
  const auto is = [&](auto... names) { return ((name == names) || ...); };
  if (is_one_of(name, kTranscendental))
    return Operation{typed(type, is_one_of(asked, kTranscendental) ? asked : name), count};
  if (is("fma", "fmuladd")) return Operation{typed(type, "fma"), count};
  if (is("sqrt")) return Operation{typed(type, asked == "rsqrt" ? asked : name), count};
  if (is("floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"))
    return Operation{typed(type, "round"), count};
  if (is("minnum", "maxnum", "minimum", "maximum", "smin", "smax", "umin", "umax", "is.fpclass",
         "fmin", "fmax", "fdim", "minimumnum", "maximumnum"))
    return Operation{typed(type, "compare"), count};
  if (is("abs", "uadd.sat", "sadd.sat", "usub.sat", "ssub.sat", "uadd.with.overflow",
         "sadd.with.overflow", "usub.with.overflow", "ssub.with.overflow"))
    return Operation{typed(type, "add"), count};
  if (is("umul.with.overflow", "smul.with.overflow")) return Operation{typed(type, "mul"), count};
  if (is("fshl", "fshr", "ctpop", "ctlz", "cttz", "bitreverse", "bswap"))
    return Operation{typed(type, "bit"), count};
  if (is("fmod")) return Operation{typed(type, "div"), count};
  if (is("ldexp", "frexp")) return Operation{typed(type, "mul"), count};
  return std::nullopt;
}

/// Binary arithmetic: its operation, or nothing.
std::string_view arithmetic(std::string_view opcode) {
  if (opcode == "fadd" || opcode == "fsub" || opcode == "add" || opcode == "sub") return "add";
  if (opcode == "fmul" || opcode == "mul") return "mul";
  if (opcode == "fdiv" || opcode == "frem" || opcode == "sdiv" || opcode == "udiv" ||
      opcode == "srem" || opcode == "urem")
    return "div";
  if (opcode == "and" || opcode == "or" || opcode == "xor" || opcode == "shl" || opcode == "lshr" ||
      opcode == "ashr")
    return "bit";
  if (opcode == "fcmp" || opcode == "icmp") return "compare";
  if (opcode == "select") return "select";
  return {};
}

std::optional<Operation> conversion(const Instruction& instruction, const Origin& origin) {
  constexpr std::array<std::string_view, 6> kConversions = {"fptrunc", "fpext",  "fptosi",
                                                            "fptoui",  "sitofp", "uitofp"};
  if (!is_one_of(instruction.opcode, kConversions)) return std::nullopt;
  // Our functions compute in float: a GPU's instructions take and give any float type.
  const bool of_floats = instruction.opcode[2] == 't' ? instruction.opcode == "fptrunc"
                                                      : instruction.opcode == "fpext";
  if (of_floats && is_mathematical(origin.inner)) return std::nullopt;
  const Type from = parse_type(type_text(instruction));
  const Type into = parse_type(target_text(instruction));
  return Operation{fmt::format("convert.{}_{}", name(from), name(into)), into.count};
}

/// A whole number divided by a constant is no division: shifts by a power of two (one more for a
/// sign), else a product's upper half and a shift.
std::optional<Operation> by_constant(const Instruction& division) {
  const std::string_view divisor = division.words.back();
  if (divisor.empty() || divisor.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  const std::uint64_t value = std::strtoull(std::string(divisor).c_str(), nullptr, 10);
  const bool is_signed = division.opcode.starts_with('s');
  if (std::has_single_bit(value)) return Operation{"bit", is_signed ? 3 : 1};
  return Operation{"mul", 2};
}

/// The type that our function was asked for, where it computes in another one.
std::string_view asked_type(const Origin& origin, const Type& type) {
  if (!is_mathematical(origin.inner)) return name(type);
  const std::string_view asked = type_name(argument(origin.entry, 0));
  if (type.is_float()) return asked == "half" || asked == "bfloat" ? asked : "float";
  return asked.empty() ? name(type) : asked;
}

}  // namespace

Origin origin(const Module& module, const Instruction& instruction) {
  Origin result;
  if (instruction.location < 0) return result;
  const std::vector<Frame>& frames = module.frames(instruction.location);
  if (frames.empty()) return result;
  result.inner = frames.front().file;
  for (const Frame& frame : frames) {
    if (!is_device_header(frame.file)) {
      result.file = frame.file;
      result.line = frame.line;
      break;
    }
    result.entry = frame.function;
  }
  return result;
}

std::string_view callee(const Instruction& instruction) {
  if (instruction.opcode != "call") return {};
  const std::vector<std::string_view>& all = instruction.words;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (depth == 0 && all[i + 1] == "(" && (all[i].front() == '@' || all[i].front() == '%'))
      return all[i];
    depth += all[i] == "(";
    depth -= all[i] == ")";
  }
  return {};
}

std::string_view target_text(const Instruction& instruction) {
  const auto& all = instruction.words;
  const auto to = std::find(all.begin(), all.end(), "to");
  return all.end() - to < 2 ? std::string_view() : to[1];
}

std::string_view type_text(const Instruction& instruction) {
  int depth = 0;
  for (const std::string_view word : instruction.words) {
    depth += word == "(";
    depth -= word == ")";
    if (depth != 0) continue;
    if (word == "void" || parse_type(word).kind != Type::Kind::none) return word;
  }
  return {};
}

std::optional<Operation> operation(const Instruction& instruction, const Origin& origin) {
  const std::string_view opcode = instruction.opcode;
  if (origin.file.empty()) return std::nullopt;
  if (opcode == "call") {
    const std::string_view called = callee(instruction);
    if (is_machinery(origin.inner)) {
      if (called.starts_with('%')) return collective(origin.entry);
      if (auto operation = called_operation(called)) return operation;
      if (origin.inner == "ks_atomic.h" && !called.starts_with("@llvm."))
        return Operation{"atomic"};
      return std::nullopt;
    }
    if (called.empty() || called.front() != '@') return std::nullopt;
    const Type type = parse_type(type_text(instruction));
    return mathematical_call(instruction, origin, asked_type(origin, type), type.count);
  }
  if (is_machinery(origin.inner)) return std::nullopt;
  if (opcode == "switch" || (opcode == "br" && instruction.text.starts_with("br i1 ")))
    return Operation{"branch"};
  if (auto converted = conversion(instruction, origin)) return converted;
  const std::string_view what = arithmetic(opcode);
  if (what.empty()) return std::nullopt;
  // A GPU's instructions flush what is subnormal themselves.
  if (origin.inner == "ks_fast_math.h" && (what == "compare" || what == "select"))
    return std::nullopt;
  Type type = parse_type(type_text(instruction));
  if (what == "select") {
    // "select i1 %c, float %a, float %b"
    const std::vector<std::string_view>& all = instruction.words;
    const auto condition = std::find_if(all.begin(), all.end(), [](std::string_view word) {
      return word == "i1" || word.ends_with(" x i1>");
    });
    if (all.end() - condition > 2) type = parse_type(condition[2]);
  }
  // Functions of pi go through double; 1 / sqrt is one operation of a GPU.
  if (type.kind == Type::Kind::float64 && is_mathematical(origin.inner)) return std::nullopt;
  if (opcode == "fdiv" && without_arguments(origin.entry) == "rsqrt") return std::nullopt;
  if (what == "div" && !type.is_float())
    if (const auto cheap = by_constant(instruction))
      return Operation{typed(asked_type(origin, type), cheap->kind), cheap->count * type.count};
  return Operation{typed(asked_type(origin, type), what), type.count};
}

}  // namespace ksearch::simt::ir
