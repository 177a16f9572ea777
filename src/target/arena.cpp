#include "target/arena.h"

#include <fmt/format.h>

#include "base/check.h"

namespace ksearch::target {
namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// No float of it is likely as a result, and no byte repeats its neighbour's.
std::byte pattern(std::size_t offset) { return static_cast<std::byte>(0xa5 ^ (offset * 0x3b)); }

/// The byte range [from, to) of the slack on one side; first and last damaged byte, if any.
std::optional<Range> damaged(std::span<const std::byte> memory, std::size_t from, std::size_t to) {
  std::optional<Range> range;
  for (std::size_t at = from; at < to; ++at) {
    if (memory[at] == pattern(at)) continue;
    if (!range) range = Range{at, 1};
    range->bytes = at + 1 - range->offset;
  }
  return range;
}

kernel::Finding finding(const Buffer& buffer, bool write, std::string_view side,
                        std::size_t distance, std::size_t bytes) {
  const std::string much = bytes ? fmt::format(", {} byte{}", bytes, bytes == 1 ? "" : "s") : "";
  return {"out_of_bounds", buffer.name,
          fmt::format("{} {} {} ({} bytes long), {} byte{} off{}", write ? "writes" : "reads", side,
                      buffer.name, buffer.bytes, distance, distance == 1 ? "" : "s", much)};
}

}  // namespace

const Buffer& Arena::add(std::string name, std::size_t bytes, bool guard) {
  const std::size_t used = round_up(bytes, kAlignment);
  const std::size_t region = bytes_ + kGuard;
  const std::size_t region_bytes = round_up(used, kPage) + (used == 0 ? kPage : 0);
  guards_.push_back({bytes_, kGuard});
  bytes_ = region + region_bytes;
  const std::size_t start = guard ? region + region_bytes - used : region;
  return buffers_.emplace_back(std::move(name), start, bytes, region, region_bytes);
}

void Arena::close() {
  guards_.push_back({bytes_, kGuard});
  bytes_ += kGuard;
}

const Buffer* Arena::find(std::string_view name) const {
  for (const Buffer& buffer : buffers_)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

void draw_canaries(const Arena& arena, std::span<std::byte> memory) {
  KS_CHECK(memory.size() >= arena.bytes(), "the memory holds the arena");
  for (const Buffer& b : arena.buffers()) {
    for (std::size_t at = b.region; at < b.offset; ++at) memory[at] = pattern(at);
    for (std::size_t at = b.offset + b.bytes; at < b.region + b.region_bytes; ++at)
      memory[at] = pattern(at);
  }
}

std::vector<kernel::Finding> damaged_canaries(const Arena& arena,
                                              std::span<const std::byte> memory) {
  std::vector<kernel::Finding> findings;
  for (const Buffer& b : arena.buffers()) {
    if (const auto r = damaged(memory, b.region, b.offset))
      findings.push_back(finding(b, true, "before the start of", b.offset - r->offset, r->bytes));
    if (const auto r = damaged(memory, b.offset + b.bytes, b.region + b.region_bytes))
      findings.push_back(
          finding(b, true, "past the end of", r->offset - (b.offset + b.bytes), r->bytes));
  }
  return findings;
}

std::optional<kernel::Finding> explain_fault(const Arena& arena, std::size_t offset, bool write) {
  const Buffer* nearest = nullptr;
  std::size_t distance = 0;
  bool before = false;
  for (const Buffer& b : arena.buffers()) {
    if (offset >= b.region && offset < b.region + b.region_bytes) return std::nullopt;
    const bool is_before = offset < b.region;
    const std::size_t d = is_before ? b.offset - offset : offset - (b.offset + b.bytes);
    if (!nearest || d < distance) nearest = &b, distance = d, before = is_before;
  }
  if (!nearest) return std::nullopt;
  return finding(*nearest, write, before ? "before the start of" : "past the end of", distance, 0);
}

}  // namespace ksearch::target
