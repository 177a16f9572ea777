// Scalar types, type traits and limits, in the namespace of the dialect's standard library (metal;
// std for CUDA). No standard header: `using namespace metal` would make ::exp and metal::exp
// ambiguous.
#pragma once

#ifndef KS_STD
#define KS_STD metal
#endif

#ifndef METAL_FUNC
#define METAL_FUNC inline __attribute__((always_inline))
#endif

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;
using size_t = unsigned long;
using ptrdiff_t = long;
using uintptr_t = unsigned long;
using intptr_t = long;
#ifndef KS_CUDA
using half = _Float16;
using bfloat = __bf16;
#endif

namespace KS_STD {

template <class T, T v>
struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
};
template <bool b>
using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool condition, class T = void>
using enable_if_t = typename enable_if<condition, T>::type;

template <bool condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename conditional<condition, A, B>::type;

#define KS_TYPE_TRAIT(name, builtin) \
  template <class T>                 \
  using name##_t = builtin(T);       \
  template <class T>                 \
  struct name {                      \
    using type = builtin(T);         \
  };
KS_TYPE_TRAIT(remove_cv, __remove_cv)
KS_TYPE_TRAIT(remove_const, __remove_const)
KS_TYPE_TRAIT(remove_volatile, __remove_volatile)
KS_TYPE_TRAIT(remove_reference, __remove_reference_t)
KS_TYPE_TRAIT(remove_pointer, __remove_pointer)
KS_TYPE_TRAIT(remove_addrspace, __remove_cv)
KS_TYPE_TRAIT(decay, __decay)
KS_TYPE_TRAIT(make_signed, __make_signed)
KS_TYPE_TRAIT(make_unsigned, __make_unsigned)
KS_TYPE_TRAIT(underlying_type, __underlying_type)

#define KS_BOOL_TRAIT(name, expression)        \
  template <class T>                           \
  inline constexpr bool name##_v = expression; \
  template <class T>                           \
  struct name : bool_constant<name##_v<T>> {};

template <class A, class B>
inline constexpr bool is_same_v = __is_same(A, B);
template <class A, class B>
struct is_same : bool_constant<__is_same(A, B)> {};
KS_BOOL_TRAIT(is_floating_point,
              (__is_same(__remove_cv(T), float) || __is_same(__remove_cv(T), double) ||
               __is_same(__remove_cv(T), _Float16) || __is_same(__remove_cv(T), __bf16)))
KS_BOOL_TRAIT(is_integral, __is_integral(T))
KS_BOOL_TRAIT(is_arithmetic, (is_floating_point_v<T> || __is_integral(T)))
KS_BOOL_TRAIT(is_scalar, (is_arithmetic_v<T> || __is_pointer(T)))
KS_BOOL_TRAIT(is_unsigned, __is_unsigned(T))
KS_BOOL_TRAIT(is_signed, (is_floating_point_v<T> || __is_signed(T)))
KS_BOOL_TRAIT(is_pointer, __is_pointer(T))
KS_BOOL_TRAIT(is_const, __is_const(T))
KS_BOOL_TRAIT(is_class, __is_class(T))
KS_BOOL_TRAIT(is_enum, __is_enum(T))
KS_BOOL_TRAIT(is_void, __is_void(T))
KS_BOOL_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);
template <class From, class To>
struct is_convertible : bool_constant<__is_convertible_to(From, To)> {};
template <class Base, class Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);

template <class... B>
struct disjunction : bool_constant<(bool(B::value) || ...)> {};
template <class... B>
struct conjunction : bool_constant<(bool(B::value) && ...)> {};
template <class B>
struct negation : bool_constant<!bool(B::value)> {};
template <class... B>
inline constexpr bool disjunction_v = disjunction<B...>::value;
template <class... B>
inline constexpr bool conjunction_v = conjunction<B...>::value;
/// Names that Apple's headers use inside, and MLX too.
template <class... B>
using _disjunction = disjunction<B...>;
template <class... B>
using _conjunction = conjunction<B...>;

/// A value that is the same in all threads of a SIMD-group.
template <class T>
using uniform = T;
template <class T>
METAL_FUNC constexpr T make_uniform(T value) {
  return value;
}

template <class T, T... values>
struct integer_sequence {};
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;
template <size_t count>
using make_index_sequence = __make_integer_seq<integer_sequence, size_t, count>;

template <class T>
T&& declval();
template <class T>
inline void swap(T& a, T& b) {
  const T t = a;
  a = b;
  b = t;
}

template <class T, size_t n>
struct array {
  T elements[n];
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr size_t size() const { return n; }
};

template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = __is_integral(T), is_integer = true;
  static constexpr bool is_signed = __is_signed(T);
  static constexpr int digits = int(8 * sizeof(T)) - is_signed;
  static constexpr T max() {
    using U = __make_unsigned(T);
    return T(U(~U(0)) >> (is_signed ? 1 : 0));
  }
  static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
};
template <>
struct numeric_limits<bool> {
  static constexpr bool is_specialized = true, is_integer = true, is_signed = false;
  static constexpr int digits = 1;
  static constexpr bool max() { return true; }
  static constexpr bool min() { return false; }
  static constexpr bool lowest() { return false; }
};
#define KS_FLOAT_LIMITS(T, digits_, max_, min_, epsilon_)                              \
  template <>                                                                          \
  struct numeric_limits<T> {                                                           \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true; \
    static constexpr bool has_infinity = true;                                         \
    static constexpr int digits = digits_;                                             \
    static constexpr T max() { return T(max_); }                                       \
    static constexpr T min() { return T(min_); }                                       \
    static constexpr T lowest() { return T(-(max_)); }                                 \
    static constexpr T infinity() { return T(__builtin_inff()); }                      \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }                   \
    static constexpr T epsilon() { return T(epsilon_); }                               \
  };
KS_FLOAT_LIMITS(float, 24, 0x1.fffffep127f, 0x1p-126f, 0x1p-23f)
KS_FLOAT_LIMITS(double, 53, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-52)
KS_FLOAT_LIMITS(_Float16, 11, 65504.0f, 0x1p-14f, 0x1p-10f)
KS_FLOAT_LIMITS(__bf16, 8, 0x1.fep127f, 0x1p-126f, 0x1p-7f)

}  // namespace KS_STD

namespace ks {
/// static_cast of Metal: clang refuses half to bfloat.
template <class T, class F>
constexpr T cast(F&& from) {
  using To = __remove_cv(T);
  using From = __remove_cvref(F);
  if constexpr ((__is_same(From, _Float16) && __is_same(To, __bf16)) ||
                (__is_same(From, __bf16) && __is_same(To, _Float16)))
    return T(float(from));
  else
    return static_cast<T>(static_cast<F&&>(from));
}
}  // namespace ks

template <class T, class F>
METAL_FUNC constexpr T as_type(F from) {
  static_assert(sizeof(T) == sizeof(F), "as_type keeps the size");
  return __builtin_bit_cast(T, from);
}
namespace KS_STD {
using ::as_type;
}
