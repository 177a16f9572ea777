// Atomics of Metal: 32-bit int, uint, float and bool, memory_order_relaxed.
#pragma once
#include "ks_atomic_update.h"
#include "ks_integer.h"
#include "ks_sync.h"

namespace metal {

template <class T>
struct atomic {
  T held;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_ulong = atomic<ulong>;

template <class T>
METAL_FUNC T atomic_load_explicit(const volatile atomic<T>* at, memory_order) {
  return ks::atomic_load(&at->held);
}
template <class T, class U>
METAL_FUNC void atomic_store_explicit(volatile atomic<T>* at, U value, memory_order) {
  ks::atomic_store(&at->held, T(value));
}
#define KS_FETCH(name, Change)                                                           \
  template <class T, class U>                                                            \
  METAL_FUNC T atomic_##name##_explicit(volatile atomic<T>* at, U value, memory_order) { \
    return ks::atomic_update(&at->held, ks::Change<T>{T(value)});                        \
  }
KS_FETCH(exchange, SetTo)
KS_FETCH(fetch_add, AddTo)
KS_FETCH(fetch_sub, SubtractFrom)
KS_FETCH(fetch_and, AndWith)
KS_FETCH(fetch_or, OrWith)
KS_FETCH(fetch_xor, XorWith)
KS_FETCH(fetch_min, MinWith)
KS_FETCH(fetch_max, MaxWith)
// 64 bits: these two alone, and they return nothing.
METAL_FUNC void atomic_min_explicit(volatile atomic_ulong* at, ulong value, memory_order) {
  ks::atomic_update(&at->held, ks::MinWith<ulong>{value});
}
METAL_FUNC void atomic_max_explicit(volatile atomic_ulong* at, ulong value, memory_order) {
  ks::atomic_update(&at->held, ks::MaxWith<ulong>{value});
}
template <class T, class U>
METAL_FUNC bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* at, T* expected, U wanted,
                                                      memory_order, memory_order) {
  const T before = ks::atomic_compare(&at->held, *expected, T(wanted));
  const bool same = __builtin_memcmp(&before, expected, sizeof(T)) == 0;
  *expected = before;
  return same;
}

}  // namespace metal
