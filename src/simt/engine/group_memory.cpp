// The part of Watch that lays out threadgroup memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simt/engine/watch.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kGroupGap = 256;
constexpr std::size_t kGroupMemoryLimit = 32768;  // Metal feature tables, every Apple GPU
constexpr unsigned kPoison = 0xff;                // NaN in every float type

}  // namespace

Watch::GroupArray& Watch::add_group_array(const void* key, std::size_t bytes, std::string name) {
  const std::size_t offset =
      (group_used_ + kGroupGap + kGroupBlock - 1) / kGroupBlock * kGroupBlock;
  arrays_.push_back({key, std::move(name), offset, bytes});
  auto* left = reinterpret_cast<std::uint32_t*>(to_end_.data()) + offset / kGroupBlock;
  for (std::size_t at = 0; at < bytes; at += kGroupBlock)
    *left++ = static_cast<std::uint32_t>(bytes - at);
  group_used_ = offset + bytes;
  std::memset(group_.data() + offset, kPoison, bytes);
  if (watched()) group_.set_defined(group_.data() + offset, bytes);
  return arrays_.back();
}

void Watch::begin_group(std::uint32_t number, std::uint32_t simdgroups,
                        const std::vector<std::uint32_t>& slots) {
  order_.begin_group(number, simdgroups);
  for (const GroupArray& array : arrays_)
    std::memset(to_end_.data() + array.offset / kGroupBlock * sizeof(std::uint32_t), 0,
                (array.bytes + kGroupBlock - 1) / kGroupBlock * sizeof(std::uint32_t));
  arrays_.clear();
  slots_.clear();
  group_used_ = dynamic_bytes_ = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const GroupArray& array = add_group_array(nullptr, slots[i], fmt::format("threadgroup({})", i));
    slots_.push_back(group_.data() + array.offset);
    dynamic_bytes_ += slots[i];
  }
  most_group_bytes_ = std::max(most_group_bytes_, dynamic_bytes_);
}

void* Watch::group_array(const void* key, std::size_t bytes, std::size_t, const char* name,
                         const void* pc) {
  std::size_t total = bytes;
  for (const GroupArray& array : arrays_) {
    if (array.key == key) return group_.data() + array.offset;
    total += array.bytes;
  }
  most_group_bytes_ = std::max(most_group_bytes_, total);
  if (total > kGroupMemoryLimit) {
    RawFinding f = finding(kind::kGroupMemoryLimit, {pc});
    f.buffer = name;
    f.detail =
        fmt::format("{} bytes of threadgroup memory, {} are there", total, kGroupMemoryLimit);
    findings_.add(std::move(f));
  }
  if (group_used_ + bytes + 2 * kGroupGap > group_.size()) return nullptr;
  return group_.data() + add_group_array(key, bytes, name).offset;
}

void Watch::end_launch() {
  for (PlacedBuffer& buffer : buffers_) buffer.constant = false;
}

}  // namespace ksearch::simt
