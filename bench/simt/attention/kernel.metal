// Attention forward on simdgroup matrices: a tile of 32 query rows a group, eight rows for each of
// four SIMD-groups; keys and values come through threadgroup memory in tiles of 32. The softmax is
// the online one: running maximum and sum of each row.
#include <metal_stdlib>
using namespace metal;

constant constexpr int D = 64;     // head dimension
constant constexpr int kRows = 32; // of a tile, of queries and of keys

kernel void attention(device const half* q [[buffer(0)]], device const half* k [[buffer(1)]],
                      device const half* v [[buffer(2)]], device half* o [[buffer(3)]],
                      constant int& length [[buffer(4)]],
                      uint3 group [[threadgroup_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]],
                      uint warp [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
  threadgroup half keys[kRows * D];
  threadgroup half values[kRows * D];
  const int head = int(group.y) * length * D;
  const int first = int(group.x) * kRows + int(warp) * 8;
  const float scale = 0.125f * 1.44269504f;  // 1 / sqrt(D), in powers of two

  simdgroup_half8x8 query[D / 8];
  for (int d = 0; d < D / 8; ++d) simdgroup_load(query[d], q + head + first * D + d * 8, D);
  simdgroup_float8x8 sum[D / 8];
  for (int d = 0; d < D / 8; ++d) sum[d] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  float most = -INFINITY, total = 0.0f;

  for (int base = 0; base < length; base += kRows) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = int(t) * 4; i < kRows * D; i += 128 * 4) {
      *(threadgroup half4*)(keys + i) = *(device const half4*)(k + head + base * D + i);
      *(threadgroup half4*)(values + i) = *(device const half4*)(v + head + base * D + i);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 score[kRows / 8];
    for (int n = 0; n < kRows / 8; ++n) {
      score[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (int d = 0; d < D / 8; ++d) {
        simdgroup_half8x8 key;
        simdgroup_load(key, keys + n * 8 * D + d * 8, D, ulong2(0), true);
        simdgroup_multiply_accumulate(score[n], query[d], key, score[n]);
      }
    }
    float highest = most;
    for (int n = 0; n < kRows / 8; ++n) {
      score[n].thread_elements() *= scale;
      highest = max(highest, max(score[n].thread_elements().x, score[n].thread_elements().y));
    }
    // The four lanes of a row differ in bits 0 and 3.
    highest = max(highest, simd_shuffle_xor(highest, 1));
    highest = max(highest, simd_shuffle_xor(highest, 8));
    const float shrink = exp2(most - highest);
    most = highest;
    float part = 0.0f;
    for (int n = 0; n < kRows / 8; ++n) {
      score[n].thread_elements() = exp2(score[n].thread_elements() - highest);
      part += score[n].thread_elements().x + score[n].thread_elements().y;
    }
    total = total * shrink + part;
    for (int d = 0; d < D / 8; ++d) sum[d].thread_elements() *= shrink;
    for (int n = 0; n < kRows / 8; ++n)
      for (int d = 0; d < D / 8; ++d) {
        simdgroup_half8x8 value;
        simdgroup_load(value, values + n * 8 * D + d * 8, D);
        simdgroup_multiply_accumulate(sum[d], score[n], value, sum[d]);
      }
  }
  total += simd_shuffle_xor(total, 1);
  total += simd_shuffle_xor(total, 8);
  for (int d = 0; d < D / 8; ++d) {
    simdgroup_half8x8 out;
    out.thread_elements() = half2(sum[d].thread_elements() / total);
    simdgroup_store(out, o + head + first * D + d * 8, D);
  }
}
