// simdgroup_matrix: load, store, multiply, strides, origins, transposes, elements of a lane.
#include <metal_stdlib>
using namespace metal;

//# launch load_and_store size=32
//# buffer x=f32:64:iota
//# buffer y=f32:128
//# expect y[i] = i < 64 ? x[i] : x[(i - 64) % 8 * 8 + floor((i - 64) / 8)]
kernel void load_and_store(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  simdgroup_float8x8 m, t;
  simdgroup_load(m, x);
  simdgroup_store(m, y);
  simdgroup_load(t, x, 8, ulong2(0, 0), true);
  simdgroup_store(t, y + 64, 8);
}

// A tile at column 8 of row 16 in rows of 40 elements, and back transposed to another place.
//# launch strides_and_origins size=32
//# buffer x=f16:1280:iota:0:0.5
//# buffer y=f16:640
//# expect y[i] = i >= 320 ? 1 : i % 40 < 16 || i % 40 >= 24 ? 2 : x[(16 + i % 40 - 16) * 40 + 8 + floor(i / 40)]
kernel void strides_and_origins(device const half* x [[buffer(0)]], device half* y [[buffer(1)]],
                                uint lane [[thread_index_in_simdgroup]]) {
  for (uint k = lane; k < 640; k += 32)
    if (k >= 320 || k % 40 < 16 || k % 40 >= 24) y[k] = k >= 320 ? 1.0h : 2.0h;
  simdgroup_half8x8 m;
  simdgroup_load(m, x, 40, ulong2(8, 16));
  simdgroup_store(m, y, 40, ulong2(0, 16), true);
}

//# launch products size=32
//# buffer a=f32:64:uniform:-1:1
//# buffer b=f32:64:normal
//# buffer y=f32:192
//# expect y[i] = i < 64 ? sum(k, 0, 8, a[floor(i / 8) * 8 + k] * b[k * 8 + i % 8]) : i < 128 ? 1 + sum(k, 0, 8, a[floor((i - 64) / 8) * 8 + k] * b[i % 8 * 8 + k]) : sum(k, 0, 8, a[k * 8 + floor((i - 128) / 8)] * b[k * 8 + i % 8]) within 1e-6
kernel void products(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                     device float* y [[buffer(2)]]) {
  simdgroup_float8x8 p, q, r;
  simdgroup_load(p, a, 8);
  simdgroup_load(q, b, 8);
  simdgroup_multiply(r, p, q);
  simdgroup_store(r, y, 8);
  simdgroup_load(q, b, 8, 0, true);
  r = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_multiply_accumulate(r, p, q, r);
  simdgroup_store(r, y + 64, 8);
  simdgroup_load(p, a, 8, 0, true);
  simdgroup_load(q, b, 8);
  const simdgroup_float8x8 s = p * q;
  simdgroup_store(s, y + 128, 8);
}

//# launch half_products size=32
//# buffer a=f16:64:uniform:-1:1
//# buffer b=f16:64:uniform:0:1
//# buffer y=f32:64
//# buffer z=f16:64
//# expect y[i] = sum(k, 0, 8, a[floor(i / 8) * 8 + k] * b[k * 8 + i % 8]) within 1e-6
//# expect z[i] = sum(k, 0, 8, a[floor(i / 8) * 8 + k] * b[k * 8 + i % 8]) within 1e-3
kernel void half_products(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                          device float* y [[buffer(2)]], device half* z [[buffer(3)]]) {
  simdgroup_half8x8 p, q, s = make_filled_simdgroup_matrix<half, 8, 8>(0.0h);
  simdgroup_float8x8 r(0.0f);
  simdgroup_load(p, a, 8);
  simdgroup_load(q, b, 8);
  simdgroup_multiply_accumulate(r, p, q, r);
  simdgroup_multiply_accumulate(s, p, q, s);
  simdgroup_store(r, y, 8);
  simdgroup_store(s, z, 8);
}

//# launch bfloat_products size=32
//# buffer a=bf16:64:uniform:-1:1
//# buffer b=bf16:64:uniform:0:1
//# buffer y=f32:64
//# expect y[i] = sum(k, 0, 8, a[floor(i / 8) * 8 + k] * b[k * 8 + i % 8]) within 1e-6
kernel void bfloat_products(device const bfloat* a [[buffer(0)]],
                            device const bfloat* b [[buffer(1)]], device float* y [[buffer(2)]]) {
  simdgroup_bfloat8x8 p, q;
  simdgroup_matrix<float, 8, 8> r = make_filled_simdgroup_matrix<float, 8>(0.0f);
  simdgroup_load(p, a, 8);
  simdgroup_load(q, b, 8);
  simdgroup_multiply_accumulate(r, p, q, r);
  simdgroup_store(r, y, 8);
}

// The lane map: row (q & 4) + lane / 2 % 4, columns (q & 2) * 2 + lane % 2 * 2 and the next, for
// q = lane / 4.
//# launch lane_map size=32
//# buffer x=f32:64:iota
//# buffer y=f32:64
//# expect y[i] = ((floor(floor(i / 2) / 4) & 4) + floor(floor(i / 2) / 2) % 4) * 8 + (floor(floor(i / 2) / 4) & 2) * 2 + floor(i / 2) % 2 * 2 + i % 2
kernel void lane_map(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x, 8);
  y[2 * lane] = m.thread_elements()[0];
  y[2 * lane + 1] = m.thread_elements()[1];
}

// Elements set by hand, then multiplied by a diagonal.
//# launch elements_and_diagonals size=32
//# buffer y=f32:64
//# expect y[i] = 3 * i
kernel void elements_and_diagonals(device float* y [[buffer(0)]],
                                   ushort lane [[thread_index_in_simdgroup]]) {
  const ushort q = lane / 4, row = (q & 4) + lane / 2 % 4, column = (q & 2) * 2 + lane % 2 * 2;
  simdgroup_float8x8 m, r;
  m.thread_elements()[0] = row * 8 + column;
  reinterpret_cast<thread float2&>(m.thread_elements())[1] = row * 8 + column + 1;
  const simdgroup_float8x8 three = make_diagonal_simdgroup_matrix<float, 8>(3.0f);
  simdgroup_multiply(r, m, three);
  simdgroup_store(r, y, 8);
}

// C = A B of 32 by 32 tiles through threadgroup memory, 4 SIMD-groups, K = 32.
//# launch tiled_gemm size=128
//# buffer a=f16:1024:uniform:-1:1
//# buffer b=f16:1024:uniform:-1:1
//# buffer y=f32:1024
//# expect y[i] = sum(k, 0, 32, a[floor(i / 32) * 32 + k] * b[k * 32 + i % 32]) within 1e-5
kernel void tiled_gemm(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                       device float* y [[buffer(2)]], uint t [[thread_index_in_threadgroup]],
                       uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup half ta[32 * 8], tb[8 * 32];
  simdgroup_float8x8 sums[4];
  for (int n = 0; n < 4; ++n) sums[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < 32; k += 8) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = t; e < 256; e += 128) {
      ta[e] = a[e / 8 * 32 + k + e % 8];
      tb[e] = b[(k + e / 32) * 32 + e % 32];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_half8x8 left, right;
    simdgroup_load(left, ta + simd * 64, 8);
    for (int n = 0; n < 4; ++n) {
      simdgroup_load(right, tb + 8 * n, 32);
      simdgroup_multiply_accumulate(sums[n], left, right, sums[n]);
    }
  }
  for (int n = 0; n < 4; ++n) simdgroup_store(sums[n], y + simd * 256 + 8 * n, 32);
}

// Products in both branches of a condition that whole SIMD-groups take.
//# launch products_in_branches size=64
//# buffer x=f32:64:iota
//# buffer y=f32:128
//# expect y[i] = i < 64 ? 2 * x[i] : 5 * x[i - 64]
kernel void products_in_branches(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                 uint simd [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x, 8);
  if (simd == 0)
    m = m * simdgroup_float8x8(2.0f);
  else
    m = m * simdgroup_float8x8(5.0f);
  simdgroup_store(m, y + 64 * simd, 8);
}
