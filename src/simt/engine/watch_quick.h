// The accesses that nothing is to be told of, which is nearly all: compiled into who asks.
#pragma once

#include "simt/engine/watch.h"

namespace ksearch::simt {

[[gnu::always_inline]] inline bool Watch::quick_group_access(const void* at, std::size_t bytes,
                                                             bool store, const void* pc) {
  const std::size_t offset = group_.offset(at);
  if (offset >= group_.size() || pending_ || copies_.any() || order_.full()) return false;
  if (!array_holds(offset, bytes)) return false;
  const Cells::Run run = group_cells_.made(offset, bytes);
  const auto& [place, where] = site_entry(pc);
  if (!run.first || place != pc) return false;
  const Stamp now = order_.stamp(running_.simdgroup, running_.lane, false);
  const Stamp recent = order_.first_since_barrier(), span = order_.fresh_stamps();
  const auto fresh = [&](Stamp stamp) __attribute__((always_inline)) {
    return stamp - recent < span;
  };
  const auto passed = [&](Stamp stamp) __attribute__((always_inline)) {
    return stamp < recent || (stamp ^ now) < 2 ||
           (!fresh(stamp) && order_.known(stamp, now, MemoryKind::group) == Order::Answer::ordered);
  };
  Cell* const end = run.first + (bytes >> run.shift);
  for (Cell* cell = run.first; cell != end; ++cell) {
    if (!passed(cell->writer)) return false;
    const Stamp reader = cell->reader, other = cell->other_reader;
    if (store) {
      if (!passed(reader) || !passed(other)) return false;
      cell->writer = now;
      cell->writer_site = where;
      continue;
    }
    if (cell->writer == 0) return false;
    if (reader == now || other == now) continue;
    if (passed(reader)) {
      cell->reader = now;
      cell->reader_site = where;
      continue;
    }
    if (!fresh(reader) && order_.known(reader, now, MemoryKind::group) != Order::Answer::unordered)
      return false;
    // Plain reads of two SIMD-groups: whoever writes next races with one of them already.
    if (fresh(reader) && fresh(other) && reader >> 6 != other >> 6 &&
        !Order::atomic(reader | other))
      continue;
    cell->other_reader = now;
    cell->other_reader_site = where;
  }
  (store ? group_written_ : group_read_) += bytes;
  return true;
}

[[gnu::always_inline]] inline bool Watch::quick(MemoryKind memory, std::size_t offset,
                                                std::size_t bytes, Use use, const void* pc,
                                                bool initialised) {
  if (use.atomic || offset % Cells::kPage + bytes > Cells::kPage || order_.full()) return false;
  const Cells::Run run = cells(memory).cover(offset, bytes);
  if (!run.first) [[unlikely]]
    return false;
  const Stamp now = order_.stamp(running_.simdgroup, running_.lane, false);
  const Site where = site(pc);
  const auto safe = [&](Stamp stamp) __attribute__((always_inline)) {
    return order_.long_ago(stamp, memory) || order_.same_thread_or_ordered(stamp, now, memory);
  };
  const auto unused = [&](Stamp stamp) __attribute__((always_inline)) {
    return stamp == 0 || safe(stamp);
  };
  // A cell that is noted before another one fails is noted again by `check_cells`, the same way.
  Cell* const end = run.first + (bytes >> run.shift);
  if (use.store) {
    for (Cell* cell = run.first; cell != end; ++cell) {
      if (!unused(cell->writer) || !unused(cell->reader) || !unused(cell->other_reader))
        return false;
      cell->writer = now;
      cell->writer_site = where;
    }
    return true;
  }
  for (Cell* cell = run.first; cell != end; ++cell) {
    if (cell->writer == 0 ? !initialised : !safe(cell->writer)) return false;
    if (cell->reader == now) continue;
    const bool first = unused(cell->reader);
    (first ? cell->reader : cell->other_reader) = now;
    (first ? cell->reader_site : cell->other_reader_site) = where;
  }
  return true;
}

}  // namespace ksearch::simt
