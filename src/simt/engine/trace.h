// What the traced groups of a launch do: how often each block runs, what memory is asked for. Sums,
// weighted by the groups that a traced one stands for. One a thread of the machine; `merge` adds
// another one's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simt/engine/requests.h"
#include "simt/engine/sample.h"

namespace ksearch::simt {

/// What a trace knows of a kernel before it runs.
struct TraceShape {
  std::uint32_t blocks = 0;  ///< that count their runs
  std::uint32_t sites = 0;   ///< that access memory
};

/// Accesses of one kind, of a place in the source or of a buffer.
struct AccessCounts {
  double accesses = 0;  ///< of threads
  double bytes = 0;
  double requests = 0;
  double lines = 0;  ///< device: 128 bytes each
  double turns = 0;  ///< threadgroup: a turn serves a word of each bank
  double extra = 0;  ///< turns that requests took for words in the same bank
  AccessCounts& operator+=(const AccessCounts& other);
};

struct BlockCounts {
  double threads = 0;     ///< runs, added over threads
  double simdgroups = 0;  ///< of each SIMD-group the lane that ran it most
};

/// Of a buffer, as bound in one way.
struct BufferCounts {
  AccessCounts load, store, constant;
  double atomics = 0;         ///< their bytes count as loaded, stored or both
  double group_lines = 0;     ///< lines that a group touches, added over groups
  double distinct_lines = 0;  ///< that traced groups touched at least once
  /// Touches of a line that the group had touched before: entry k by how many touches of any line
  /// ago that was, 2^k up to 2^(k + 1). A cache of so many lines would still have it.
  std::array<double, 16> reuse{};
};

/// How often the blocks of one traced group ran, added over SIMD-groups.
struct GroupRuns {
  std::uint32_t number = 0;
  std::vector<std::uint64_t> blocks;
};

struct TracedBuffer {
  std::size_t offset = 0, bytes = 0;  ///< in device memory
};

class Trace {
 public:
  static constexpr std::uint32_t kMostThreads = 1024;
  static constexpr std::size_t kMostApart = 8;  ///< groups whose runs are kept apart
  static constexpr std::int32_t kGroupMemory = -1, kNowhere = -2;

  Trace(TraceShape shape, std::vector<TracedBuffer> buffers, std::size_t device_bytes);

  /// Which buffers are bound to `constant` parameters from now on.
  void begin_launch(std::vector<bool> constant) { constant_ = std::move(constant); }
  /// Nothing: it runs, and is not traced.
  void begin_group(std::uint32_t number, const SampledGroup* sampled, std::uint32_t threads);
  bool tracing() const { return weight_ > 0; }
  /// A thread runs from now on, until the next call of this or `meet`.
  void begin_thread(std::uint32_t index_in_group);
  /// All lanes of the SIMD-group that could run have run to where they wait.
  void meet();
  void end_group();

  void access(MemoryKind memory, std::uint64_t at, std::uint32_t site, std::uint64_t bytes,
              bool store);
  void atomic(MemoryKind memory, std::uint64_t at, std::uint64_t bytes, bool loads, bool stores);
  std::uint32_t* counters(std::uint32_t index_in_group) {
    return counters_.data() + std::size_t{index_in_group} * shape_.blocks;
  }
  void merge(const Trace& other);

  const std::vector<BlockCounts>& blocks() const { return blocks_; }
  const std::vector<BufferCounts>& buffers() const { return buffer_counts_; }
  const AccessCounts& group_load() const { return group_[0]; }
  const AccessCounts& group_store() const { return group_[1]; }
  double group_atomics() const { return group_atomics_; }
  const std::vector<AccessCounts>& sites() const { return sites_; }
  /// The buffer that a site accesses (the first one), or kGroupMemory, or kNowhere.
  const std::vector<std::int32_t>& site_buffers() const { return site_buffers_; }
  std::uint32_t longest_chain() const { return longest_chain_; }
  std::uint64_t groups() const { return groups_; }
  /// Of each traced group, in order of number; of some where there are more than kMostApart.
  const std::vector<GroupRuns>& group_runs() const { return group_runs_; }

 private:
  void count(const Request& request);
  std::int32_t buffer_at(std::uint64_t at);
  void touch(std::int32_t buffer, std::uint64_t line);
  void merge_lines(std::size_t buffer, const Trace& other);
  /// When a line was touched last: by which group, and how many touches of that group before.
  struct LastTouch {
    std::uint32_t group = 0, at = 0;
  };
  LastTouch* last_touches() const { return reinterpret_cast<LastTouch*>(last_touch_.data()); }

  TraceShape shape_;
  std::vector<TracedBuffer> buffers_;
  std::vector<bool> constant_;
  std::int32_t last_buffer_ = kNowhere;
  Requests requests_;
  double weight_ = 0;
  std::optional<std::uint32_t> number_;  ///< of the group, where its runs are counted
  std::uint32_t threads_ = 0;
  std::vector<std::uint32_t> counters_, resumed_;
  std::vector<std::uint64_t> runs_;
  std::vector<std::uint32_t> most_runs_;
  Pages last_touch_;           ///< a LastTouch for each line
  std::uint32_t touches_ = 0;  ///< of lines, by this group

  std::vector<BlockCounts> blocks_;
  std::vector<BufferCounts> buffer_counts_;
  std::array<AccessCounts, 2> group_{};
  std::vector<AccessCounts> sites_;
  std::vector<std::int32_t> site_buffers_;
  std::vector<bool> site_stores_;
  double group_atomics_ = 0;
  std::uint32_t longest_chain_ = 0;
  std::uint64_t groups_ = 0;
  std::vector<GroupRuns> group_runs_;
};

}  // namespace ksearch::simt
