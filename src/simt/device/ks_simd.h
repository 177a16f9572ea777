// Operations of a SIMD-group and of quads: every lane posts its value, the last one to come
// computes the results of all lanes that take part. Reductions, votes and scans see those lanes
// only; a shuffle from any other lane gives a value that is not defined, and says so to the engine.
#pragma once
#include "ks_integer.h"
#include "ks_lanes.h"
#include "ks_sync.h"

namespace ks {

struct Larger {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return metal::max(a, b);
  }
};
struct Smaller {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return metal::min(a, b);
  }
};
template <class Op, class T>
void resolve_quad_reduce(Post* const* lanes, u32 mask) {
  for (u32 quad = 0; quad < 8; ++quad)
    if (const u32 part = mask & (15u << (4 * quad))) resolve_reduce<Op, T>(lanes, part);
}
template <class Op, class T, bool inclusive>
void resolve_quad_scan(Post* const* lanes, u32 mask) {
  for (u32 quad = 0; quad < 8; ++quad)
    if (const u32 part = mask & (15u << (4 * quad))) resolve_scan<Op, T, inclusive>(lanes, part);
}
template <class T>
void resolve_quad_first(Post* const* lanes, u32 mask) {
  for (u32 quad = 0; quad < 8; ++quad)
    if (const u32 part = mask & (15u << (4 * quad))) resolve_first<T>(lanes, part);
}
/// A value and what is shifted in where there is none.
template <class T>
struct Filled {
  T value, fill;
};
/// source: the lane, plus 32 where its fill is meant.
template <class T>
void resolve_filled(Post* const* lanes, u32 mask) {
  each_lane(mask, [&](u32 l) {
    const u32 from = post_source(lanes, l) & 31u;
    if (mask >> from & 1u) {
      const Filled<T>& post = posted<Filled<T>>(lanes, from);
      answer<T>(lanes, l, post_source(lanes, l) < 32 ? post.value : post.fill);
    } else {
      this_engine()->undefined_lane(post_out(lanes, l), sizeof(T), l);
    }
  });
}

template <class T>
METAL_FUNC T shuffle(T value, u32 source) {
  return exchange<T>(value, &resolve_shuffle<T>, source);
}
inline constexpr u32 kNoLane = 99;

}  // namespace ks

namespace metal {

#define KS_REDUCE(name, Op)                                         \
  template <class T>                                                \
  METAL_FUNC T simd_##name(T value) {                               \
    return ks::exchange<T>(value, &ks::resolve_reduce<Op, T>);      \
  }                                                                 \
  template <class T>                                                \
  METAL_FUNC T quad_##name(T value) {                               \
    return ks::exchange<T>(value, &ks::resolve_quad_reduce<Op, T>); \
  }
KS_REDUCE(sum, ks::Add)
KS_REDUCE(product, ks::Multiply)
KS_REDUCE(max, ks::Larger)
KS_REDUCE(min, ks::Smaller)
KS_REDUCE(and, ks::And)
KS_REDUCE(or, ks::Or)
KS_REDUCE(xor, ks::Xor)

#define KS_SCAN(name, Op, inclusive)                                         \
  template <class T>                                                         \
  METAL_FUNC T simd_prefix_##name(T value) {                                 \
    return ks::exchange<T>(value, &ks::resolve_scan<Op, T, inclusive>);      \
  }                                                                          \
  template <class T>                                                         \
  METAL_FUNC T quad_prefix_##name(T value) {                                 \
    return ks::exchange<T>(value, &ks::resolve_quad_scan<Op, T, inclusive>); \
  }
KS_SCAN(inclusive_sum, ks::Add, true)
KS_SCAN(inclusive_product, ks::Multiply, true)
KS_SCAN(exclusive_sum, ks::Add, false)
KS_SCAN(exclusive_product, ks::Multiply, false)

template <class T>
METAL_FUNC T simd_shuffle(T value, ushort source) {
  return ks::shuffle(value, source);
}
template <class T>
METAL_FUNC T simd_broadcast(T value, ushort source) {
  return ks::shuffle(value, source);
}
template <class T>
METAL_FUNC T simd_shuffle_xor(T value, ushort mask) {
  return ks::shuffle(value, ks::own_lane() ^ mask);
}
template <class T>
METAL_FUNC T simd_shuffle_down(T value, ushort delta) {
  return ks::shuffle(value, ks::own_lane() + delta);
}
template <class T>
METAL_FUNC T simd_shuffle_up(T value, ushort delta) {
  return ks::shuffle(value, ks::own_lane() - delta);  // below 0: far above 31
}
template <class T>
METAL_FUNC T simd_shuffle_rotate_down(T value, ushort delta) {
  return ks::shuffle(value, (ks::own_lane() + delta) & 31u);
}
template <class T>
METAL_FUNC T simd_shuffle_rotate_up(T value, ushort delta) {
  return ks::shuffle(value, (ks::own_lane() - delta) & 31u);
}
template <class T>
METAL_FUNC T simd_shuffle_and_fill_up(T value, T fill, ushort delta, ushort modulo = 32) {
  const uint lane = ks::own_lane(), within = lane % modulo, block = lane - within;
  const uint source =
      within >= delta ? lane - delta : 32 + block + (within + modulo - delta) % modulo;
  return ks::exchange<T>(ks::Filled<T>{value, fill}, &ks::resolve_filled<T>, source);
}
template <class T>
METAL_FUNC T simd_shuffle_and_fill_down(T value, T fill, ushort delta, ushort modulo = 32) {
  const uint lane = ks::own_lane(), within = lane % modulo, block = lane - within;
  const uint source =
      within + delta < modulo ? lane + delta : 32 + block + (within + delta) % modulo;
  return ks::exchange<T>(ks::Filled<T>{value, fill}, &ks::resolve_filled<T>, source);
}
template <class T>
METAL_FUNC T simd_broadcast_first(T value) {
  return ks::exchange<T>(value, &ks::resolve_first<T>);
}

class simd_vote {
 public:
  using vote_t = ulong;
  METAL_FUNC explicit constexpr simd_vote(vote_t votes = 0) : votes_(votes) {}
  METAL_FUNC constexpr explicit operator vote_t() const { return votes_; }
  METAL_FUNC constexpr bool any() const { return votes_ != 0; }
  METAL_FUNC constexpr bool all() const { return (votes_ & 0xffffffffu) == 0xffffffffu; }

 private:
  vote_t votes_;
};
METAL_FUNC simd_vote simd_ballot(bool value) { return simd_vote(ks::vote(value).yes); }
METAL_FUNC simd_vote simd_active_threads_mask() { return simd_vote(ks::vote(true).active); }
METAL_FUNC bool simd_any(bool value) { return ks::vote(value).yes != 0; }
METAL_FUNC bool simd_all(bool value) {
  const ks::Votes votes = ks::vote(value);
  return votes.yes == votes.active;
}
METAL_FUNC bool simd_is_first() {
  return ks::own_lane() == uint(__builtin_ctz(ks::vote(true).active));
}

template <class T>
METAL_FUNC T quad_shuffle(T value, ushort source) {
  return ks::shuffle(value, source < 4 ? (ks::own_lane() & ~3u) + source : ks::kNoLane);
}
template <class T>
METAL_FUNC T quad_broadcast(T value, ushort source) {
  return quad_shuffle(value, source);
}
template <class T>
METAL_FUNC T quad_shuffle_xor(T value, ushort mask) {
  return ks::shuffle(value, mask < 4 ? ks::own_lane() ^ mask : ks::kNoLane);
}
template <class T>
METAL_FUNC T quad_shuffle_down(T value, ushort delta) {
  const uint lane = ks::own_lane();
  return ks::shuffle(value, (lane & 3u) + delta < 4 ? lane + delta : ks::kNoLane);
}
template <class T>
METAL_FUNC T quad_shuffle_up(T value, ushort delta) {
  const uint lane = ks::own_lane();
  return ks::shuffle(value, (lane & 3u) >= delta ? lane - delta : ks::kNoLane);
}

template <class T>
METAL_FUNC T quad_shuffle_rotate_down(T value, ushort delta) {
  const uint lane = ks::own_lane();
  return ks::shuffle(value, (lane & ~3u) + ((lane + delta) & 3u));
}
template <class T>
METAL_FUNC T quad_shuffle_rotate_up(T value, ushort delta) {
  const uint lane = ks::own_lane();
  return ks::shuffle(value, (lane & ~3u) + ((lane - delta) & 3u));
}
template <class T>
METAL_FUNC T quad_shuffle_and_fill_up(T value, T fill, ushort delta, ushort modulo = 4) {
  return simd_shuffle_and_fill_up(value, fill, delta, modulo);
}
template <class T>
METAL_FUNC T quad_shuffle_and_fill_down(T value, T fill, ushort delta, ushort modulo = 4) {
  return simd_shuffle_and_fill_down(value, fill, delta, modulo);
}
template <class T>
METAL_FUNC T quad_broadcast_first(T value) {
  return ks::exchange<T>(value, &ks::resolve_quad_first<T>);
}

class quad_vote {
 public:
  using vote_t = uint;
  METAL_FUNC explicit constexpr quad_vote(vote_t votes = 0) : votes_(votes) {}
  METAL_FUNC constexpr explicit operator vote_t() const { return votes_; }
  METAL_FUNC constexpr bool any() const { return votes_ != 0; }
  METAL_FUNC constexpr bool all() const { return votes_ == 15u; }

 private:
  vote_t votes_;
};

}  // namespace metal

namespace ks {

/// The votes of the lane's own quad.
METAL_FUNC Votes quad_votes(bool value) {
  const Votes votes = vote(value);
  const u32 shift = own_lane() & ~3u;
  return {votes.yes >> shift & 15u, votes.active >> shift & 15u};
}

}  // namespace ks

namespace metal {

METAL_FUNC quad_vote quad_ballot(bool value) { return quad_vote(ks::quad_votes(value).yes); }
METAL_FUNC quad_vote quad_active_threads_mask() { return quad_vote(ks::quad_votes(true).active); }
METAL_FUNC bool quad_any(bool value) { return ks::quad_votes(value).yes != 0; }
METAL_FUNC bool quad_all(bool value) {
  const ks::Votes votes = ks::quad_votes(value);
  return votes.yes == votes.active;
}
METAL_FUNC bool quad_is_first() {
  return (ks::own_lane() & 3u) == uint(__builtin_ctz(ks::quad_votes(true).active));
}

}  // namespace metal
