#include "simt/engine/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ksearch::simt {
namespace {

constexpr std::size_t kGroupRegion = 4 << 20;
constexpr std::size_t kGroupGap = 256;
constexpr std::size_t kGroupMemoryLimit = 32768;  // Metal feature tables, every Apple GPU
constexpr std::size_t kWidest = 1 << 16;  // accesses wider than this go by `copy` and `fill`
constexpr std::size_t kMostUnwritten = 4096;
constexpr unsigned kPoison = 0xff;  // NaN in every float type

std::string_view verb(Use use) {
  return use.atomic ? "an atomic operation" : use.store ? "a write" : "a read";
}

}  // namespace

Watch::Watch(std::vector<PlacedBuffer> buffers, std::size_t device_bytes, std::size_t stack_bytes,
             const std::byte* object_base, Findings& findings)
    : findings_(findings),
      device_(device_bytes, true),
      group_(kGroupRegion, true),
      stacks_(stack_bytes, false),
      buffers_(std::move(buffers)),
      object_base_(object_base),
      sites_{nullptr},
      zeros_(kWidest + 64),
      waste_(kWidest + 64) {}

std::uint64_t Watch::place(const void* pc) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(pc) - object_base_);
}

RawFinding Watch::finding(const char* kind, std::vector<const void*> pcs) const {
  RawFinding f;
  f.kind = kind;
  for (const void* pc : pcs)
    if (pc) f.places.push_back(place(pc));
  f.threads = {running_.index_in_group};
  f.group = running_.group;
  f.launch = running_.launch;
  return f;
}

Site Watch::site(const void* pc) {
  auto& cached = site_cache_[(reinterpret_cast<std::uintptr_t>(pc) >> 2) % site_cache_.size()];
  if (cached.first == pc) return cached.second;
  const auto [entry, fresh] = site_numbers_.try_emplace(
      pc, static_cast<Site>(std::min<std::size_t>(sites_.size(), 0xffff)));
  if (fresh && sites_.size() < 0xffff) sites_.push_back(pc);
  cached = *entry;
  return entry->second;
}

ks::Meta Watch::nowhere(bool store) {
  return store ? ks::Meta{waste_.data(), waste_.data()} : ks::Meta{zeros_.data(), zeros_.data()};
}

PlacedBuffer* Watch::buffer_at(std::size_t offset) {
  if (buffers_.empty()) return nullptr;
  const PlacedBuffer& last = buffers_[last_buffer_];
  if (offset - last.offset < last.bytes) return &buffers_[last_buffer_];
  const auto after = std::upper_bound(
      buffers_.begin(), buffers_.end(), offset,
      [](std::size_t value, const PlacedBuffer& buffer) { return value < buffer.offset; });
  if (after == buffers_.begin()) return nullptr;
  last_buffer_ = static_cast<std::size_t>(after - buffers_.begin()) - 1;
  return &buffers_[last_buffer_];
}

ks::Meta Watch::access(const void* at, std::size_t bytes, Use use, const void* pc) {
  settle();
  const auto* p = static_cast<const std::byte*>(at);
  if (stacks_.holds(p)) return stacks_.meta(p);
  if (bytes > kWidest) return nowhere(use.store);
  if (device_.holds(p)) return device_access(p, bytes, use, pc);
  if (group_.holds(p)) return group_access(p, bytes, use, pc);
  return nowhere(use.store);
}

ks::Meta Watch::device_access(const std::byte* at, std::size_t bytes, Use use, const void* pc) {
  const std::size_t offset = device_.offset(at);
  PlacedBuffer* buffer = buffer_at(offset);
  const std::size_t within = buffer ? offset - buffer->offset : 0;
  if (!buffer || within + bytes > buffer->bytes) {
    // Before the first one: counted from its start.
    PlacedBuffer& nearest = buffer ? *buffer : buffers_.front();
    const auto distance =
        static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(nearest.offset);
    RawFinding f = finding(kind::kOutOfBounds, {pc});
    f.buffer = nearest.name;
    f.offset = distance;
    f.detail = fmt::format("{} of {} bytes at byte {} of a buffer of {} bytes", verb(use), bytes,
                           distance, nearest.bytes);
    findings_.add(std::move(f));
    // The part inside counts as used: it is no element that was left out.
    if (buffer && within < buffer->bytes && use.store)
      check_cells(at, buffer->bytes - within, use, site(pc), MemoryKind::device, buffer->name,
                  within);
    return nowhere(use.store);
  }
  const Site where = site(pc);
  if (use.load) (buffer->constant ? buffer->constant_bytes_read : buffer->bytes_read) += bytes;
  if (use.store) {
    buffer->bytes_written += bytes;
    buffer->last_store = where;
  }
  Cell* cells = device_.cells(at);
  std::size_t unwritten = bytes;
  if (use.load && buffer->role == Role::out)
    for (std::size_t i = bytes; i-- > 0;)
      if (cells[i].writer == 0) unwritten = i;
  check_cells(at, bytes, use, where, MemoryKind::device, buffer->name, within);
  if (unwritten < bytes)
    note_unwritten(
        kind::kUninitialisedOutput, cells[unwritten], buffer->name, within + unwritten,
        fmt::format("{} of byte {}, which nothing has written", verb(use), within + unwritten), pc);
  return device_.meta(at);
}

ks::Meta Watch::group_access(const std::byte* at, std::size_t bytes, Use use, const void* pc) {
  const std::size_t offset = group_.offset(at);
  const GroupArray* array = nullptr;
  for (const GroupArray& candidate : arrays_)
    if (offset - candidate.offset < candidate.bytes) array = &candidate;
  if (!array || offset - array->offset + bytes > array->bytes) {
    for (const GroupArray& candidate : arrays_)
      if (!array || (candidate.offset <= offset && candidate.offset > array->offset))
        array = &candidate;
    RawFinding f = finding(kind::kOutOfBounds, {pc});
    if (array) {
      f.buffer = array->name;
      f.offset = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(array->offset);
      f.detail = fmt::format("{} of {} bytes at byte {} of threadgroup memory of {} bytes",
                             verb(use), bytes, f.offset, array->bytes);
    }
    findings_.add(std::move(f));
    return nowhere(use.store);
  }
  if (use.load) group_read_ += bytes;
  if (use.store) group_written_ += bytes;
  const std::size_t within = offset - array->offset;
  Cell* cells = group_.cells(at);
  std::size_t unwritten = bytes;
  if (use.load)
    for (std::size_t i = bytes; i-- > 0;)
      if (cells[i].writer == 0 || !order_.of_this_group(cells[i].writer)) unwritten = i;
  check_cells(at, bytes, use, site(pc), MemoryKind::group, array->name, within);
  if (unwritten < bytes)
    note_unwritten(kind::kUninitialisedGroupMemory, cells[unwritten], array->name,
                   within + unwritten,
                   fmt::format("{} of byte {}, which no thread of the group has written", verb(use),
                               within + unwritten),
                   pc);
  return group_.meta(at);
}

void Watch::note_unwritten(const char* kind, Cell& cell, const std::string& name,
                           std::size_t offset, std::string detail, const void* pc) {
  if (unwritten_.size() >= kMostUnwritten) return;
  RawFinding f = finding(kind, {pc});
  f.buffer = name;
  f.offset = static_cast<std::int64_t>(offset);
  f.detail = std::move(detail);
  unwritten_.push_back({&cell, std::move(f)});
}

RawFinding Watch::race(Stamp other, Site other_site, bool other_writes, Use use, Site where,
                       const std::string& name, std::size_t offset) const {
  const Interval& then = order_.interval(other);
  RawFinding f = finding(kind::kDataRace, {sites_[other_site], sites_[where]});
  f.buffer = name;
  f.offset = static_cast<std::int64_t>(offset);
  const std::uint32_t thread = then.simdgroup * 32 + Order::lane(other);
  f.threads = {thread, running_.index_in_group};
  const bool same_group = order_.of_this_group(other);
  f.detail = fmt::format(
      "{} by thread {} and {} by thread {} of {}, with nothing to order them",
      other_writes ? "a write" : "a read", thread, verb(use), running_.index_in_group,
      same_group ? then.simdgroup == running_.simdgroup ? "the same SIMD-group"
                                                        : "another SIMD-group of the same group"
                 : "another group");
  return f;
}

void Watch::check_cells(const std::byte* at, std::size_t bytes, Use use, Site where,
                        MemoryKind memory, const std::string& name, std::size_t offset) {
  if (order_.full()) return;
  const Stamp now = order_.stamp(running_.simdgroup, running_.lane, use.atomic);
  Cell* cells = (memory == MemoryKind::device ? device_ : group_).cells(at);
  const auto meets = [&](Stamp stamp) {
    return stamp != 0 && (stamp | 1u) != (now | 1u) && !(use.atomic && Order::atomic(stamp)) &&
           !order_.ordered(stamp, now, memory);
  };
  bool told = false;  // one finding an access is enough
  for (std::size_t i = 0; i < bytes; ++i) {
    Cell& cell = cells[i];
    if (meets(cell.writer)) {
      // Two plain writes of the same value are no defect: looked at when this one is done.
      if (use.store && !use.load && !use.atomic) {
        if (!pending_)
          pending_ =
              Pending{at,
                      std::vector<std::byte>(at, at + bytes),
                      race(cell.writer, cell.writer_site, true, use, where, name, offset + i),
                      {}};
        pending_->cells.push_back(&cell);
      } else {
        cell.raced = 1;
        if (!std::exchange(told, true))
          findings_.add(race(cell.writer, cell.writer_site, true, use, where, name, offset + i));
      }
    }
    if (use.store) {
      for (const auto& [stamp, place] : {std::pair{cell.reader, cell.reader_site},
                                         std::pair{cell.other_reader, cell.other_reader_site}})
        if (meets(stamp)) {
          cell.raced = 1;
          if (!std::exchange(told, true))
            findings_.add(race(stamp, place, false, use, where, name, offset + i));
        }
      cell.writer = now;
      cell.writer_site = where;
    } else if (cell.reader == 0 || !meets(cell.reader)) {
      cell.reader = now;
      cell.reader_site = where;
    } else {
      cell.other_reader = now;
      cell.other_reader_site = where;
    }
  }
}

void Watch::settle_pending() {
  Pending pending = std::move(*pending_);
  pending_.reset();
  if (std::memcmp(pending.at, pending.before.data(), pending.before.size()) == 0) return;
  for (Cell* cell : pending.cells) cell->raced = 1;
  findings_.add(std::move(pending.finding));
}

void Watch::copy(void* to, const void* from, std::size_t bytes, const void* pc) {
  access(from, bytes, {.load = true}, pc);
  access(to, bytes, {.store = true}, pc);
  std::memmove(to, from, bytes);
  const auto region_of = [&](const void* at) -> const Region* {
    for (const Region* region : {&stacks_, &device_, &group_})
      if (region->holds(at)) return region;
    return nullptr;
  };
  const Region* target = region_of(to);
  if (!target) return;
  const Region* source = region_of(from);
  if (!source) return target->set_defined(to, bytes);
  const ks::Meta a = source->meta(from), b = target->meta(to);
  std::memmove(b.shadow, a.shadow, bytes);
  std::memmove(b.origin, a.origin, (bytes + 3) & ~std::size_t{3});
}

void Watch::fill(void* to, int byte, std::size_t bytes, const void* pc) {
  access(to, bytes, {.store = true}, pc);
  std::memset(to, byte, bytes);
  set_defined(to, bytes);
}

void Watch::set_defined(const void* at, std::size_t bytes) {
  for (const Region* region : {&stacks_, &device_, &group_})
    if (region->holds(at)) region->set_defined(at, bytes);
}

void Watch::set_undefined(const void* at, std::size_t bytes, OriginKind kind, const void* pc) {
  if (stacks_.holds(at))
    stacks_.set_undefined(at, bytes, static_cast<std::uint32_t>(kind) << 24 | site(pc));
}

void Watch::used_undefined(std::uint32_t origin, const void* pc) {
  const auto from = static_cast<OriginKind>(origin >> 24);
  if (from == OriginKind::none) return;
  RawFinding f =
      finding(from == OriginKind::lane ? kind::kUndefinedLane : kind::kUninitialisedVariable,
              {sites_[origin & 0xffff], pc});
  f.detail = "it decides a branch or an address";
  findings_.add(std::move(f));
}

void Watch::misaligned(const void* at, std::size_t alignment, const void* pc) {
  settle();
  if (!at) return;
  RawFinding f = finding(kind::kMisaligned, {pc});
  if (device_.holds(at)) {
    const std::size_t offset = device_.offset(at);
    if (const PlacedBuffer* buffer = buffer_at(offset)) {
      f.buffer = buffer->name;
      f.offset = static_cast<std::int64_t>(offset - buffer->offset);
    }
  } else if (group_.holds(at)) {
    const std::size_t offset = group_.offset(at);
    for (const GroupArray& array : arrays_)
      if (offset - array.offset < array.bytes) {
        f.buffer = array.name;
        f.offset = static_cast<std::int64_t>(offset - array.offset);
      }
  }
  f.detail = f.offset >= 0 ? fmt::format("byte {} is no multiple of {}, which its type asks for",
                                         f.offset, alignment)
                           : fmt::format("an address that is no multiple of {}", alignment);
  findings_.add(std::move(f));
}

void Watch::outside_array(const void* pc) {
  RawFinding f = finding(kind::kOutOfBounds, {pc});
  f.detail = "an index outside an array of fixed size";
  findings_.add(std::move(f));
}

void Watch::wild_access(const void* at, const void* pc) {
  const bool in_stack = stacks_.holds(at);
  // A check's trap: the address is the instruction's own.
  const bool trapped =
      reinterpret_cast<std::uintptr_t>(pc) - reinterpret_cast<std::uintptr_t>(at) <= 4;
  RawFinding f = finding(in_stack ? kind::kStackOverflow : kind::kOutOfBounds, {pc});
  f.detail = in_stack  ? "the thread's private memory is used up"
             : trapped ? "an access outside a private array"
                       : "an access to an address far outside every buffer";
  findings_.add(std::move(f));
}

Watch::GroupArray& Watch::add_group_array(const void* key, std::size_t bytes, std::string name) {
  const std::size_t offset = (group_used_ + kGroupGap + 255) / 256 * 256;
  arrays_.push_back({key, std::move(name), offset, bytes});
  group_used_ = offset + bytes;
  std::memset(group_.data() + offset, kPoison, bytes);
  group_.set_defined(group_.data() + offset, bytes);
  return arrays_.back();
}

void Watch::begin_group(std::uint32_t number, std::uint32_t simdgroups,
                        const std::vector<std::uint32_t>& slots) {
  order_.begin_group(number, simdgroups);
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
  return group_.data() + add_group_array(key, bytes, name).offset;
}

void Watch::end_group() {
  settle();
  // Read first and written later by another thread: a race, and told as that.
  for (UnwrittenRead& read : unwritten_)
    if (!read.cell->raced) findings_.add(std::move(read.finding));
  unwritten_.clear();
  for (const GroupArray& array : arrays_) {
    Cell* cells = group_.cells(group_.data() + array.offset);
    for (std::size_t i = 0; i < array.bytes; ++i) cells[i] = Cell{};
  }
}

void Watch::end_launch() {
  for (PlacedBuffer& buffer : buffers_) buffer.constant = false;
}

void Watch::check_output(const PlacedBuffer& buffer) {
  const std::byte* start = device_.data() + buffer.offset;
  const Cell* cells = device_.cells(start);
  const auto* shadow = static_cast<const unsigned char*>(device_.meta(start).shadow);
  std::size_t unwritten = 0, first = 0;
  for (std::size_t i = buffer.bytes; i-- > 0;)
    if (cells[i].writer == 0) {
      ++unwritten;
      first = i;
    }
  if (unwritten > 0 && buffer.role == Role::out) {
    RawFinding f = finding(kind::kUncoveredOutput, {sites_[buffer.last_store]});
    f.threads.clear();
    f.buffer = buffer.name;
    f.offset = static_cast<std::int64_t>(first);
    f.detail = fmt::format("{} of {} bytes were written by no thread, the first of them byte {}",
                           unwritten, buffer.bytes, first);
    findings_.add(std::move(f));
  }
  for (std::size_t i = 0; i < buffer.bytes; ++i) {
    if (shadow[i] == 0 || cells[i].writer == 0) continue;
    const std::uint32_t origin = *static_cast<std::uint32_t*>(device_.meta(start + i).origin);
    const auto from = static_cast<OriginKind>(origin >> 24);
    RawFinding f =
        finding(from == OriginKind::lane ? kind::kUndefinedLane : kind::kUninitialisedVariable,
                {sites_[origin & 0xffff], sites_[cells[i].writer_site]});
    f.buffer = buffer.name;
    f.offset = static_cast<std::int64_t>(i);
    f.threads = {order_.interval(cells[i].writer).simdgroup * 32 + Order::lane(cells[i].writer)};
    f.detail = fmt::format("it reaches byte {} of the output", i);
    findings_.add(std::move(f));
  }
}

void Watch::finish() {
  settle();
  for (const PlacedBuffer& buffer : buffers_)
    if (buffer.role != Role::in) check_output(buffer);
}

}  // namespace ksearch::simt
