// Vectors, packed vectors, matrices, bits, limits and traits.
#include <metal_stdlib>
using namespace metal;

//# launch construction size=1
//# buffer x=f32:4:iota:1
//# buffer y=f32:24
//# expect y = 1, 2, 3, 4, 1, 1, 1, 1, 2, 3, 4, 1, 9, 1, 2, 9, 1, 2, 3, 9, 4, 3, 0, 0
kernel void construction(device const float* x [[buffer(0)]], device float4* y [[buffer(1)]]) {
  const float a = x[0], b = x[1], c = x[2], d = x[3];
  y[0] = float4(a, b, c, d);
  y[1] = float4(a);
  y[2] = float4(float3(b, c, d), a);
  y[3] = float4(9.0f, float2(a, b), 9.0f);
  y[4] = float4(float2(a, b), float2(c, 9.0f));
  const float4 partly = {d, c};
  y[5] = partly;
}

//# launch swizzles size=1
//# buffer x=f32:4:iota:1
//# buffer y=f32:24
//# expect y = 4, 3, 2, 1, 1, 1, 2, 2, 3, 2, 1, 4, 2, 1, 3, 4, 10, 2, 20, 4, 1, 3, 3, 7
kernel void swizzles(device const float4* x [[buffer(0)]], device float4* y [[buffer(1)]]) {
  const float4 v = x[0];
  y[0] = v.wzyx;
  y[1] = v.xxyy;
  y[2] = float4(v.bgr, v.a);
  float4 w = v;
  w.xy = w.yx;
  y[3] = w;
  w = v;
  w.xz *= float2(10.0f, 20.0f / 3.0f);
  w.z = rint(w.z);
  y[4] = w;
  w = v;
  w.yw = w.zz + float2(0.0f, 4.0f);
  y[5] = w;
}

//# launch vector_operators size=1
//# buffer x=i32:4:ints:1:2:3:4
//# buffer y=i32:64
//# expect y = 11, 12, 13, 14, -9, -8, -7, -6, 2, 4, 6, 8, 10, 5, 3, 2, 0, 0, 1, 0, 1, 0, 1, 0, 9, 10, 11, 12, 8, 8, 8, 8, 16, 32, 48, 64, 0, 1, 1, 2, -2, -3, -4, -5, 0, 0, 1, 1, 0, 1, 0, 0, 2, 3, 4, 5, -1, -2, -3, -4, 1, 0, 0, 1
kernel void vector_operators(device const int4* x [[buffer(0)]], device int4* y [[buffer(1)]]) {
  const int4 v = x[0];
  y[0] = v + 10;
  y[1] = v - 10;
  y[2] = 2 * v;
  y[3] = 10 / v;
  y[4] = v % int4(1, 2, 2, 4);
  y[5] = v & 1;
  y[6] = v | 8;
  y[7] = (v ^ v) + 8;
  y[8] = v << 4;
  y[9] = v >> int4(1);
  y[10] = ~v;
  y[11] = int4(v > 2);
  y[12] = int4(v == 2);
  int4 w = v;
  ++w;
  y[13] = w;
  w = v;
  w *= -1;
  y[14] = w;
  y[15] = int4((v < 2) || (v >= 4));
}

//# launch indices_of_vectors size=4
//# buffer x=f32:16:iota
//# buffer y=f32:16
//# expect y[i] = floor(i / 4) * 4 + 3 - i % 4
kernel void indices_of_vectors(device const float4* x [[buffer(0)]], device float4* y [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
  float4 r;
  for (int k = 0; k < 4; ++k) r[k] = x[i][3 - k];
  y[i] = r;
}

//# launch packed_types size=4
//# buffer x=f32:12:iota:1
//# buffer y=f32:12
//# expect y[i] = 2 * x[i] + (i % 3 == 1 ? 1 : 0)
kernel void packed_types(device const packed_float3* x [[buffer(0)]],
                         device packed_float3* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  float3 v = float3(x[i]) * 2.0f;
  v.y += 1.0f;
  y[i] = packed_float3(v);
}

// Packed vectors are aligned as their elements.
//# launch packed_from_odd_addresses size=4
//# buffer x=f16:17:iota
//# buffer y=f16:16
//# expect y[i] = x[i + 1]
kernel void packed_from_odd_addresses(device const half* x [[buffer(0)]],
                                      device packed_half4* y [[buffer(1)]],
                                      uint i [[thread_position_in_grid]]) {
  y[i] = *(device const packed_half4*)(x + 1 + 4 * i);
}

//# launch sizes size=1
//# buffer y=u32:20
//# expect y = 16, 12, 8, 16, 6, 2, 3, 4, 16, 32, 64, 8, 24, 1, 2, 8, 16, 4, 8, 12
kernel void sizes(device uint* y [[buffer(0)]]) {
  y[0] = sizeof(float3), y[1] = sizeof(packed_float3), y[2] = sizeof(half4);
  y[3] = alignof(float3), y[4] = sizeof(packed_half3), y[5] = alignof(packed_half4);
  y[6] = sizeof(packed_uchar3), y[7] = sizeof(uchar4), y[8] = sizeof(float2x2);
  y[9] = sizeof(half4x4), y[10] = sizeof(float4x4), y[11] = alignof(float2x3) / 2;
  y[12] = sizeof(half3x2) * 2, y[13] = sizeof(bool), y[14] = sizeof(bfloat);
  y[15] = sizeof(long), y[16] = sizeof(long2), y[17] = alignof(char4);
  y[18] = sizeof(size_t), y[19] = sizeof(packed_int3);
}

//# launch matrices size=1
//# buffer x=f32:16:iota:1
//# buffer y=f32:29
//# expect y = 20, 44, 68, 92, 62, 68, 74, 80, 1, 5, 9, 13, 2, 6, 10, 14, 30, 70, 110, 150, 7, 10, 15, 22, 4, 9, 16, -2, 4
kernel void matrices(device const float4x4* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  const float4x4 m = x[0];
  const float4 v = float4(0, 1, 2, 3) * m, w = m * float4(0, 1, 2, 3);
  const float4x4 t = transpose(m);
  const float4 r = float4(1, 2, 3, 4) * m;
  for (int k = 0; k < 4; ++k) {
    y[k] = v[k];
    y[4 + k] = w[k];
    y[8 + k] = t[0][k];
    y[12 + k] = t[1][k];
    y[16 + k] = r[k];
  }
  const float2x2 a = float2x2(1, 2, 3, 4), p = a * a;
  y[20] = p[0].x, y[21] = p[0].y, y[22] = p[1].x, y[23] = p[1].y;
  const float3x3 d = float3x3(float3(4, 0, 0), float3(0, 9, 0), float3(0, 0, 16));
  y[24] = d[0][0], y[25] = d[1][1], y[26] = d[2].z;
  y[27] = determinant(a);
  y[28] = determinant(float3x3(2.0f)) / 2;
}

//# launch matrix_arithmetic size=1
//# buffer x=f16:8:iota:1
//# buffer y=f32:16
//# expect y = 2, 3, 4, 5, 0, 1, 2, 3, 3, 6, 9, 12, 1, 2, 5, 8
kernel void matrix_arithmetic(device const half2x4* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  const float2x4 m = float2x4(x[0]);
  const float2x4 ones = float2x4(float4(1), float4(1));
  const float2x4 more = m + ones, less = m - ones, thrice = 3.0f * m;
  for (int k = 0; k < 4; ++k) {
    y[k] = more[0][k];
    y[4 + k] = less[0][k];
    y[8 + k] = thrice[0][k];
  }
  float2x4 changed = m;
  changed[1] = changed[1] * 0.5f;
  changed[1].w = 8;
  changed *= 1.0f;
  changed += -1.0f * ones;
  changed -= -1.0f * ones;
  y[12] = changed[0].x, y[13] = changed[0].y, y[14] = changed[1].x * 2, y[15] = changed[1].w;
}

union Bits {
  float f;
  uint u;
  uchar bytes[4];
};

//# launch bits_as_types size=1
//# buffer x=f32:1:const:1
//# buffer y=u32:10
//# expect y = 1065353216, 15360, 16256, 1, 1073741824, 1065353216, 63, 128, 1065353216, 2
kernel void bits_as_types(device const float* x [[buffer(0)]], device uint* y [[buffer(1)]]) {
  y[0] = as_type<uint>(x[0]);
  y[1] = as_type<ushort>(half(x[0]));
  y[2] = as_type<ushort>(bfloat(x[0]));
  y[3] = uint(as_type<float>(0x3f800000u));
  y[4] = as_type<uint2>(float2(x[0], 2.0f)).y;
  Bits bits;
  bits.f = x[0];
  y[5] = bits.u;
  y[6] = bits.bytes[3];
  y[7] = bits.bytes[2];
  y[8] = *(device const uint*)x;
  y[9] = uint(as_type<half2>(0x40003c00u).y);
}

//# launch limits size=1
//# buffer y=f32:20
//# expect y = 127, -128, 255, 32767, -32768, 65535, 2147483647, 4294967295, 65504, 0x1p-14, 0x1p-10, 3.4028234663852886e38, 0x1p-126, 0x1p-23, inf, 0x1.fep127, 0x1p-7, 24, 11, nan
kernel void limits(device float* y [[buffer(0)]]) {
  y[0] = numeric_limits<char>::max(), y[1] = numeric_limits<char>::min();
  y[2] = numeric_limits<uchar>::max(), y[3] = numeric_limits<short>::max();
  y[4] = numeric_limits<short>::lowest(), y[5] = numeric_limits<ushort>::max();
  y[6] = float(numeric_limits<int>::max()), y[7] = float(numeric_limits<uint>::max());
  y[8] = numeric_limits<half>::max(), y[9] = numeric_limits<half>::min();
  y[10] = numeric_limits<half>::epsilon(), y[11] = numeric_limits<float>::max();
  y[12] = numeric_limits<float>::min(), y[13] = numeric_limits<float>::epsilon();
  y[14] = numeric_limits<float>::infinity(), y[15] = float(numeric_limits<bfloat>::max());
  y[16] = float(numeric_limits<bfloat>::epsilon()), y[17] = numeric_limits<float>::digits;
  y[18] = numeric_limits<half>::digits, y[19] = numeric_limits<float>::quiet_NaN();
}

template <typename T, typename = enable_if_t<is_integral_v<T>>>
constexpr int kind_of(T) {
  return is_signed_v<T> ? 1 : 2;
}
template <typename T, enable_if_t<is_floating_point<T>::value, bool> = true>
constexpr int kind_of(T) {
  return 3;
}
static_assert(is_same_v<conditional_t<true, int, float>, int>, "conditional");
static_assert(is_same<remove_cv_t<const int>, int>::value, "remove_cv");
static_assert(is_same_v<remove_reference_t<thread int&>, int>, "remove_reference");
static_assert(is_same_v<remove_pointer_t<device int*>, int>, "remove_pointer");
static_assert(is_same_v<remove_addrspace_t<device int>, int>, "remove_addrspace");
static_assert(is_same_v<make_unsigned_t<int>, uint> && is_same_v<make_signed_t<uint>, int>, "signs");
static_assert(is_unsigned_v<uchar> && is_arithmetic_v<half> && is_scalar_v<float>, "scalars");
static_assert(is_pointer_v<device float*> && is_const_v<const int> && is_void_v<void>, "kinds");
static_assert(is_convertible_v<int, float> && is_trivially_copyable_v<float4>, "conversions");
static_assert(disjunction_v<false_type, true_type> && !conjunction_v<false_type, true_type>, "logic");
static_assert(negation<false_type>::value && bool_constant<true>::value, "constants");
static_assert(is_enum_v<mem_flags> && is_class_v<float2> && !is_class_v<int>, "classes");

//# launch traits size=1
//# buffer y=i32:9
//# expect y = 1, 2, 3, 3, 4, 6, 24, 5, 1
kernel void traits(device int* y [[buffer(0)]]) {
  y[0] = kind_of(1);
  y[1] = kind_of(1u);
  y[2] = kind_of(1.0h);
  y[3] = kind_of(bfloat(1.0f));
  array<int, 4> items = {{1, 2, 3, 4}};
  y[4] = int(items.size());
  items[1] = 6;
  y[5] = items[1];
  int product = 1;
  const int values[] = {1, 2, 3, 4};
  for (const int k : values) product *= k;
  y[6] = product;
  int left = 3, right = 5;
  swap(left, right);
  y[7] = left;
  y[8] = make_uniform(1);
}

template <typename T, int N>
T sum_of(vec<T, N> v) {
  T total = 0;
  for (int k = 0; k < N; ++k) total += v[k];
  return total;
}
//# launch generic_vectors size=1
//# buffer y=f32:6
//# expect y = 6, 10, 3, 5, 11, 3.14159274101257324
kernel void generic_vectors(device float* y [[buffer(0)]]) {
  y[0] = sum_of(float3(1, 2, 3));
  y[1] = sum_of(vec<half, 4>(1, 2, 3, 4));
  y[2] = sum_of(int2(1, 2));
  const bool4 some = bool4(true, false, true, true);
  y[3] = int(some.x) + int(some.y) + 4 * int(some.w);
  const matrix<float, 2, 2> m = matrix<float, 2, 2>(1, 2, 3, 4);
  y[4] = (m * vec<float, 2>(2, 3))[0];
  y[5] = M_PI_F;
}
