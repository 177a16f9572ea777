#include "simt/engine/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simt/engine/watch_quick.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kGroupRegion = 64 << 20;
constexpr std::size_t kGroupCells = 16 << 20;
constexpr std::size_t kWidest = 1 << 16;  // accesses wider than this go by `copy` and `fill`

std::string_view verb(Use use) {
  return use.atomic ? "an atomic operation" : use.store ? "a write" : "a read";
}

}  // namespace

Watch::Watch(SharedState& shared, bool alone)
    : shared_(shared),
      alone_(alone),
      group_(kGroupRegion, shared.watched),
      buffers_(shared.buffers),
      order_(shared.intervals),
      group_pool_(shared.watched ? kGroupCells : 0),
      group_cells_(kGroupRegion, group_pool_),
      to_end_(kGroupRegion / kGroupBlock * sizeof(std::uint32_t)),
      zeros_(kWidest + 64),
      waste_(kWidest + 64) {
  if (!alone) own_cells_ = Cells(shared.device.size(), shared.pool, &shared.cells);
}

std::uint64_t Watch::place(const void* pc) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(pc) - shared_.object.begin);
}

RawFinding Watch::finding(const char* kind, std::vector<const void*> pcs) const {
  RawFinding f;
  f.kind = kind;
  for (const void* pc : pcs)
    if (pc) f.places.push_back(place(pc));
  f.threads = {running_.index_in_group};
  f.group = running_.group;
  f.group_number = order_.group();
  f.launch = running_.launch;
  return f;
}

ks::Meta Watch::nowhere(bool store) {
  return store ? ks::Meta{waste_.data(), waste_.data()} : ks::Meta{zeros_.data(), zeros_.data()};
}

PlacedBuffer* Watch::buffer_at(std::size_t offset) {
  const auto after = std::upper_bound(
      buffers_.begin(), buffers_.end(), offset,
      [](std::size_t value, const PlacedBuffer& buffer) { return value < buffer.offset; });
  return after == buffers_.begin() ? nullptr : &*(after - 1);
}

/// The buffer an address between buffers is told of: the one that ends or begins closer to it.
PlacedBuffer* Watch::nearest_buffer(std::size_t offset) {
  PlacedBuffer* const below = buffer_at(offset);
  if (!below) return &buffers_.front();
  PlacedBuffer* const above = below + 1;
  const std::size_t end = below->offset + below->bytes;
  if (above == buffers_.data() + buffers_.size() || offset < end) return below;
  return above->offset - offset < offset - end ? above : below;
}

ks::Meta Watch::access(const void* at, std::size_t bytes, Use use, const void* pc) {
  settle();
  const auto* p = static_cast<const std::byte*>(at);
  if (bytes > kWidest) return nowhere(use.store);
  if (device().holds(p)) return device_access(p, bytes, use, pc);
  if (group_.holds(p)) return group_access(p, bytes, use, pc);
  if (stacks().holds(p)) return stacks().meta(p);
  return nowhere(use.store);
}

ks::Meta Watch::device_access(const std::byte* at, std::size_t bytes, Use use, const void* pc) {
  const std::size_t offset = device().offset(at);
  const std::uint16_t owner = shared_.page_owner[offset / Cells::kPage];
  if (owner == SharedState::kNobody) return outside_buffer(at, bytes, use, pc);
  PlacedBuffer& buffer = buffers_[owner];
  const std::size_t within = offset - buffer.offset;
  if (within + bytes > buffer.bytes) return outside_buffer(at, bytes, use, pc);
  const Site where = site(pc);
  if (use.load) (buffer.constant ? buffer.constant_bytes_read : buffer.bytes_read) += bytes;
  if (use.store) {
    buffer.bytes_written += bytes;
    buffer.last_store = where;
    buffer.last_store_group = order_.group();
    buffer.last_store_launch = order_.launch();
  }
  const bool poisoned = buffer.role == Role::out;
  if (!quick(MemoryKind::device, offset, bytes, use, pc, !poisoned)) {
    const Touch touch{.at = at,
                      .bytes = bytes,
                      .offset = offset,
                      .use = use,
                      .pc = pc,
                      .site = where,
                      .name = &buffer.name,
                      .within = within};
    const std::size_t written = check_cells(touch);
    if (written < bytes && use.load && poisoned)
      note_unwritten(
          kind::kUninitialisedOutput, touch, written,
          fmt::format("{} of byte {}, which nothing has written", verb(use), within + written));
  }
  return device().meta(at);
}

ks::Meta Watch::outside_buffer(const std::byte* at, std::size_t bytes, Use use, const void* pc) {
  if (buffers_.empty()) return nowhere(use.store);
  const std::size_t offset = device().offset(at);
  PlacedBuffer* buffer = buffer_at(offset);
  PlacedBuffer& nearest = *nearest_buffer(offset);
  const auto distance =
      static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(nearest.offset);
  RawFinding f = finding(kind::kOutOfBounds, {pc});
  f.buffer = nearest.name;
  f.offset = distance;
  f.detail = fmt::format("{} of {} bytes at byte {} of a buffer of {} bytes", verb(use), bytes,
                         distance, nearest.bytes);
  findings_.add(std::move(f));
  // The part inside counts as used: it is no element that was left out.
  if (const std::size_t within = offset - nearest.offset;
      buffer == &nearest && within < buffer->bytes && use.store)
    check_cells({.at = at,
                 .bytes = buffer->bytes - within,
                 .offset = offset,
                 .use = use,
                 .pc = pc,
                 .site = site(pc),
                 .name = &buffer->name,
                 .within = within});
  return nowhere(use.store);
}

ks::Meta Watch::group_access(const std::byte* at, std::size_t bytes, Use use, const void* pc) {
  const std::size_t offset = group_.offset(at);
  const GroupArray* found = nullptr;
  for (const GroupArray& candidate : arrays_)
    if (offset - candidate.offset < candidate.bytes) found = &candidate;
  if (!found || offset - found->offset + bytes > found->bytes)
    return outside_group_array(offset, bytes, use, pc);
  const GroupArray& array = *found;
  if (copies_.any() && check_copies(offset, bytes, use, pc)) return group_.meta(at);
  if (use.load) group_read_ += bytes;
  if (use.store) group_written_ += bytes;
  if (quick(MemoryKind::group, offset, bytes, use, pc, false)) return group_.meta(at);
  const Touch touch{.at = at,
                    .bytes = bytes,
                    .offset = offset,
                    .use = use,
                    .pc = pc,
                    .site = site(pc),
                    .memory = MemoryKind::group,
                    .name = &array.name,
                    .within = offset - array.offset};
  const std::size_t written = check_cells(touch);
  if (use.load && written < bytes)
    note_unwritten(kind::kUninitialisedGroupMemory, touch, written,
                   fmt::format("{} of byte {}, which no thread of the group has written", verb(use),
                               touch.within + written));
  return group_.meta(at);
}

ks::Meta Watch::outside_group_array(std::size_t offset, std::size_t bytes, Use use,
                                    const void* pc) {
  const GroupArray* array = nullptr;
  for (const GroupArray& candidate : arrays_)
    if (!array || (candidate.offset <= offset && candidate.offset > array->offset))
      array = &candidate;
  RawFinding f = finding(kind::kOutOfBounds, {pc});
  if (array) {
    f.buffer = array->name;
    f.offset = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(array->offset);
    f.detail = fmt::format("{} of {} bytes at byte {} of threadgroup memory of {} bytes", verb(use),
                           bytes, f.offset, array->bytes);
  }
  findings_.add(std::move(f));
  return nowhere(use.store);
}

void Watch::copy(void* to, const void* from, std::size_t bytes, const void* pc) {
  const auto region_of = [&](const void* at) -> const Region* {
    for (const Region* region : {&stacks(), &device(), static_cast<const Region*>(&group_)})
      if (region->holds(at)) return region;
    return nullptr;
  };
  const Region* target = region_of(to);
  const Region* source = region_of(from);
  // Constants of the object have no shadow.
  if ((!target && !shared_.object.holds(to)) || (!source && !shared_.object.holds(from)))
    return wild_access(target ? from : to, pc);
  access(from, bytes, {.load = true}, pc);
  access(to, bytes, {.store = true}, pc);
  std::memmove(to, from, bytes);
  if (!target) return;
  if (!source) return target->set_defined(to, bytes);
  const ks::Meta a = source->meta(from), b = target->meta(to);
  std::memmove(b.shadow, a.shadow, bytes);
  std::memmove(b.origin, a.origin, (bytes + 3) & ~std::size_t{3});
}

void Watch::fill(void* to, int byte, std::size_t bytes, const void* pc) {
  if (!stacks().holds(to) && !device().holds(to) && !group_.holds(to) && !shared_.object.holds(to))
    return wild_access(to, pc);
  access(to, bytes, {.store = true}, pc);
  std::memset(to, byte, bytes);
  set_defined(to, bytes);
}

void Watch::set_defined(const void* at, std::size_t bytes) {
  if (!watched()) return;
  for (const Region* region : {&stacks(), &device(), static_cast<const Region*>(&group_)})
    if (region->holds(at)) region->set_defined(at, bytes);
}

void Watch::set_undefined(const void* at, std::size_t bytes, OriginKind kind, const void* pc) {
  if (!watched() || !stacks().holds(at)) return;
  stacks().set_undefined(
      at, bytes,
      static_cast<std::uint32_t>(kind) << kOriginPlaceBits | static_cast<std::uint32_t>(place(pc)));
}

}  // namespace ksearch::simt
