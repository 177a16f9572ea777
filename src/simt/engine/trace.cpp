#include "simt/engine/trace.h"

#include <algorithm>
#include <bit>

namespace ksearch::simt {
namespace {

constexpr std::uint32_t kLanes = 32;

}  // namespace

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  accesses += other.accesses;
  bytes += other.bytes;
  requests += other.requests;
  lines += other.lines;
  turns += other.turns;
  extra += other.extra;
  return *this;
}

Trace::Trace(TraceShape shape, std::vector<TracedBuffer> buffers, std::size_t device_bytes)
    : shape_(shape),
      buffers_(std::move(buffers)),
      constant_(buffers_.size()),
      requests_(shape.sites),
      counters_(std::size_t{kMostThreads} * shape.blocks),
      resumed_(kMostThreads),
      runs_(shape.blocks),
      most_runs_(shape.blocks),
      last_touch_((device_bytes / kLineBytes + 1) * sizeof(LastTouch)),
      blocks_(shape.blocks),
      buffer_counts_(buffers_.size()),
      sites_(shape.sites),
      site_buffers_(shape.sites, kNowhere),
      site_stores_(shape.sites) {}

void Trace::begin_group(std::uint32_t number, const SampledGroup* sampled, std::uint32_t threads) {
  weight_ = sampled ? sampled->weight : 0;
  number_ = sampled ? std::optional(number) : std::nullopt;
  threads_ = threads;
  groups_ += weight_ > 0;
  touches_ = 0;
  std::fill_n(counters_.begin(), std::size_t{threads} * shape_.blocks, 0u);
  std::fill_n(resumed_.begin(), threads, 0u);
}

void Trace::begin_thread(std::uint32_t index_in_group) {
  ++resumed_[index_in_group];
  requests_.begin_lane();
}

void Trace::meet() {
  requests_.finish([&](const Request& request) { count(request); });
}

void Trace::end_group() {
  if (!number_) return;
  meet();
  GroupRuns group{*number_, std::vector<std::uint64_t>(shape_.blocks)};
  for (std::uint32_t first = 0; first < threads_; first += kLanes) {
    std::fill(runs_.begin(), runs_.end(), 0u);
    std::fill(most_runs_.begin(), most_runs_.end(), 0u);
    for (std::uint32_t thread = first; thread < std::min(first + kLanes, threads_); ++thread) {
      const std::uint32_t* of_thread = counters(thread);
      for (std::uint32_t block = 0; block < shape_.blocks; ++block) {
        runs_[block] += of_thread[block];
        most_runs_[block] = std::max(most_runs_[block], of_thread[block]);
      }
    }
    for (std::uint32_t block = 0; block < shape_.blocks; ++block) {
      blocks_[block].threads += weight_ * static_cast<double>(runs_[block]);
      blocks_[block].simdgroups += weight_ * most_runs_[block];
      group.blocks[block] += most_runs_[block];
    }
  }
  if (group_runs_.size() <= kMostApart) group_runs_.push_back(std::move(group));
  for (std::uint32_t thread = 0; thread < threads_; ++thread)
    longest_chain_ = std::max(longest_chain_, std::max(resumed_[thread], 1u) - 1);
  weight_ = 0;
  number_ = std::nullopt;
}

std::int32_t Trace::buffer_at(std::uint64_t at) {
  if (last_buffer_ >= 0) {
    const TracedBuffer& last = buffers_[static_cast<std::size_t>(last_buffer_)];
    if (at - last.offset < last.bytes) return last_buffer_;
  }
  const auto after = std::upper_bound(
      buffers_.begin(), buffers_.end(), at,
      [](std::uint64_t value, const TracedBuffer& buffer) { return value < buffer.offset; });
  if (after == buffers_.begin() || at - (after - 1)->offset >= (after - 1)->bytes) return kNowhere;
  return last_buffer_ = static_cast<std::int32_t>(after - 1 - buffers_.begin());
}

void Trace::touch(std::int32_t buffer, std::uint64_t line) {
  BufferCounts& counts = buffer_counts_[static_cast<std::size_t>(buffer)];
  LastTouch& last = last_touches()[line];
  const auto group = static_cast<std::uint32_t>(groups_);
  if (last.group == group) {
    const auto k = static_cast<std::size_t>(std::bit_width(touches_ - last.at) - 1);
    counts.reuse[std::min(k, counts.reuse.size() - 1)] += weight_;
  } else {
    counts.distinct_lines += last.group == 0;
    counts.group_lines += weight_;
  }
  last = {group, ++touches_};
}

void Trace::access(MemoryKind memory, std::uint64_t at, std::uint32_t site, std::uint64_t bytes,
                   bool store) {
  if (site >= shape_.sites || bytes == 0) return;
  AccessCounts* total = &group_[store ? 1 : 0];
  if (memory == MemoryKind::device) {
    const std::int32_t buffer = buffer_at(at);
    if (buffer < 0) return;  // out of bounds: the check says so
    const auto i = static_cast<std::size_t>(buffer);
    bytes = std::min(bytes, buffers_[i].offset + buffers_[i].bytes - at);
    BufferCounts& counts = buffer_counts_[i];
    total = store ? &counts.store : constant_[i] ? &counts.constant : &counts.load;
    if (site_buffers_[site] == kNowhere) site_buffers_[site] = buffer;
  } else if (site_buffers_[site] == kNowhere) {
    site_buffers_[site] = kGroupMemory;
  }
  site_stores_[site] = store;
  for (AccessCounts* counts : {total, &sites_[site]}) {
    counts->accesses += weight_;
    counts->bytes += weight_ * static_cast<double>(bytes);
  }
  for (std::uint64_t done = 0; done < bytes; done += kWidestAccess)
    requests_.add(site, memory, store, at + done, std::min(bytes - done, kWidestAccess));
}

void Trace::count(const Request& request) {
  AccessCounts one;
  one.requests = weight_;
  const std::int32_t buffer = site_buffers_[request.site];
  const bool store = site_stores_[request.site];
  AccessCounts* total = &group_[store ? 1 : 0];
  const std::size_t units = request.units.size();
  if (request.memory == MemoryKind::device) {
    one.lines = weight_ * static_cast<double>(units);
    if (buffer < 0) return;
    const auto i = static_cast<std::size_t>(buffer);
    BufferCounts& counts = buffer_counts_[i];
    total = store ? &counts.store : constant_[i] ? &counts.constant : &counts.load;
    if (total != &counts.constant)
      request.units.each([&](std::uint64_t line) { touch(buffer, line); });
  } else {
    const std::size_t turns = request.units.most_in_a_bank();
    one.turns = weight_ * static_cast<double>(turns);
    one.extra = weight_ * static_cast<double>(turns - (units + kBanks - 1) / kBanks);
  }
  *total += one;
  sites_[request.site] += one;
}

void Trace::atomic(MemoryKind memory, std::uint64_t at, std::uint64_t bytes, bool loads,
                   bool stores) {
  const double moved = weight_ * static_cast<double>(bytes);
  if (memory == MemoryKind::group) {
    group_atomics_ += weight_;
    if (loads) group_[0].bytes += moved;
    if (stores) group_[1].bytes += moved;
    return;
  }
  const std::int32_t buffer = buffer_at(at);
  if (buffer < 0) return;
  BufferCounts& counts = buffer_counts_[static_cast<std::size_t>(buffer)];
  counts.atomics += weight_;
  if (loads) counts.load.bytes += moved;
  if (stores) counts.store.bytes += moved;
  for (std::uint64_t line = at / kLineBytes; line <= (at + bytes - 1) / kLineBytes; ++line)
    touch(buffer, line);
}

void Trace::merge_lines(std::size_t buffer, const Trace& other) {
  const TracedBuffer& of = buffers_[buffer];
  if (of.bytes == 0) return;
  for (std::size_t line = of.offset / kLineBytes; line <= (of.offset + of.bytes - 1) / kLineBytes;
       ++line) {
    if (other.last_touches()[line].group == 0 || last_touches()[line].group != 0) continue;
    last_touches()[line] = other.last_touches()[line];
    ++buffer_counts_[buffer].distinct_lines;
  }
}

void Trace::merge(const Trace& other) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].threads += other.blocks_[i].threads;
    blocks_[i].simdgroups += other.blocks_[i].simdgroups;
  }
  for (std::size_t i = 0; i < buffer_counts_.size(); ++i) {
    BufferCounts& to = buffer_counts_[i];
    const BufferCounts& from = other.buffer_counts_[i];
    to.load += from.load;
    to.store += from.store;
    to.constant += from.constant;
    to.atomics += from.atomics;
    to.group_lines += from.group_lines;
    for (std::size_t k = 0; k < to.reuse.size(); ++k) to.reuse[k] += from.reuse[k];
    merge_lines(i, other);
  }
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i] += other.sites_[i];
    if (site_buffers_[i] == kNowhere) site_buffers_[i] = other.site_buffers_[i];
  }
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] += other.group_[i];
  group_atomics_ += other.group_atomics_;
  longest_chain_ = std::max(longest_chain_, other.longest_chain_);
  groups_ += other.groups_;
  group_runs_.insert(group_runs_.end(), other.group_runs_.begin(), other.group_runs_.end());
  std::ranges::sort(group_runs_, {}, &GroupRuns::number);
}

}  // namespace ksearch::simt
