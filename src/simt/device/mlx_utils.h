// What a body for mx.fast.metal_kernel finds declared before it: MLX puts its utilities there. The
// names and what they mean are MLX's; complex numbers are left out.
#pragma once
#include <metal_stdlib>
using namespace metal;

typedef half float16_t;
typedef bfloat bfloat16_t;

#define MLX_MTL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")

constexpr constant int REDUCE_N_READS = 4;
constexpr constant int REDUCE_N_WRITES = 4;
constexpr constant int SOFTMAX_N_READS = 4;
constexpr constant int RMS_N_READS = 4;
constexpr constant int RMS_LOOPED_LIMIT = 4096;

template <typename T>
struct WorkPerThread {
  static constexpr constant int n = 8 / sizeof(T);
};

template <bool condition, typename T, typename U>
struct ConditionalType {
  using type = U;
};
template <typename T, typename U>
struct ConditionalType<true, T, U> {
  using type = T;
};

template <typename T>
struct Limits {
  static constexpr constant T max = numeric_limits<T>::max();
  static constexpr constant T min = numeric_limits<T>::min();
  static constexpr constant T finite_max = numeric_limits<T>::max();
  static constexpr constant T finite_min = numeric_limits<T>::min();
};
template <typename T>
struct FloatLimits {
  static constexpr constant T max = numeric_limits<T>::infinity();
  static constexpr constant T min = -numeric_limits<T>::infinity();
  static constexpr constant T finite_max = numeric_limits<T>::max();
  static constexpr constant T finite_min = -numeric_limits<T>::max();
};
template <>
struct Limits<float> : FloatLimits<float> {};
template <>
struct Limits<half> : FloatLimits<half> {};
template <>
struct Limits<bfloat> : FloatLimits<bfloat> {};
template <>
struct Limits<bool> {
  static constexpr constant bool max = true;
  static constexpr constant bool min = false;
};

template <typename U, typename T>
inline U cast_to(T value) {
  return static_cast<U>(value);
}

template <typename T, typename U>
inline T ceildiv(T a, U b) {
  return (a + b - 1) / b;
}

/// log(1 + x) where 1 + x rounds: what is lost in the sum is lost in the divisor too.
inline float log1p(float x) {
  const float sum = 1.0f + x;
  if (sum == 1.0f || sum == INFINITY) return sum == 1.0f ? x : sum;
  return x * (metal::log(sum) / (sum - 1.0f));
}
inline bfloat log1p(bfloat x) { return bfloat(log1p(float(x))); }

/// Where element `elem`, counted in row-major order, lies.
template <typename Index = int64_t>
METAL_FUNC Index elem_to_loc(Index elem, constant const int* shape, constant const int64_t* strides,
                             int ndim) {
  Index at = 0;
  for (int d = ndim - 1; d >= 0 && elem > 0; --d) {
    at += (elem % shape[d]) * Index(strides[d]);
    elem /= shape[d];
  }
  return at;
}

/// x and y index the last two dimensions, z all others in row-major order.
template <typename Index = int64_t>
METAL_FUNC Index elem_to_loc(uint3 elem, constant const int* shape, constant const int64_t* strides,
                             int ndim) {
  Index at = elem.x * Index(strides[ndim - 1]) + elem.y * Index(strides[ndim - 2]);
  for (int d = ndim - 3; d >= 0; --d) {
    at += (elem.z % shape[d]) * Index(strides[d]);
    elem.z /= shape[d];
  }
  return at;
}

template <typename Index = int64_t>
METAL_FUNC Index elem_to_loc_1(uint elem, constant const int64_t& stride) {
  return elem * Index(stride);
}

template <typename Index = int64_t>
METAL_FUNC Index elem_to_loc_2(uint2 elem, constant const int64_t* strides) {
  return elem.x * Index(strides[1]) + elem.y * Index(strides[0]);
}

template <typename Index = int64_t>
METAL_FUNC Index elem_to_loc_3(uint3 elem, constant const int64_t* strides) {
  return elem.x * Index(strides[2]) + elem.y * Index(strides[1]) + elem.z * Index(strides[0]);
}

/// Of two arrays of one shape.
template <typename Index = int64_t>
METAL_FUNC vec<Index, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                                          constant const int64_t* a, constant const int64_t* b,
                                          int ndim) {
  return {elem_to_loc<Index>(elem, shape, a, ndim), elem_to_loc<Index>(elem, shape, b, ndim)};
}

/// Of three.
template <typename Index = int64_t>
METAL_FUNC vec<Index, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape,
                                          constant const int64_t* a, constant const int64_t* b,
                                          constant const int64_t* c, int ndim) {
  return {elem_to_loc<Index>(elem, shape, a, ndim), elem_to_loc<Index>(elem, shape, b, ndim),
          elem_to_loc<Index>(elem, shape, c, ndim)};
}

/// Goes through an array in row-major order from its first element. MLX keeps a counter for each of
/// the last DIM dimensions; here the place is computed from one.
template <int DIM, typename Offset = size_t, bool General = true>
struct LoopedElemToLoc {
  int dim;
  Offset offset;
  uint index;

  LoopedElemToLoc(int dim) : dim(dim), offset(0), index(0) {}

  void next(constant const int* shape, constant const int64_t* strides) { next(1, shape, strides); }
  void next(int n, constant const int* shape, constant const int64_t* strides) {
    index += n;
    offset = elem_to_loc<Offset>(Offset(index), shape, strides, dim);
  }
  Offset location() { return offset; }
};
