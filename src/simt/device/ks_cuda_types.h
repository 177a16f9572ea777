// Vectors, dim3 and the variables that tell a thread where it stands.
#pragma once
#define KS_CUDA
#define KS_STD std
#include "ks_lanes.h"

using longlong = long long;
using ulonglong = unsigned long long;
using schar = signed char;
using clock_t = long;
using cudaStream_t = void*;

#define KS_VECTORS(T, name, align_2, align_4)                                      \
  struct name##1 {                                                                 \
    T x;                                                                           \
  };                                                                               \
  struct alignas(align_2) name##2 {                                                \
    T x, y;                                                                        \
  };                                                                               \
  struct name##3 {                                                                 \
    T x, y, z;                                                                     \
  };                                                                               \
  struct alignas(align_4) name##4 {                                                \
    T x, y, z, w;                                                                  \
  };                                                                               \
  METAL_FUNC constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  METAL_FUNC constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  METAL_FUNC constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  METAL_FUNC constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KS_VECTORS(signed char, char, 2, 4)
KS_VECTORS(unsigned char, uchar, 2, 4)
KS_VECTORS(short, short, 4, 8)
KS_VECTORS(unsigned short, ushort, 4, 8)
KS_VECTORS(int, int, 8, 16)
KS_VECTORS(unsigned, uint, 8, 16)
KS_VECTORS(long, long, 16, 16)
KS_VECTORS(unsigned long, ulong, 16, 16)
KS_VECTORS(long long, longlong, 16, 16)
KS_VECTORS(unsigned long long, ulonglong, 16, 16)
KS_VECTORS(float, float, 8, 16)
KS_VECTORS(double, double, 16, 16)
#undef KS_VECTORS

struct dim3 {
  unsigned x, y, z;
  METAL_FUNC constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  METAL_FUNC constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  METAL_FUNC constexpr operator uint3() const { return {x, y, z}; }
};

// A thread never becomes another one, so what it asks about itself is a constant.
#define KS_SELF(name, expression) \
  __attribute__((const)) KS_UNWATCHED unsigned ks_##name() { return ks::lane->thread.expression; }
#define KS_PLACE(name, member)                                                \
  KS_SELF(name##_x, member.x)                                                 \
  KS_SELF(name##_y, member.y)                                                 \
  KS_SELF(name##_z, member.z)                                                 \
  struct ks_##name##_t {                                                      \
    METAL_FUNC unsigned get_x() const { return ks_##name##_x(); }             \
    METAL_FUNC unsigned get_y() const { return ks_##name##_y(); }             \
    METAL_FUNC unsigned get_z() const { return ks_##name##_z(); }             \
    __declspec(property(get = get_x)) unsigned x;                             \
    __declspec(property(get = get_y)) unsigned y;                             \
    __declspec(property(get = get_z)) unsigned z;                             \
    METAL_FUNC operator uint3() const { return {get_x(), get_y(), get_z()}; } \
    METAL_FUNC operator dim3() const { return {get_x(), get_y(), get_z()}; }  \
  };                                                                          \
  inline constexpr ks_##name##_t name{};
KS_PLACE(threadIdx, position_in_group)
KS_PLACE(blockIdx, group_position)
KS_PLACE(blockDim, dispatch_group_size)
KS_PLACE(gridDim, groups)
#undef KS_PLACE
KS_SELF(lane_id, lane)
KS_SELF(thread_rank, index_in_group)
KS_SELF(warp_id, simdgroup)
KS_SELF(warps, simdgroups)
inline constexpr int warpSize = 32;
namespace ks {
__attribute__((const)) KS_UNWATCHED void* dynamic_shared() { return lane->thread.dynamic_memory; }
}  // namespace ks

namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;

template <class T>
constexpr T&& forward(__remove_reference_t(T) & value) {
  return static_cast<T&&>(value);
}
template <class T>
constexpr T&& forward(__remove_reference_t(T) && value) {
  return static_cast<T&&>(value);
}
template <class T>
    constexpr __remove_reference_t(T) && move(T&& value) {
  return static_cast<__remove_reference_t(T) &&>(value);
}
template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
constexpr const T& clamp(const T& x, const T& low, const T& high) {
  return x < low ? low : high < x ? high : x;
}
template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
template <class A, class B>
struct pair {
  A first;
  B second;
};
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using remove_cvref_t = __remove_cvref(T);
template <class T>
inline constexpr bool always_false_v = false;
#define KS_FUNCTOR(name, op)                                                   \
  template <class T = void>                                                    \
  struct name {                                                                \
    constexpr auto operator()(const T& a, const T& b) const { return a op b; } \
  };                                                                           \
  template <>                                                                  \
  struct name<void> {                                                          \
    template <class A, class B>                                                \
    constexpr auto operator()(const A& a, const B& b) const {                  \
      return a op b;                                                           \
    }                                                                          \
  };
KS_FUNCTOR(plus, +)
KS_FUNCTOR(minus, -)
KS_FUNCTOR(multiplies, *)
KS_FUNCTOR(less, <)
KS_FUNCTOR(greater, >)
KS_FUNCTOR(equal_to, ==)
KS_FUNCTOR(bit_and, &)
KS_FUNCTOR(bit_or, |)
KS_FUNCTOR(bit_xor, ^)
#undef KS_FUNCTOR
}  // namespace std

namespace cuda {
namespace std = ::std;
}  // namespace cuda
