// Names that Apple's own headers use inside and that public kernels (MLX's) call directly: each is
// the public function; the last argument of the mathematical ones chooses the precision.
#pragma once
#include "ks_fast_math.h"
#include "ks_simd.h"

#define __METAL_MAYBE_FAST_MATH__ 0
#define __METAL_FAST_MATH__ 1
#define __METAL_PRECISE_MATH__ 2
#define __METAL_MEMORY_SCOPE_SYSTEM__ 4

#define KS_INTERNAL_1(name, expression)                                         \
  template <class T>                                                            \
  METAL_FUNC auto __metal_##name(T x, int mode = __METAL_MAYBE_FAST_MATH__) {   \
    return mode == __METAL_FAST_MATH__ ? metal::fast::name(x) : metal::name(x); \
  }
KS_FLOAT_1_LIST(KS_INTERNAL_1)
#define KS_INTERNAL_2(name, expression)                                               \
  template <class T>                                                                  \
  METAL_FUNC auto __metal_##name(T x, T y, int mode = __METAL_MAYBE_FAST_MATH__) {    \
    return mode == __METAL_FAST_MATH__ ? metal::fast::name(x, y) : metal::name(x, y); \
  }
KS_FLOAT_2_LIST(KS_INTERNAL_2)
#define KS_INTERNAL_3(name)                                \
  template <class T>                                       \
  METAL_FUNC auto __metal_##name(T x, T y, T z, int = 0) { \
    return metal::name(x, y, z);                           \
  }
KS_INTERNAL_3(fma)
KS_INTERNAL_3(fmin3)
KS_INTERNAL_3(fmax3)
KS_INTERNAL_3(fmedian3)

template <class T>
METAL_FUNC T __metal_ldexp(T x, int exponent, int = 0) {
  return metal::ldexp(x, exponent);
}
template <class T>
METAL_FUNC T __metal_frexp(T x, int* exponent, int = 0) {
  return metal::frexp(x, *exponent);
}

#define KS_INTERNAL_REDUCE(name)          \
  template <class T>                      \
  METAL_FUNC T __metal_simd_##name(T x) { \
    return metal::simd_##name(x);         \
  }
KS_INTERNAL_REDUCE(sum)
KS_INTERNAL_REDUCE(product)
KS_INTERNAL_REDUCE(max)
KS_INTERNAL_REDUCE(min)
KS_INTERNAL_REDUCE(prefix_inclusive_sum)
KS_INTERNAL_REDUCE(prefix_inclusive_product)
KS_INTERNAL_REDUCE(prefix_exclusive_sum)
KS_INTERNAL_REDUCE(prefix_exclusive_product)
template <class T>
METAL_FUNC T __metal_simd_xor(T x) {
  // MLX names it for floats too, where it means nothing.
  if constexpr (metal::is_integral_v<T>) return metal::simd_xor(x);
  __builtin_trap();
}

#define KS_INTERNAL_SHUFFLE(name)                      \
  template <class T>                                   \
  METAL_FUNC T __metal_simd_##name(T x, ushort lane) { \
    return metal::simd_##name(x, lane);                \
  }
KS_INTERNAL_SHUFFLE(broadcast)
KS_INTERNAL_SHUFFLE(shuffle)
KS_INTERNAL_SHUFFLE(shuffle_down)
KS_INTERNAL_SHUFFLE(shuffle_up)
KS_INTERNAL_SHUFFLE(shuffle_xor)
KS_INTERNAL_SHUFFLE(shuffle_rotate_down)
KS_INTERNAL_SHUFFLE(shuffle_rotate_up)

#define KS_INTERNAL_FILL(name)                                                      \
  template <class T>                                                                \
  METAL_FUNC T __metal_simd_##name(T x, T fill, ushort delta, ushort modulo = 32) { \
    return metal::simd_##name(x, fill, delta, modulo);                              \
  }
KS_INTERNAL_FILL(shuffle_and_fill_down)
KS_INTERNAL_FILL(shuffle_and_fill_up)

METAL_FUNC ushort __metal_get_simdgroup_size(ushort) { return 32; }
METAL_FUNC ushort __metal_get_thread_index_in_simdgroup(ushort) { return ushort(ks::own_lane()); }
