// cooperative_groups: the block, tiles of a warp, the lanes that are active. Clusters, and waiting
// for the whole grid, are not there.
#pragma once
#include "ks_cuda_warp.h"

namespace cooperative_groups {

/// Lanes of one warp that a mask names; ranks go by lane.
class ks_lanes {
 public:
  METAL_FUNC explicit ks_lanes(unsigned mask) : mask_(mask) {}
  METAL_FUNC void sync() const { __syncwarp(mask_); }
  METAL_FUNC unsigned ks_mask() const { return mask_; }
  METAL_FUNC unsigned size() const { return unsigned(__popc(mask_)); }
  METAL_FUNC unsigned num_threads() const { return size(); }
  METAL_FUNC unsigned thread_rank() const {
    return unsigned(__popc(mask_ & ((1u << ks_lane_id()) - 1u)));
  }
  template <class T>
  METAL_FUNC T shfl(T value, int rank) const {
    return ks::shuffle_from<T>(mask_, value, lane_of(unsigned(rank) % size()));
  }
  template <class T>
  METAL_FUNC T shfl_up(T value, unsigned delta) const {
    const unsigned own = thread_rank();
    return ks::shuffle_from<T>(mask_, value, lane_of(own >= delta ? own - delta : own));
  }
  template <class T>
  METAL_FUNC T shfl_down(T value, unsigned delta) const {
    const unsigned own = thread_rank();
    return ks::shuffle_from<T>(mask_, value, lane_of(own + delta < size() ? own + delta : own));
  }
  METAL_FUNC int any(int value) const { return __any_sync(mask_, value); }
  METAL_FUNC int all(int value) const { return __all_sync(mask_, value); }
  METAL_FUNC unsigned ballot(int value) const { return packed(__ballot_sync(mask_, value)); }
  template <class T>
  METAL_FUNC unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  METAL_FUNC unsigned match_all(T value, int& same) const {
    return packed(__match_all_sync(mask_, value, &same));
  }

 protected:
  METAL_FUNC unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (unsigned i = 0; i < rank; ++i) rest &= rest - 1;
    return rest == 0 ? ks::kOutside : unsigned(__builtin_ctz(rest));
  }
  /// Bits by lane to bits by rank.
  METAL_FUNC unsigned packed(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      if (lanes & rest & -rest) result |= 1u << rank;
    return result;
  }
  unsigned mask_;
};

class thread_block {
 public:
  METAL_FUNC static void sync() { __syncthreads(); }
  METAL_FUNC static unsigned thread_rank() { return ks_thread_rank(); }
  METAL_FUNC static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  METAL_FUNC static unsigned num_threads() { return size(); }
  METAL_FUNC static dim3 group_index() { return blockIdx; }
  METAL_FUNC static dim3 thread_index() { return threadIdx; }
  METAL_FUNC static dim3 group_dim() { return blockDim; }
  METAL_FUNC static dim3 dim_threads() { return blockDim; }
};
METAL_FUNC thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  METAL_FUNC static unsigned long long thread_rank() {
    const unsigned long long block =
        (unsigned long long)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * thread_block::size() + ks_thread_rank();
  }
  METAL_FUNC static unsigned long long size() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size();
  }
  METAL_FUNC static unsigned long long num_threads() { return size(); }
  METAL_FUNC static dim3 group_dim() { return gridDim; }
  METAL_FUNC static bool is_valid() { return true; }
  __attribute__((unavailable("waiting for the whole grid is not supported by check"))) void sync()
      const;
};
METAL_FUNC grid_group this_grid() { return {}; }

/// A tile whose size is known when the kernel runs, and the base of those known before.
class thread_group : public ks_lanes {
 public:
  METAL_FUNC explicit thread_group(unsigned size)
      : ks_lanes((size >= 32 ? 0xffffffffu : (1u << size) - 1u) << (ks_lane_id() & ~(size - 1u))) {}
};

template <unsigned n, class Parent = thread_block>
class thread_block_tile : public thread_group {
  static_assert(n <= 32 && (n & (n - 1)) == 0,
                "tiles of more than a warp are not supported by check");

 public:
  METAL_FUNC thread_block_tile() : thread_group(n) {}
  template <class P>
  METAL_FUNC thread_block_tile(const thread_block_tile<n, P>&) : thread_group(n) {}
  METAL_FUNC static constexpr unsigned size() { return n; }
  METAL_FUNC static constexpr unsigned num_threads() { return n; }
  METAL_FUNC static unsigned thread_rank() { return ks_lane_id() & (n - 1u); }
  METAL_FUNC static unsigned meta_group_rank() { return ks_thread_rank() / n; }
  METAL_FUNC static unsigned meta_group_size() { return (thread_block::size() + n - 1u) / n; }
  template <class T>
  METAL_FUNC T shfl(T value, int rank) const {
    return ks::shuffle_from<T>(mask_, value, first() + (unsigned(rank) & (n - 1u)));
  }
  template <class T>
  METAL_FUNC T shfl_xor(T value, unsigned lanes) const {
    const unsigned own = thread_rank(), from = own ^ lanes;
    return ks::shuffle_from<T>(mask_, value, first() + (from < n ? from : own));
  }
  template <class T>
  METAL_FUNC T shfl_up(T value, unsigned delta) const {
    const unsigned own = thread_rank();
    return ks::shuffle_from<T>(mask_, value, first() + (own >= delta ? own - delta : own));
  }
  template <class T>
  METAL_FUNC T shfl_down(T value, unsigned delta) const {
    const unsigned own = thread_rank();
    return ks::shuffle_from<T>(mask_, value, first() + (own + delta < n ? own + delta : own));
  }

 private:
  METAL_FUNC static unsigned first() { return ks_lane_id() & ~(n - 1u); }
};
template <unsigned n, class Parent>
METAL_FUNC thread_block_tile<n, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Parent>
METAL_FUNC thread_group tiled_partition(const Parent&, unsigned size) {
  return thread_group(size);
}

class coalesced_group : public ks_lanes {
 public:
  METAL_FUNC explicit coalesced_group(unsigned mask) : ks_lanes(mask) {}
  METAL_FUNC static unsigned meta_group_rank() { return 0; }
  METAL_FUNC static unsigned meta_group_size() { return 1; }
};
METAL_FUNC coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <class Group>
METAL_FUNC coalesced_group binary_partition(const Group& group, bool value) {
  const unsigned yes = __ballot_sync(group.ks_mask(), value);
  return coalesced_group(value ? yes : group.ks_mask() & ~yes);
}
template <class Group, class T>
METAL_FUNC coalesced_group labeled_partition(const Group& group, T label) {
  return coalesced_group(__match_any_sync(group.ks_mask(), label));
}

template <class Group>
METAL_FUNC void sync(const Group& group) {
  group.sync();
}

template <class T = void>
struct plus : std::plus<T> {};
template <class T = void>
struct bit_and : std::bit_and<T> {};
template <class T = void>
struct bit_or : std::bit_or<T> {};
template <class T = void>
struct bit_xor : std::bit_xor<T> {};
template <class T = void>
struct less {
  template <class U>
  METAL_FUNC U operator()(const U& a, const U& b) const {
    return b < a ? b : a;
  }
};
template <class T = void>
struct greater {
  template <class U>
  METAL_FUNC U operator()(const U& a, const U& b) const {
    return a < b ? b : a;
  }
};

}  // namespace cooperative_groups

namespace ks {
/// A value and how it is combined: the operator may be the user's, and hold something.
template <class T, class Op>
struct Combined {
  T value;
  Op op;
};
template <class T, class Op>
void resolve_combine(Post* const* lanes, u32 mask) {
  using In = Combined<T, Op>;
  T total = posted<In>(lanes, u32(__builtin_ctz(mask))).value;
  each_lane(mask & (mask - 1), [&](u32 l) {
    const In& in = posted<In>(lanes, l);
    Op op = in.op;
    total = T(op(total, in.value));
  });
  each_lane(mask, [&](u32 l) { answer<T>(lanes, l, total); });
}
template <class T, class Op, bool inclusive>
void resolve_combine_scan(Post* const* lanes, u32 mask) {
  using In = Combined<T, Op>;
  T total{};
  bool first = true;
  each_lane(mask, [&](u32 l) {
    const In& in = posted<In>(lanes, l);
    const T before = total;
    Op op = in.op;
    total = first ? in.value : T(op(total, in.value));
    first = false;
    answer<T>(lanes, l, inclusive ? total : before);
  });
}
}  // namespace ks

namespace cooperative_groups {
template <class Group, class T, class Op>
METAL_FUNC auto reduce(const Group& group, T value, Op op) {
  using U = __remove_cvref(T);
  return ks::exchange<U>(ks::Combined<U, Op>{value, op}, &ks::resolve_combine<U, Op>, 0,
                         group.ks_mask());
}
template <class Group, class T, class Op = plus<T>>
METAL_FUNC auto inclusive_scan(const Group& group, T value, Op op = {}) {
  using U = __remove_cvref(T);
  return ks::exchange<U>(ks::Combined<U, Op>{value, op}, &ks::resolve_combine_scan<U, Op, true>, 0,
                         group.ks_mask());
}
template <class Group, class T, class Op = plus<T>>
METAL_FUNC auto exclusive_scan(const Group& group, T value, Op op = {}) {
  using U = __remove_cvref(T);
  return ks::exchange<U>(ks::Combined<U, Op>{value, op}, &ks::resolve_combine_scan<U, Op, false>, 0,
                         group.ks_mask());
}
}  // namespace cooperative_groups
