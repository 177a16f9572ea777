#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "simt/cuda/ptx.h"

namespace ksearch::simt::cuda {
namespace {

constexpr std::array<std::string_view, 24> kTypes = {
    "u8",  "s8",   "b8",  "u16", "s16",   "b16",    "u32",  "s32",  "b32",  "u64",  "s64",  "b64",
    "f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "pred", "tf32", "b128", "s8x4", "e4m3", "e5m2"};

/// By the number of operands that are read; the rest of the name is precision or rounding.
const std::map<std::string_view, std::string_view> kOne = {
    {"mov", "mov"}, {"neg", "neg"}, {"abs", "abs"},     {"not", "not_"},  {"ex2", "ex2"},
    {"lg2", "lg2"}, {"rcp", "rcp"}, {"rsqrt", "rsqrt"}, {"sqrt", "sqrt"}, {"tanh", "tanh"},
    {"sin", "sin"}, {"cos", "cos"}, {"popc", "popc"},   {"clz", "clz"},   {"brev", "brev"}};
const std::map<std::string_view, std::string_view> kTwo = {
    {"add", "add"}, {"sub", "sub"},  {"div", "div"}, {"rem", "rem"}, {"and", "and_"},
    {"or", "or_"},  {"xor", "xor_"}, {"min", "min"}, {"max", "max"}};

std::string call(const std::string& function, const std::string& type,
                 const std::vector<std::string>& arguments) {
  return fmt::format("ks::ptx::{}<ks::ptx::{}>({})", function, type, fmt::join(arguments, ", "));
}

/// b16 of b32, b32 of b64, b16 of b64.
std::string half_type(const std::string& type, std::size_t parts) {
  const int bits = (type.find("64") != std::string::npos ? 64 : 32) / static_cast<int>(parts);
  return fmt::format("b{}", bits);
}

base::Result<std::string> emit_move(const PtxInstruction& one, const std::string& type) {
  const PtxOperand &to = one.operands[0], &from = one.operands[1];
  const std::string wide = type.find("64") != std::string::npos ? "b64" : "b32";
  if (from.kind == PtxOperand::Kind::list) {
    const std::string part = half_type(type, from.parts.size());
    std::string value;
    for (std::size_t i = 0; i < from.parts.size(); ++i)
      value += fmt::format("{}ks::ptx::{}({}) << {}", i ? " | " : "", wide,
                           ptx_as(part, from.parts[i]), i * std::stoul(part.substr(1)));
    return ptx_set(to, value);
  }
  if (to.kind == PtxOperand::Kind::list) {
    const std::string part = half_type(type, to.parts.size());
    std::string all = fmt::format("{{ const ks::ptx::{} ks_w = {}; ", wide, ptx_as(wide, from));
    for (std::size_t i = 0; i < to.parts.size(); ++i)
      if (to.parts[i].kind != PtxOperand::Kind::sink)
        all += fmt::format("ks::ptx::set({}, ks::ptx::{}(ks_w >> {})); ", to.parts[i].text, part,
                           i * std::stoul(part.substr(1)));
    return all + "}";
  }
  return ptx_set(to, call("mov", type, {ptx_as(type, from)}));
}

base::Result<std::string> emit_convert(const PtxInstruction& one) {
  const std::string to = ptx_type(one, 0), from = ptx_type(one, 1);
  std::string value;
  if (to == "tf32") {
    value = fmt::format("ks::ptx::cvt_tf32({})", ptx_as("f32", one.operands[1]));
  } else if ((to == "f16x2" || to == "bf16x2") && one.operands.size() == 3) {
    value = fmt::format("ks::ptx::cvt_pair<ks::ptx::{}, ks::ptx::{}>({}, {})", to,
                        to.substr(0, to.size() - 2), ptx_as("f32", one.operands[1]),
                        ptx_as("f32", one.operands[2]));
  } else {
    if (from.empty() || to.starts_with("e") || from.starts_with("e") || to.ends_with("x2"))
      return std::unexpected(ptx_fault(one, "is not supported by check"));
    const std::array<std::array<std::string_view, 2>, 4> kRounds = {
        {{"rn", "rni"}, {"rz", "rzi"}, {"rp", "rpi"}, {"rm", "rmi"}}};
    std::size_t how = 0;
    bool said = false;
    for (std::size_t i = 0; i < kRounds.size(); ++i)
      if (one.has(kRounds[i][0]) || one.has(kRounds[i][1])) how = i, said = true;
    if (!said && !to.starts_with("f") && from.starts_with("f")) how = 1;
    value = fmt::format("ks::ptx::cvt<ks::ptx::{}, ks::ptx::{}>({}, {})", to, from,
                        ptx_as(from, one.operands[1]), how);
  }
  if (one.has("relu")) value = fmt::format("ks::ptx::relu({})", value);
  if (one.has("sat")) value = fmt::format("ks::ptx::saturate({})", value);
  return ptx_set(one.operands[0], value);
}

base::Result<std::string> emit_bits(const PtxInstruction& one, const std::string& type) {
  const std::string& base = one.name[0];
  const auto as = [&](std::size_t i, const std::string& t) { return ptx_as(t, one.operands[i]); };
  const std::size_t count = one.operands.size();
  if ((base == "shl" || base == "shr") && count == 3)
    return ptx_set(one.operands[0], call(base, type, {as(1, type), as(2, "u32")}));
  if (base == "bfe" && count == 4)
    return ptx_set(one.operands[0], call("bfe", type, {as(1, type), as(2, "u32"), as(3, "u32")}));
  if (base == "bfi" && count == 5)
    return ptx_set(one.operands[0],
                   call("bfi", type, {as(1, type), as(2, type), as(3, "u32"), as(4, "u32")}));
  std::vector<std::string> words;
  for (std::size_t i = 1; i < count; ++i) words.push_back(as(i, "u32"));
  if ((base == "prmt" && count == 4 && one.name.size() == 2) || (base == "lop3" && count == 5))
    return ptx_set(one.operands[0], fmt::format("ks::ptx::{}({})", base, fmt::join(words, ", ")));
  if (base == "shf" && count == 4 && one.name.size() >= 3)
    return ptx_set(one.operands[0], fmt::format("ks::ptx::shf_{}_{}({})", one.name[1], one.name[2],
                                                fmt::join(words, ", ")));
  if (base == "dp4a" && count == 4)
    return ptx_set(one.operands[0],
                   fmt::format("ks::ptx::dp4a({}, {}, {})", as(1, type), as(2, type), as(3, type)));
  return std::string();
}

base::Result<std::string> emit_compare(const PtxInstruction& one, const std::string& type) {
  if (one.name.size() < 3 || one.operands.size() < 3)
    return std::unexpected(ptx_fault(one, "is not understood"));
  const std::size_t first = one.has("pair") ? 2 : 1;
  static const std::set<std::string_view> kKnown = {"eq",  "ne",  "lt",  "le", "gt",  "ge",
                                                    "lo",  "ls",  "hi",  "hs", "equ", "neu",
                                                    "ltu", "leu", "gtu", "geu"};
  if (!kKnown.contains(one.name[1]) || first + 1 >= one.operands.size())
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  std::string value =
      call("is_" + one.name[1], type,
           {ptx_as(type, one.operands[first]), ptx_as(type, one.operands[first + 1])});
  if (one.operands.size() > first + 2) {
    const std::string_view op = one.name[2];
    value = fmt::format("({} {} {})", value,
                        op == "and"  ? "&"
                        : op == "or" ? "|"
                                     : "^",
                        ptx_as("pred", one.operands[first + 2]));
  }
  std::string all = ptx_set(one.operands[0], value);
  if (first == 2) all += " " + ptx_set(one.operands[1], "!" + ptx_as("pred", one.operands[0]));
  return all;
}

base::Result<std::string> emit_arithmetic(const PtxInstruction& one, const std::string& type) {
  const std::string& base = one.name[0];
  std::vector<std::string> values;
  for (std::size_t i = 1; i < one.operands.size(); ++i)
    values.push_back(ptx_as(type, one.operands[i]));
  std::string value;
  if (const auto f = kOne.find(base); f != kOne.end() && values.size() == 1)
    value = call(std::string(f->second), type, values);
  else if (const auto g = kTwo.find(base); g != kTwo.end() && values.size() == 2)
    value = call(std::string(g->second), type, values);
  else if ((base == "mul" || base == "mad" || base == "fma") &&
           values.size() == (base == "mul" ? 2u : 3u)) {
    const std::string part = one.has("lo")     ? "_lo"
                             : one.has("hi")   ? "_hi"
                             : one.has("wide") ? "_wide"
                                               : "";
    if (part == "_wide" && values.size() == 3)
      values[2] = ptx_as(type == "s32"   ? "s64"
                         : type == "u32" ? "u64"
                         : type == "s16" ? "s32"
                                         : "u32",
                         one.operands[3]);
    value = call(base + part, type, values);
  } else if (base == "selp" && values.size() == 3) {
    values[2] = ptx_as("pred", one.operands[3]);
    value = call("selp", type, values);
  }
  if (value.empty()) return std::string();
  if (one.has("relu")) value = fmt::format("ks::ptx::relu({})", value);
  if (one.has("sat")) value = fmt::format("ks::ptx::saturate({})", value);
  return ptx_set(one.operands[0], value);
}

}  // namespace

std::string ptx_type(const PtxInstruction& instruction, std::size_t n) {
  for (std::size_t i = 1; i < instruction.name.size(); ++i)
    if (std::find(kTypes.begin(), kTypes.end(), instruction.name[i]) != kTypes.end() && n-- == 0)
      return instruction.name[i];
  return {};
}

base::Error ptx_fault(const PtxInstruction& instruction, std::string what) {
  return {base::ErrorKind::usage, "asm", instruction.whole_name() + " " + std::move(what), ""};
}

std::string ptx_as(const std::string& type, const PtxOperand& operand) {
  return fmt::format("ks::ptx::as<ks::ptx::{}>({})", type, operand.text);
}

std::string ptx_set(const PtxOperand& to, const std::string& value) {
  if (to.kind == PtxOperand::Kind::sink) return value + ";";
  return fmt::format("ks::ptx::set({}, {});", to.text, value);
}

std::string ptx_refs(const PtxOperand& operand) {
  if (operand.kind != PtxOperand::Kind::list) return fmt::format("ks::ptx::refs({})", operand.text);
  std::vector<std::string> parts;
  for (const PtxOperand& part : operand.parts) parts.push_back(part.text);
  return fmt::format("ks::ptx::refs({})", fmt::join(parts, ", "));
}

base::Result<std::string> emit_ptx(const PtxInstruction& one) {
  const std::string& base = one.name[0];
  const std::string type = ptx_type(one, one.name.size() > 2 && base == "set" ? 1 : 0);
  base::Result<std::string> text = std::string();
  static const std::set<std::string_view> kNothing = {
      "prefetch", "prefetchu", "discard", "applypriority", "griddepcontrol", "pmevent", "brkpt"};
  if (kNothing.contains(base)) {
    text = ";";
  } else if (base == "trap") {
    text = "__trap();";
  } else if (base == "nanosleep") {
    text = "__nanosleep(1);";
  } else if (base == "createpolicy" && !one.operands.empty()) {
    text = ptx_set(one.operands[0], "ks::ptx::u64(0)");
  } else {
    text = emit_ptx_memory(one);
    if (text && text->empty()) text = emit_ptx_lanes(one);
  }
  if (text && text->empty() && one.operands.size() >= 2 && !type.empty()) {
    if (base == "mov")
      text = emit_move(one, type);
    else if (base == "cvt")
      text = emit_convert(one);
    else if (base == "setp")
      text = emit_compare(one, type);
    else if (!one.has("cc"))
      text = emit_bits(one, type);
    if (text && text->empty() && !one.has("cc")) text = emit_arithmetic(one, type);
  }
  if (!text) return text;
  if (text->empty()) return std::unexpected(ptx_fault(one, "is not supported by check"));
  return one.guard.empty() ? *text : fmt::format("if ({}) {{ {} }}", one.guard, *text);
}

}  // namespace ksearch::simt::cuda
