// Atomics of Metal: 32-bit int, uint, float and bool, memory_order_relaxed. Not instrumented: the
// engine is told of each as one atomic access.
#pragma once
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

}  // namespace metal

namespace ks {

/// A function whose caller is the place in the source.
#define KS_ATOMIC __attribute__((noinline, not_tail_called))

/// Replaces the value by change(value) and returns what was there.
template <class T, class F>
KS_ATOMIC KS_PLAIN T atomic_update(volatile T* at, F change) {
  engine->atomic(const_cast<const T*>(at), sizeof(T), true, true, KS_HERE);
  T old, next;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  do {
    next = change(old);
  } while (!__atomic_compare_exchange(at, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

#define KS_CHANGE(Name, expression)                              \
  template <class T>                                             \
  struct Name {                                                  \
    T with;                                                      \
    KS_PLAIN T operator()(T old) const { return T(expression); } \
  };
KS_CHANGE(SetTo, (void(old), with))
KS_CHANGE(AddTo, old + with)
KS_CHANGE(SubtractFrom, old - with)
KS_CHANGE(AndWith, old& with)
KS_CHANGE(OrWith, old | with)
KS_CHANGE(XorWith, old ^ with)
KS_CHANGE(MinWith, old < with ? old : with)
KS_CHANGE(MaxWith, old > with ? old : with)

template <class T>
KS_ATOMIC KS_PLAIN T atomic_load(const volatile T* at) {
  engine->atomic(const_cast<const T*>(at), sizeof(T), true, false, KS_HERE);
  T value;
  __atomic_load(at, &value, __ATOMIC_RELAXED);
  return value;
}
template <class T>
KS_ATOMIC KS_PLAIN void atomic_store(volatile T* at, T value) {
  engine->atomic(const_cast<const T*>(at), sizeof(T), false, true, KS_HERE);
  __atomic_store(at, &value, __ATOMIC_RELAXED);
}
/// Writes `wanted` where `expected` is; returns what was there.
template <class T>
KS_ATOMIC KS_PLAIN T atomic_compare(volatile T* at, T expected, T wanted) {
  engine->atomic(const_cast<const T*>(at), sizeof(T), true, true, KS_HERE);
  __atomic_compare_exchange(at, &expected, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

}  // namespace ks

namespace metal {

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
