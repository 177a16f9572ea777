// The part of RegisterMap that says which instructions only give halves another name.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "simt/ir/operation.h"
#include "simt/ir/register_map.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

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

}  // namespace

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
