// Atomic reading and changing of memory. Not instrumented: the engine is told of each as one atomic
// access.
#pragma once
#include "ks_hooks.h"

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
