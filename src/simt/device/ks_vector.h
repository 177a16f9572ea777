// Vectors and packed vectors. Classes, not clang's vector types: Metal's constructors
// (float4(v.xy, z, w)) and conversions (float4(half4)) are not C++'s for those.
#pragma once
#include "ks_swizzle.h"
#include "ks_traits.h"

namespace metal {

template <class T, int n>
struct vec;
template <class T, int n>
struct packed_vec;

template <class T>
inline constexpr int components_v = is_arithmetic_v<T> || __is_enum(T) ? 1 : 0;
template <class T, int n>
inline constexpr int components_v<vec<T, n>> = n;
template <class T, int n>
inline constexpr int components_v<packed_vec<T, n>> = n;

template <class T, int n>
struct vec_storage;
template <class T>
struct alignas(2 * sizeof(T)) vec_storage<T, 2> {
  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    T e[2];
  };
  KS_SWIZZLES_2
};
template <class T>
struct alignas(4 * sizeof(T)) vec_storage<T, 3> {
  union {
    struct {
      T x, y, z, ks_padding;
    };
    struct {
      T r, g, b;
    };
    T e[3];
  };
  /// The fourth element is there and defined, so that a vector that is stored is stored whole.
  METAL_FUNC constexpr vec_storage() { ks_padding = T(0); }
  KS_SWIZZLES_3
};
template <class T>
struct alignas(4 * sizeof(T)) vec_storage<T, 4> {
  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    T e[4];
  };
  KS_SWIZZLES_4
};

template <class T, int n>
struct vec : vec_storage<T, n> {
  using value_type = T;
  using vec_storage<T, n>::e;

  vec() = default;
  /// One value for all components.
  template <class U>
  requires(is_arithmetic_v<U> || __is_enum(U)) METAL_FUNC constexpr vec(U value) {
    for (int i = 0; i < n; ++i) e[i] = ks::cast<T>(value);
  }
  /// From scalars and vectors that have n components together (or fewer: the rest is zero, as a
  /// brace initialiser has it).
  template <class A, class B, class... More>
  requires(components_v<A> > 0 && components_v<B> > 0 && ((components_v<More> > 0) && ...) &&
           components_v<A> + components_v<B> + (components_v<More> + ... + 0) <= n) METAL_FUNC
      constexpr vec(A a, B b, More... more) {
    int at = 0;
    append(at, a);
    append(at, b);
    (append(at, more), ...);
    for (; at < n; ++at) e[at] = T(0);
  }
  template <class U>
  requires(!__is_same(U, T)) METAL_FUNC constexpr explicit vec(const vec<U, n>& other) {
    for (int i = 0; i < n; ++i) e[i] = ks::cast<T>(other.e[i]);
  }
  template <class U>
  requires(!__is_same(U, T)) METAL_FUNC constexpr explicit vec(const packed_vec<U, n>& other) {
    for (int i = 0; i < n; ++i) e[i] = ks::cast<T>(other.e[i]);
  }

  METAL_FUNC constexpr T& operator[](int i) { return e[i]; }
  METAL_FUNC constexpr const T& operator[](int i) const { return e[i]; }

#define KS_COMPOUND(op)                                  \
  template <class U>                                     \
  METAL_FUNC constexpr vec& operator op##=(const U& b) { \
    return *this = *this op b;                           \
  }
  KS_COMPOUND(+)
  KS_COMPOUND(-)
  KS_COMPOUND(*)
  KS_COMPOUND(/)
  KS_COMPOUND(%)
  KS_COMPOUND(&)
  KS_COMPOUND(|)
  KS_COMPOUND(^)
  KS_COMPOUND(<<)
  KS_COMPOUND(>>)
#undef KS_COMPOUND
  METAL_FUNC constexpr vec& operator++() { return *this += T(1); }
  METAL_FUNC constexpr vec& operator--() { return *this -= T(1); }

 private:
  template <class U>
  METAL_FUNC constexpr void append(int& at, const U& part) {
    if constexpr (is_arithmetic_v<U> || __is_enum(U)) {
      e[at++] = ks::cast<T>(part);
    } else {
      for (int i = 0; i < components_v<U>; ++i) e[at++] = ks::cast<T>(part.e[i]);
    }
  }
};

/// Aligned as its elements.
template <class T, int n>
struct packed_vec {
  T e[n];
  packed_vec() = default;
  METAL_FUNC constexpr packed_vec(const vec<T, n>& v) {
    for (int i = 0; i < n; ++i) e[i] = v.e[i];
  }
  template <class U>
  requires(is_arithmetic_v<U>) METAL_FUNC constexpr explicit packed_vec(U value)
      : packed_vec(vec<T, n>(value)) {}
  template <class A, class B, class... More>
  requires(components_v<A> > 0 && components_v<B> > 0) METAL_FUNC
      constexpr packed_vec(A a, B b, More... more)
      : packed_vec(vec<T, n>(a, b, more...)) {}
  METAL_FUNC constexpr operator vec<T, n>() const {
    vec<T, n> v;
    for (int i = 0; i < n; ++i) v.e[i] = e[i];
    return v;
  }
  METAL_FUNC constexpr T& operator[](int i) { return e[i]; }
  METAL_FUNC constexpr const T& operator[](int i) const { return e[i]; }

#define KS_COMPONENT(name, i)                                        \
  METAL_FUNC constexpr T ks_get_##name() const { return e[i]; }      \
  METAL_FUNC constexpr void ks_set_##name(T value) { e[i] = value; } \
  __declspec(property(get = ks_get_##name, put = ks_set_##name)) T name;
  KS_COMPONENT(x, 0)
  KS_COMPONENT(y, 1)
  KS_COMPONENT(z, 2)
  KS_COMPONENT(w, 3)
#undef KS_COMPONENT
};

// Operators: component by component; a scalar counts for every component, in the vector's type.
#define KS_BINARY(op, Result)                                                                      \
  template <class T, int n>                                                                        \
  METAL_FUNC constexpr vec<Result, n> operator op(const vec<T, n>& a, const vec<T, n>& b) {        \
    vec<Result, n> r;                                                                              \
    for (int i = 0; i < n; ++i) r.e[i] = Result(a.e[i] op b.e[i]);                                 \
    return r;                                                                                      \
  }                                                                                                \
  template <class T, int n, class U>                                                               \
  requires(is_arithmetic_v<U> || __is_enum(U)) METAL_FUNC constexpr vec<Result, n> operator op(    \
      const vec<T, n>& a, U b) {                                                                   \
    return a op vec<T, n>(b);                                                                      \
  }                                                                                                \
  template <class T, int n, class U>                                                               \
  requires(is_arithmetic_v<U> || __is_enum(U)) METAL_FUNC constexpr vec<Result, n> operator op(    \
      U a, const vec<T, n>& b) {                                                                   \
    return vec<T, n>(a) op b;                                                                      \
  }                                                                                                \
  template <class T, int n>                                                                        \
  METAL_FUNC constexpr vec<Result, n> operator op(const packed_vec<T, n>& a, const vec<T, n>& b) { \
    return vec<T, n>(a) op b;                                                                      \
  }                                                                                                \
  template <class T, int n>                                                                        \
  METAL_FUNC constexpr vec<Result, n> operator op(const vec<T, n>& a, const packed_vec<T, n>& b) { \
    return a op vec<T, n>(b);                                                                      \
  }                                                                                                \
  template <class T, int n>                                                                        \
  METAL_FUNC constexpr vec<Result, n> operator op(const packed_vec<T, n>& a,                       \
                                                  const packed_vec<T, n>& b) {                     \
    return vec<T, n>(a) op vec<T, n>(b);                                                           \
  }                                                                                                \
  template <class T, int n, class U>                                                               \
  requires(is_arithmetic_v<U>) METAL_FUNC constexpr vec<Result, n> operator op(                    \
      const packed_vec<T, n>& a, U b) {                                                            \
    return vec<T, n>(a) op vec<T, n>(b);                                                           \
  }
KS_BINARY(+, T)
KS_BINARY(-, T)
KS_BINARY(*, T)
KS_BINARY(/, T)
KS_BINARY(%, T)
KS_BINARY(&, T)
KS_BINARY(|, T)
KS_BINARY(^, T)
KS_BINARY(<<, T)
KS_BINARY(>>, T)
KS_BINARY(==, bool)
KS_BINARY(!=, bool)
KS_BINARY(<, bool)
KS_BINARY(>, bool)
KS_BINARY(<=, bool)
KS_BINARY(>=, bool)
KS_BINARY(&&, bool)
KS_BINARY(||, bool)
#undef KS_BINARY

#define KS_UNARY(op, Result)                                            \
  template <class T, int n>                                             \
  METAL_FUNC constexpr vec<Result, n> operator op(const vec<T, n>& a) { \
    vec<Result, n> r;                                                   \
    for (int i = 0; i < n; ++i) r.e[i] = Result(op a.e[i]);             \
    return r;                                                           \
  }
KS_UNARY(-, T)
KS_UNARY(+, T)
KS_UNARY(~, T)
KS_UNARY(!, bool)
#undef KS_UNARY

}  // namespace metal

// Metal's names are global too: public headers use half2 before `using namespace metal`.
#define KS_VECTOR_NAMES(T)                       \
  using T##2 = metal::vec<T, 2>;                 \
  using T##3 = metal::vec<T, 3>;                 \
  using T##4 = metal::vec<T, 4>;                 \
  using packed_##T##2 = metal::packed_vec<T, 2>; \
  using packed_##T##3 = metal::packed_vec<T, 3>; \
  using packed_##T##4 = metal::packed_vec<T, 4>; \
  namespace metal {                              \
  using ::T##2;                                  \
  using ::T##3;                                  \
  using ::T##4;                                  \
  using ::packed_##T##2;                         \
  using ::packed_##T##3;                         \
  using ::packed_##T##4;                         \
  }
KS_VECTOR_NAMES(float)
KS_VECTOR_NAMES(half)
KS_VECTOR_NAMES(bfloat)
KS_VECTOR_NAMES(char)
KS_VECTOR_NAMES(uchar)
KS_VECTOR_NAMES(short)
KS_VECTOR_NAMES(ushort)
KS_VECTOR_NAMES(int)
KS_VECTOR_NAMES(uint)
KS_VECTOR_NAMES(long)
KS_VECTOR_NAMES(ulong)
KS_VECTOR_NAMES(bool)
