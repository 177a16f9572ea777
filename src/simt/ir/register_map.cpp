#include "simt/ir/register_map.h"

#include <algorithm>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

const Halves kNone;

/// What only the engine needs: where a lane posts, and the path that it came.
bool is_bookkeeping(const Module& module, const Instruction& instruction) {
  const std::vector<Frame>& frames = module.frames(instruction.location);
  if (frames.empty() || !is_machinery(frames.front().file)) return false;
  const std::string_view function = frames.front().function;
  return function == "enter_call" || function == "leave_call" ||
         instruction.opcode == "getelementptr" || type_text(instruction) == "ptr";
}

int width_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "alloca" || opcode == "icmp" || opcode == "fcmp") return 0;
  // An address is a base that all threads share and an offset of 32 bits.
  if (opcode == "getelementptr") return 2;
  if (opcode == "sext" || opcode == "zext" || opcode == "trunc" || opcode == "bitcast" ||
      opcode.starts_with("fp") || opcode.ends_with("tofp")) {
    const Type type = parse_type(target_text(instruction));
    const int bits = type.bits * type.count;
    return bits == 1 ? 0 : (std::min(bits, opcode.ends_with("ext") ? 32 : bits) + 15) / 16;
  }
  const Type type = parse_type(type_text(instruction));
  // An element of the vector; as many as the indices say, which stand last.
  const int count = opcode == "extractelement"  ? 1
                    : opcode == "shufflevector" ? parse_type(*(instruction.words.end() - 2)).count
                                                : type.count;
  const int bits = type.bits * count;
  return bits == 1 ? 0 : (bits + 15) / 16;
}

}  // namespace

RegisterMap::RegisterMap(const Module& module, const Function& function) : module_(module) {
  add_arguments(function.header);
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions) {
      if (instruction.result.empty()) continue;
      index_[instruction.result] = values_.size();
      const int width = is_bookkeeping(module_, instruction) ? 0 : width_of(instruction);
      values_.push_back({&instruction, width, false, false, {}});
    }
  find_divergence();
  for (Value& value : values_) add_halves(value);
}

const RegisterMap::Value* RegisterMap::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &values_[found->second];
}

const Halves& RegisterMap::of(std::string_view name) const {
  const Value* value = find(name);
  return value ? value->halves : kNone;
}

const Halves& RegisterMap::made_by(const Instruction& instruction) const {
  const Value* value = instruction.result.empty() ? nullptr : find(instruction.result);
  return value && !value->rename ? value->halves : kNone;
}

bool RegisterMap::is_rename(const Instruction& instruction) const {
  const Value* value = instruction.result.empty() ? nullptr : find(instruction.result);
  return value && value->rename;
}

/// Buffers are the same for all threads, attributes may differ.
void RegisterMap::add_arguments(std::string_view header) {
  const std::size_t open = header.find('(');
  Type type;
  bool by_value = false;
  for (const std::string_view word : words(header.substr(open, header.rfind(')') - open))) {
    if (type.kind == Type::Kind::none) type = parse_type(word);
    by_value = by_value || word.starts_with("byval");
    if (word.front() != '%' || word.find('"') != std::string_view::npos) continue;
    index_[word] = values_.size();
    const bool divergent = by_value || type.kind != Type::Kind::pointer;
    values_.push_back({nullptr, (type.bits * type.count + 15) / 16, divergent, false, {}});
    type = {};
    by_value = false;
  }
}

template <class F>
void RegisterMap::each_operand(const Instruction& instruction, F&& f) const {
  const auto visit = [&](std::string_view word) {
    if (word.front() != '%') return;
    if (const Value* value = find(word)) f(*value);
  };
  for (const std::string_view word : instruction.words) {
    // A phi's are in brackets: "[ %1, %2 ]".
    if (word.front() == '[' && instruction.opcode == "phi") {
      const auto inner = words(word.substr(1, word.size() - 2));
      if (!inner.empty()) visit(inner.front());
    } else {
      visit(word);
    }
  }
}

void RegisterMap::find_divergence() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Value& value : values_)
      if (value.made && !value.divergent && diverges(value)) changed = value.divergent = true;
  }
}

bool RegisterMap::diverges(const Value& value) const {
  const Instruction& made = *value.made;
  if (made.opcode == "alloca") return false;
  const std::string_view inner = origin(module_, made).inner;
  if (made.opcode == "call" && is_machinery(inner)) return true;
  bool any = false, own = false;
  each_operand(made, [&](const Value& operand) {
    any = any || operand.divergent;
    own = own || (operand.made && operand.made->opcode == "alloca");
  });
  return any || (made.opcode == "load" && (own || is_machinery(inner)));
}

void RegisterMap::add_halves(Value& value) {
  if (!value.divergent || value.width == 0) return;
  if (value.made)
    if (std::optional<Halves> same = renamed(*value.made)) {
      value.halves = std::move(*same);
      value.rename = true;
      return;
    }
  for (int i = 0; i < value.width; ++i) value.halves.push_back(count_++);
}

}  // namespace ksearch::simt::ir
