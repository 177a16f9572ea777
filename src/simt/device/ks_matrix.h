// Matrices of Metal: `columns` vectors of `rows` components.
#pragma once
#include "ks_vector.h"

namespace metal {

template <class T, int columns, int rows>
struct matrix {
  vec<T, rows> c[columns];

  matrix() = default;
  /// The diagonal.
  METAL_FUNC explicit matrix(T value) {
    for (int i = 0; i < columns; ++i)
      for (int j = 0; j < rows; ++j) c[i].e[j] = i == j ? value : T(0);
  }
  template <class... V>
  requires(sizeof...(V) == columns && ((components_v<V> == rows) && ...)) METAL_FUNC matrix(V... v)
      : c{vec<T, rows>(v)...} {}
  template <class... V>
  requires(sizeof...(V) == columns * rows && (is_arithmetic_v<V> && ...)) METAL_FUNC
      matrix(V... v) {
    const T all[] = {T(v)...};
    for (int i = 0; i < columns * rows; ++i) c[i / rows].e[i % rows] = all[i];
  }
  template <class U>
  requires(!__is_same(U, T)) METAL_FUNC explicit matrix(const matrix<U, columns, rows>& other) {
    for (int i = 0; i < columns; ++i) c[i] = vec<T, rows>(other.c[i]);
  }
  METAL_FUNC vec<T, rows>& operator[](int i) { return c[i]; }
  METAL_FUNC const vec<T, rows>& operator[](int i) const { return c[i]; }
};

template <class T, int columns, int rows>
METAL_FUNC matrix<T, columns, rows> operator+(matrix<T, columns, rows> a,
                                              const matrix<T, columns, rows>& b) {
  for (int i = 0; i < columns; ++i) a.c[i] = a.c[i] + b.c[i];
  return a;
}
template <class T, int columns, int rows>
METAL_FUNC matrix<T, columns, rows> operator-(matrix<T, columns, rows> a,
                                              const matrix<T, columns, rows>& b) {
  for (int i = 0; i < columns; ++i) a.c[i] = a.c[i] - b.c[i];
  return a;
}
template <class T, int columns, int rows, class U>
requires(is_arithmetic_v<U>) METAL_FUNC matrix<T, columns, rows>
operator*(matrix<T, columns, rows> a, U factor) {
  for (int i = 0; i < columns; ++i) a.c[i] = a.c[i] * factor;
  return a;
}
template <class T, int columns, int rows, class U>
requires(is_arithmetic_v<U>) METAL_FUNC matrix<T, columns, rows>
operator*(U factor, const matrix<T, columns, rows>& a) { return a * factor; }
template <class T, int columns, int rows>
METAL_FUNC vec<T, rows> operator*(const matrix<T, columns, rows>& a, const vec<T, columns>& v) {
  vec<T, rows> r = a.c[0] * v.e[0];
  for (int i = 1; i < columns; ++i) r = r + a.c[i] * v.e[i];
  return r;
}
template <class T, int columns, int rows>
METAL_FUNC vec<T, columns> operator*(const vec<T, rows>& v, const matrix<T, columns, rows>& a) {
  vec<T, columns> r;
  for (int i = 0; i < columns; ++i) {
    r.e[i] = T(0);
    for (int j = 0; j < rows; ++j) r.e[i] = T(r.e[i] + v.e[j] * a.c[i].e[j]);
  }
  return r;
}
template <class T, int inner, int rows, int columns>
METAL_FUNC matrix<T, columns, rows> operator*(const matrix<T, inner, rows>& a,
                                              const matrix<T, columns, inner>& b) {
  matrix<T, columns, rows> r;
  for (int i = 0; i < columns; ++i) r.c[i] = a * b.c[i];
  return r;
}
template <class T, int columns, int rows>
METAL_FUNC matrix<T, rows, columns> transpose(const matrix<T, columns, rows>& a) {
  matrix<T, rows, columns> r;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < rows; ++j) r.c[j].e[i] = a.c[i].e[j];
  return r;
}

template <class T>
METAL_FUNC T determinant(const matrix<T, 2, 2>& a) {
  return T(a.c[0].e[0] * a.c[1].e[1] - a.c[1].e[0] * a.c[0].e[1]);
}
/// Along the first column.
template <class T, int n>
METAL_FUNC T determinant(const matrix<T, n, n>& a) {
  T total = T(0);
  for (int row = 0; row < n; ++row) {
    matrix<T, n - 1, n - 1> rest;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n - 1; ++j) rest.c[i - 1].e[j] = a.c[i].e[j < row ? j : j + 1];
    const T term = T(a.c[0].e[row] * determinant(rest));
    total = T(row % 2 == 0 ? total + term : total - term);
  }
  return total;
}
template <class T, int columns, int rows>
METAL_FUNC matrix<T, columns, rows>& operator+=(matrix<T, columns, rows>& a,
                                                const matrix<T, columns, rows>& b) {
  return a = a + b;
}
template <class T, int columns, int rows>
METAL_FUNC matrix<T, columns, rows>& operator-=(matrix<T, columns, rows>& a,
                                                const matrix<T, columns, rows>& b) {
  return a = a - b;
}
template <class T, int columns, int rows, class U>
METAL_FUNC matrix<T, columns, rows>& operator*=(matrix<T, columns, rows>& a, const U& b) {
  return a = a * b;
}
template <class T, int columns, int rows>
METAL_FUNC matrix<T, columns, rows> operator-(const matrix<T, columns, rows>& a) {
  return a * T(-1);
}
template <class T, int columns, int rows>
METAL_FUNC bool operator==(const matrix<T, columns, rows>& a, const matrix<T, columns, rows>& b) {
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < rows; ++j)
      if (a.c[i].e[j] != b.c[i].e[j]) return false;
  return true;
}

}  // namespace metal

#define KS_MATRIX_NAMES(T)               \
  using T##2x2 = metal::matrix<T, 2, 2>; \
  using T##2x3 = metal::matrix<T, 2, 3>; \
  using T##2x4 = metal::matrix<T, 2, 4>; \
  using T##3x2 = metal::matrix<T, 3, 2>; \
  using T##3x3 = metal::matrix<T, 3, 3>; \
  using T##3x4 = metal::matrix<T, 3, 4>; \
  using T##4x2 = metal::matrix<T, 4, 2>; \
  using T##4x3 = metal::matrix<T, 4, 3>; \
  using T##4x4 = metal::matrix<T, 4, 4>; \
  namespace metal {                      \
  using ::T##2x2;                        \
  using ::T##2x3;                        \
  using ::T##2x4;                        \
  using ::T##3x2;                        \
  using ::T##3x3;                        \
  using ::T##3x4;                        \
  using ::T##4x2;                        \
  using ::T##4x3;                        \
  using ::T##4x4;                        \
  }
KS_MATRIX_NAMES(float)
KS_MATRIX_NAMES(half)
KS_MATRIX_NAMES(bfloat)
