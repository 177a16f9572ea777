// The part of Watch that compares an access with those before it.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "simt/engine/watch.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kMostUnwritten = 4096;

std::string_view verb_of(Use use) {
  return use.atomic ? "an atomic operation" : use.store ? "a write" : "a read";
}

}  // namespace

std::size_t Watch::check_cells(const Touch& touch) {
  if (order_.full()) return touch.bytes;
  const Use use = touch.use;
  const MemoryKind memory = touch.memory;
  const Stamp now = order_.stamp(running_.simdgroup, running_.lane, use.atomic);
  const auto meets = [&](Stamp stamp) {
    return stamp != 0 && (stamp | 1u) != (now | 1u) && !(use.atomic && Order::atomic(stamp)) &&
           !order_.ordered(stamp, now, memory);
  };
  Cells& all = cells(memory);
  std::size_t written = touch.bytes;
  bool told = false;  // one finding an access is enough
  for (std::size_t done = 0; done < touch.bytes;) {
    const std::size_t offset = touch.offset + done;
    const std::size_t part = std::min(touch.bytes - done, Cells::kPage - offset % Cells::kPage);
    const Cells::Run run = all.cover(offset, part);
    const std::size_t count = run.first ? part >> run.shift : 0;
    if (!run.first && !alone_) needs_order();  // one thread alone gets further with the memory
    for (std::size_t k = 0; k < count; ++k) {
      Cell& cell = run.first[k];
      const std::size_t i = done + (k << run.shift);
      if (cell.writer == 0) {
        if (written == touch.bytes) written = i;
      } else if (meets(cell.writer)) {
        meet_writer(touch, cell, i, told);
      }
      if (use.store) {
        if (meets(cell.reader) || meets(cell.other_reader)) meet_reader(touch, cell, i, told);
        cell.writer = now;
        cell.writer_site = touch.site;
      } else if (cell.reader == 0 || !meets(cell.reader)) {
        cell.reader = now;
        cell.reader_site = touch.site;
      } else {
        cell.other_reader = now;
        cell.other_reader_site = touch.site;
      }
    }
    done += part;
  }
  return written;
}

void Watch::meet_writer(const Touch& touch, Cell& cell, std::size_t i, bool& told) {
  if (!order_.of_this_group(cell.writer)) needs_order();
  // Two plain writes of the same value are no defect: looked at when this one is done.
  if (touch.use.store && !touch.use.load && !touch.use.atomic) {
    if (!pending_)
      pending_ = Pending{touch,
                         std::vector<std::byte>(touch.at, touch.at + touch.bytes),
                         race(cell.writer, cell.writer_site, true, touch, i),
                         {}};
    pending_->offsets.push_back(touch.offset + i);
    return;
  }
  cell.raced = 1;
  if (!std::exchange(told, true))
    findings_.add(race(cell.writer, cell.writer_site, true, touch, i));
}

void Watch::meet_reader(const Touch& touch, Cell& cell, std::size_t i, bool& told) {
  const Stamp now = order_.stamp(running_.simdgroup, running_.lane, touch.use.atomic);
  for (const auto& [stamp, place] : {std::pair{cell.reader, cell.reader_site},
                                     std::pair{cell.other_reader, cell.other_reader_site}}) {
    if (stamp == 0 || (stamp | 1u) == (now | 1u) || (touch.use.atomic && Order::atomic(stamp)) ||
        order_.ordered(stamp, now, touch.memory))
      continue;
    if (!order_.of_this_group(stamp)) needs_order();
    cell.raced = 1;
    if (!std::exchange(told, true)) findings_.add(race(stamp, place, false, touch, i));
  }
}

RawFinding Watch::race(Stamp other, Site other_site, bool other_writes, const Touch& touch,
                       std::size_t i) {
  const Interval& then = order_.interval(other);
  RawFinding f = finding(kind::kDataRace, {shared_.sites.place(other_site), touch.pc});
  f.buffer = *touch.name;
  f.offset = static_cast<std::int64_t>(touch.within + i);
  const std::uint32_t thread = then.simdgroup * 32 + Order::lane(other);
  f.threads = {thread, running_.index_in_group};
  const bool same_group = order_.of_this_group(other);
  f.detail = fmt::format(
      "{} by thread {} and {} by thread {} of {}, with nothing to order them",
      other_writes ? "a write" : "a read", thread, verb_of(touch.use), running_.index_in_group,
      same_group ? then.simdgroup == running_.simdgroup ? "the same SIMD-group"
                                                        : "another SIMD-group of the same group"
                 : "another group");
  return f;
}

void Watch::settle_pending() {
  Pending pending = std::move(*pending_);
  pending_.reset();
  if (std::memcmp(pending.touch.at, pending.before.data(), pending.before.size()) == 0) return;
  for (const std::size_t offset : pending.offsets)
    if (Cell* cell = cells(pending.touch.memory).find(offset)) cell->raced = 1;
  findings_.add(std::move(pending.finding));
}

void Watch::note_unwritten(const char* kind, const Touch& touch, std::size_t i,
                           std::string detail) {
  if (unwritten_.size() >= kMostUnwritten) return;
  RawFinding f = finding(kind, {touch.pc});
  f.buffer = *touch.name;
  f.offset = static_cast<std::int64_t>(touch.within + i);
  f.detail = std::move(detail);
  unwritten_.push_back({touch.memory, touch.offset + i, std::move(f)});
}

void Watch::end_group() {
  settle();
  // Read first and written later by another thread: a race, and told as that.
  for (UnwrittenRead& read : unwritten_) {
    const Cell* cell = cells(read.memory).find(read.offset);
    if (!cell || !cell->raced) findings_.add(std::move(read.finding));
  }
  unwritten_.clear();
  for (const GroupArray& array : arrays_) group_cells_.clear(array.offset, array.bytes);
}

}  // namespace ksearch::simt
