// Operations of a warp that name the lanes they wait for, barriers, fences, atomics.
#pragma once
#include "ks_atomic_update.h"
#include "ks_cuda_half.h"

namespace ks {

inline constexpr u32 kOutside = 99;  // a lane that is not there

template <class T>
METAL_FUNC T shuffle_from(u32 mask, T value, u32 source) {
  return exchange<T>(value, &resolve_shuffle<T>, source, mask);
}
struct Least {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return a < b ? b : a;
  }
};
METAL_FUNC Votes vote_in(u32 mask, bool value) {
  return exchange<Votes>(value, &resolve_vote, 0, mask);
}

/// For each lane the lanes that posted the same value.
template <class T>
void resolve_match(Post* const* lanes, u32 mask) {
  each_lane(mask, [&](u32 l) {
    u32 same = 0;
    each_lane(mask, [&](u32 k) {
      if (posted<T>(lanes, k) == posted<T>(lanes, l)) same |= 1u << k;
    });
    answer<Votes>(lanes, l, Votes{same, mask});
  });
}

// What the engine writes into the barrier, the instrumentation does not see: read it
// uninstrumented.
KS_PLAIN __attribute__((noinline)) inline u64 block_vote(bool predicate) {
  BlockBarrier barrier{0, 0, true, true, predicate, KS_HERE, 0, 0};
  engine->block_barrier(&barrier);
  return u64(barrier.all) << 32 | barrier.yes;
}
KS_PLAIN __attribute__((noinline)) inline void meet_at_barrier(u32 id, u32 threads, bool waits,
                                                               bool one_place) {
  BlockBarrier barrier{id, threads, waits, one_place, false, KS_HERE, 0, 0};
  engine->block_barrier(&barrier);
}

}  // namespace ks

METAL_FUNC void __syncthreads() { ks::meet_at_barrier(0, 0, true, true); }
METAL_FUNC int __syncthreads_count(int predicate) { return int(ks::block_vote(predicate != 0)); }
METAL_FUNC int __syncthreads_or(int predicate) { return int(ks::block_vote(predicate != 0)) != 0; }
METAL_FUNC int __syncthreads_and(int predicate) {
  const ks::u64 votes = ks::block_vote(predicate != 0);
  return int(votes) == int(votes >> 32);
}
METAL_FUNC void __syncwarp(unsigned mask = 0xffffffffu) {
  const ks::Engine* const e = ks::this_engine();
  [[clang::nomerge]] e->warp_barrier(mask);
}
METAL_FUNC void __threadfence() { ks::this_engine()->fence(); }
METAL_FUNC void __threadfence_block() {}
METAL_FUNC void __threadfence_system() { ks::this_engine()->fence(); }
METAL_FUNC void __nanosleep(unsigned) { ks::this_engine()->yield(); }
METAL_FUNC unsigned __activemask() { return ks::vote(true).active; }

#define KS_SHUFFLES(T)                                                                             \
  METAL_FUNC T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {                     \
    const unsigned own = ks_lane_id(), first = own & ~unsigned(width - 1);                         \
    return ks::shuffle_from<T>(mask, value, first + (unsigned(lane) & unsigned(width - 1)));       \
  }                                                                                                \
  METAL_FUNC T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {            \
    const unsigned own = ks_lane_id(), within = own & unsigned(width - 1);                         \
    return ks::shuffle_from<T>(mask, value, within >= delta ? own - delta : own);                  \
  }                                                                                                \
  METAL_FUNC T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {          \
    const unsigned own = ks_lane_id(), within = own & unsigned(width - 1);                         \
    return ks::shuffle_from<T>(mask, value, within + delta < unsigned(width) ? own + delta : own); \
  }                                                                                                \
  METAL_FUNC T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {                \
    const unsigned own = ks_lane_id(), from = own ^ unsigned(lanes);                               \
    return ks::shuffle_from<T>(mask, value, from <= (own | unsigned(width - 1)) ? from : own);     \
  }
KS_SHUFFLES(int)
KS_SHUFFLES(unsigned)
KS_SHUFFLES(long)
KS_SHUFFLES(unsigned long)
KS_SHUFFLES(long long)
KS_SHUFFLES(unsigned long long)
KS_SHUFFLES(float)
KS_SHUFFLES(double)
KS_SHUFFLES(__half)
KS_SHUFFLES(__half2)
KS_SHUFFLES(__nv_bfloat16)
KS_SHUFFLES(__nv_bfloat162)
#undef KS_SHUFFLES

METAL_FUNC unsigned __ballot_sync(unsigned mask, int value) {
  return ks::vote_in(mask, value != 0).yes;
}
METAL_FUNC int __any_sync(unsigned mask, int value) {
  return ks::vote_in(mask, value != 0).yes != 0;
}
METAL_FUNC int __all_sync(unsigned mask, int value) {
  const ks::Votes votes = ks::vote_in(mask, value != 0);
  return votes.yes == votes.active;
}
METAL_FUNC int __uni_sync(unsigned mask, int value) {
  const ks::Votes votes = ks::vote_in(mask, value != 0);
  return votes.yes == 0 || votes.yes == votes.active;
}
#define KS_REDUCE(name, Op, T)                                              \
  METAL_FUNC T __reduce_##name##_sync(unsigned mask, T value) {             \
    return ks::exchange<T>(value, &ks::resolve_reduce<ks::Op, T>, 0, mask); \
  }
KS_REDUCE(add, Add, int)
KS_REDUCE(add, Add, unsigned)
KS_REDUCE(min, Least, int)
KS_REDUCE(min, Least, unsigned)
KS_REDUCE(max, Greatest, int)
KS_REDUCE(max, Greatest, unsigned)
KS_REDUCE(and, And, unsigned)
KS_REDUCE(or, Or, unsigned)
KS_REDUCE(xor, Xor, unsigned)
#undef KS_REDUCE
template <class T>
METAL_FUNC unsigned __match_any_sync(unsigned mask, T value) {
  return ks::exchange<ks::Votes>(value, &ks::resolve_match<T>, 0, mask).yes;
}
template <class T>
METAL_FUNC unsigned __match_all_sync(unsigned mask, T value, int* same) {
  const ks::Votes votes = ks::exchange<ks::Votes>(value, &ks::resolve_match<T>, 0, mask);
  *same = votes.yes == votes.active;
  return *same ? votes.active : 0;
}

namespace ks {
/// A value leaves for memory that is not instrumented: whether it is defined shows in a branch.
template <class T>
METAL_FUNC T used(T value) {
  using Bits =
      std::conditional_t<sizeof(T) == 8, u64, std::conditional_t<sizeof(T) == 4, u32, u16>>;
  if (__builtin_bit_cast(Bits, value) == Bits(0x9e3779b97f4a7c15ul)) asm volatile("");
  return value;
}
}  // namespace ks

// Atomics.
#define KS_ATOMIC(name, Change, T)                                                      \
  METAL_FUNC T atomic##name(T* at, T value) {                                           \
    return ks::atomic_update(at, ks::Change<T>{ks::used(value)});                       \
  }                                                                                     \
  METAL_FUNC T atomic##name##_block(T* at, T value) { return atomic##name(at, value); } \
  METAL_FUNC T atomic##name##_system(T* at, T value) { return atomic##name(at, value); }
#define KS_ATOMIC_WHOLE(T)   \
  KS_ATOMIC(Add, AddTo, T)   \
  KS_ATOMIC(Exch, SetTo, T)  \
  KS_ATOMIC(Min, MinWith, T) \
  KS_ATOMIC(Max, MaxWith, T) \
  KS_ATOMIC(And, AndWith, T) \
  KS_ATOMIC(Or, OrWith, T)   \
  KS_ATOMIC(Xor, XorWith, T)
KS_ATOMIC_WHOLE(int)
KS_ATOMIC_WHOLE(unsigned)
KS_ATOMIC_WHOLE(unsigned long long)
KS_ATOMIC_WHOLE(long long)
KS_ATOMIC_WHOLE(unsigned long)
KS_ATOMIC(Sub, SubtractFrom, int)
KS_ATOMIC(Sub, SubtractFrom, unsigned)
KS_ATOMIC(Add, AddTo, float)
KS_ATOMIC(Add, AddTo, double)
KS_ATOMIC(Add, AddTo, __half)
KS_ATOMIC(Add, AddTo, __half2)
KS_ATOMIC(Add, AddTo, __nv_bfloat16)
KS_ATOMIC(Add, AddTo, __nv_bfloat162)
KS_ATOMIC(Exch, SetTo, float)
namespace ks {
KS_CHANGE(CountUp, old >= with ? T(0) : old + 1)
KS_CHANGE(CountDown, old == 0 || old > with ? with : old - 1)
}  // namespace ks
KS_ATOMIC(Inc, CountUp, unsigned)
KS_ATOMIC(Dec, CountDown, unsigned)
#undef KS_ATOMIC
#undef KS_ATOMIC_WHOLE
#define KS_ATOMIC_CAS(T)                                                                 \
  METAL_FUNC T atomicCAS(T* at, T expected, T wanted) {                                  \
    return ks::atomic_compare(at, ks::used(expected), ks::used(wanted));                 \
  }                                                                                      \
  METAL_FUNC T atomicCAS_block(T* at, T e, T w) { return ks::atomic_compare(at, e, w); } \
  METAL_FUNC T atomicCAS_system(T* at, T e, T w) { return ks::atomic_compare(at, e, w); }
KS_ATOMIC_CAS(int)
KS_ATOMIC_CAS(unsigned)
KS_ATOMIC_CAS(unsigned long long)
KS_ATOMIC_CAS(long long)
KS_ATOMIC_CAS(unsigned long)
KS_ATOMIC_CAS(unsigned short)
#undef KS_ATOMIC_CAS

// Loads and stores with a hint for the caches.
#define KS_HINTED_LOAD(name)       \
  template <class T>               \
  METAL_FUNC T name(const T* at) { \
    return ks::ref(at);            \
  }
KS_HINTED_LOAD(__ldg)
KS_HINTED_LOAD(__ldca)
KS_HINTED_LOAD(__ldcg)
KS_HINTED_LOAD(__ldcs)
KS_HINTED_LOAD(__ldcv)
KS_HINTED_LOAD(__ldlu)
#undef KS_HINTED_LOAD
#define KS_HINTED_STORE(name)            \
  template <class T>                     \
  METAL_FUNC void name(T* at, T value) { \
    ks::ref(at) = value;                 \
  }
KS_HINTED_STORE(__stcg)
KS_HINTED_STORE(__stcs)
KS_HINTED_STORE(__stwb)
KS_HINTED_STORE(__stwt)
#undef KS_HINTED_STORE

METAL_FUNC void __trap() { __builtin_trap(); }
METAL_FUNC void __brkpt() {}
METAL_FUNC void __assume(bool) {}
template <class... A>
METAL_FUNC int printf(const char*, const A&...) {
  return 0;
}
/// Time stands still here: nothing is measured.
METAL_FUNC long long clock64() { return 0; }
METAL_FUNC long clock() { return 0; }

METAL_FUNC size_t __cvta_generic_to_shared(const void* at) {
  return size_t((const char*)at - (const char*)ks::this_engine()->group_memory());
}
METAL_FUNC void* __cvta_shared_to_generic(size_t at) {
  return (char*)ks::this_engine()->group_memory() + at;
}
METAL_FUNC size_t __cvta_generic_to_global(const void* at) { return size_t(at); }

// What is not here, by name: using one is an error at its line.
#define KS_ABSENT(name, what) \
  template <class... A>       \
  __attribute__((unavailable(what " are not supported by check"))) int name(A&&...);
KS_ABSENT(tex1D, "textures")
KS_ABSENT(tex2D, "textures")
KS_ABSENT(tex3D, "textures")
KS_ABSENT(tex1Dfetch, "textures")
KS_ABSENT(surf2Dread, "surfaces")
KS_ABSENT(surf2Dwrite, "surfaces")
KS_ABSENT(malloc, "allocations in a kernel")
KS_ABSENT(free, "allocations in a kernel")
#undef KS_ABSENT
