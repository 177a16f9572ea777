#include "simt/ir/register_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

const Halves kNone;

/// Halves of one element.
std::size_t element(const Type& type) { return static_cast<std::size_t>(type.bits + 15) / 16; }
std::size_t halves(const Type& type) {
  return element(type) * static_cast<std::size_t>(type.count);
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return result;
}

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

/// Nothing where it is not known yet: it stands further down.
std::optional<Halves> RegisterMap::operand(std::string_view type, std::string_view name) const {
  const Type parsed = parse_type(type);
  if (parsed.bits < 8) return std::nullopt;
  Halves result(halves(parsed), kShared);
  const Value* value = name.front() == '%' ? find(name) : nullptr;
  if (!value || !value->divergent || value->width == 0) return result;
  if (value->halves.size() != result.size()) return std::nullopt;
  return value->halves;
}

/// Whether it gives the bits of others another name, and which.
std::optional<Halves> RegisterMap::renamed(const Instruction& instruction) {
  const std::vector<std::string_view>& all = instruction.words;
  const std::string_view opcode = instruction.opcode;
  if (opcode == "getelementptr") return address(instruction);
  if (opcode == "shufflevector") return shuffled(instruction);
  // A wider integer is part of what uses it.
  if (opcode == "sext" || opcode == "zext") {
    const auto name = std::ranges::find_if(all, [](auto word) { return word.front() == '%'; });
    if (name == all.end() || of(*name).empty()) return std::nullopt;
    return of(*name);
  }
  if (all.size() < 2) return std::nullopt;
  if (opcode == "freeze") return operand(all[0], all[1]);
  if (opcode == "bitcast") {
    auto same = operand(all[0], all[1]);
    if (!same || same->size() != halves(parse_type(target_text(instruction)))) return std::nullopt;
    return same;
  }
  if (opcode != "insertelement" && opcode != "extractelement") return std::nullopt;
  const auto index = number(all.back());
  auto vector = operand(all[0], all[1]);
  const Type type = parse_type(all[0]);
  if (!index || !vector || *index >= static_cast<std::size_t>(type.count)) return std::nullopt;
  const auto at = vector->begin() + static_cast<std::ptrdiff_t>(*index * element(type));
  const auto end = at + static_cast<std::ptrdiff_t>(element(type));
  if (opcode == "extractelement") return Halves(at, end);
  const auto part = all.size() < 4 ? std::nullopt : operand(all[2], all[3]);
  if (!part || part->size() != element(type)) return std::nullopt;
  std::ranges::copy(*part, at);
  return vector;
}

/// An access adds what all threads share, and what is constant, to one offset. Addresses that
/// differ in those alone are one.
std::optional<Halves> RegisterMap::address(const Instruction& instruction) {
  std::string key;
  const Halves* only = nullptr;
  int offsets = 0;
  const auto& all = instruction.words;
  const auto pointer = std::ranges::find(all, "ptr");
  for (auto word = pointer; word != all.end(); ++word) {
    if (word->front() != '%') continue;
    const Value* value = find(*word);
    if (!value || !value->divergent || value->width == 0) continue;
    if (value->halves.empty()) return std::nullopt;
    only = &value->halves;
    ++offsets;
    const bool is_base = word == pointer + 1;
    fmt::format_to(std::back_inserter(key), "{}*{} ", value->halves.front(),
                   is_base ? "" : *(pointer - 1));
  }
  if (offsets < 2) return only ? std::optional(*only) : std::nullopt;
  const auto [found, fresh] = addresses_.try_emplace(std::move(key));
  if (!fresh) return found->second;
  found->second = {count_, count_ + 1};
  return std::nullopt;
}

std::optional<Halves> RegisterMap::shuffled(const Instruction& instruction) const {
  const auto& all = instruction.words;
  if (all.size() < 6) return std::nullopt;
  auto from = operand(all[0], all[1]);
  const auto second = operand(all[2], all[3]);
  if (!from || !second) return std::nullopt;
  from->insert(from->end(), second->begin(), second->end());
  const std::size_t size = element(parse_type(all[0]));
  const auto count = static_cast<std::size_t>(parse_type(all[4]).count);
  if (all[5] == "zeroinitializer") {
    Halves same;
    for (std::size_t i = 0; i < count * size; ++i) same.push_back((*from)[i % size]);
    return same;
  }
  if (all[5].front() != '<') return std::nullopt;
  Halves result;
  const auto mask = words(all[5].substr(1, all[5].size() - 2));
  for (std::size_t i = 1; i < mask.size(); i += 2) {
    const auto index = number(mask[i]);  // or "poison"
    if (index && (*index + 1) * size > from->size()) return std::nullopt;
    for (std::size_t k = 0; k < size; ++k)
      result.push_back(index ? (*from)[*index * size + k] : kShared);
  }
  return result.size() == count * size ? std::optional(result) : std::nullopt;
}

}  // namespace ksearch::simt::ir
