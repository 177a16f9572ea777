// Operations of SIMD-groups: reductions, scans, shuffles, votes, with full, partial and divergent
// lanes.
#include <metal_stdlib>
using namespace metal;

//# launch reductions size=64
//# buffer x=f32:64:iota:1
//# buffer y=f32:256
//# expect y[i] = i < 64 ? (i < 32 ? 528 : 1552) : i < 128 ? (i < 96 ? 32 : 64) : i < 192 ? (i < 160 ? 1 : 33) : 1024
kernel void reductions(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint t [[thread_index_in_threadgroup]]) {
  y[t] = simd_sum(x[t]);
  y[64 + t] = simd_max(x[t]);
  y[128 + t] = simd_min(x[t]);
  y[192 + t] = simd_product(t % 32 < 10 ? 2.0f : 1.0f);
}

//# launch bit_reductions size=32
//# buffer x=u32:32:iota:96
//# buffer y=u32:96
//# expect y[i] = i < 32 ? 96 : i < 64 ? 127 : 0
kernel void bit_reductions(device const uint* x [[buffer(0)]], device uint* y [[buffer(1)]],
                           uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = simd_and(x[lane]);
  y[32 + lane] = simd_or(x[lane]);
  y[64 + lane] = simd_xor(x[lane]);
}

//# launch reductions_of_types size=32
//# buffer y=f32:160
//# expect y[i] = i < 32 ? 64 : i < 64 ? 496 : i < 96 ? 992 : i < 128 ? 31 : 528
kernel void reductions_of_types(device float* y [[buffer(0)]],
                                uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = float(simd_sum(2.0h));
  const float2 sums = simd_sum(float2(lane, 2 * lane));
  y[32 + lane] = sums.x;
  y[64 + lane] = sums.y;
  y[96 + lane] = float(simd_max(short(lane)));
  y[128 + lane] = float(simd_sum(ushort(lane + 1)));
}

// The last SIMD-group of 40 threads has 8 lanes.
//# launch partial_simdgroup size=40
//# buffer y=f32:80
//# expect y[i] = i < 40 ? (i < 32 ? 32 : 8) : (i % 40 < 32 ? i - 40 : i - 72) * ((i % 40 < 32 ? i - 40 : i - 72) + 1) / 2
kernel void partial_simdgroup(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]]) {
  y[t] = simd_sum(1.0f);
  y[40 + t] = simd_prefix_inclusive_sum(float(lane));
}

//# launch scans size=32
//# buffer y=f32:128
//# expect y[i] = i < 32 ? (i + 1) * (i + 2) / 2 : i < 64 ? (i - 32) * (i - 31) / 2 : i < 96 ? pow(2, min(i - 63, 20)) : pow(2, min(i - 96, 20))
kernel void scans(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const float v = float(lane + 1);
  y[lane] = simd_prefix_inclusive_sum(v);
  y[32 + lane] = simd_prefix_exclusive_sum(v);
  const float two = lane < 20 ? 2.0f : 1.0f;
  y[64 + lane] = simd_prefix_inclusive_product(two);
  y[96 + lane] = simd_prefix_exclusive_product(two);
}

//# launch shuffles size=32
//# buffer y=i32:224
//# expect y[i] = i < 32 ? 31 - i : i < 64 ? 5 : i < 96 ? ((i - 64) ^ 9) : i < 128 ? (i - 96 + 3) % 32 : i < 160 ? (i - 128 + 29) % 32 : i < 192 ? max(i - 160 - 2, -1) : min(i - 192 + 4, 32)
kernel void shuffles(device int* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const int v = int(lane);
  y[lane] = simd_shuffle(v, ushort(31 - lane));
  y[32 + lane] = simd_broadcast(v, 5);
  y[64 + lane] = simd_shuffle_xor(v, 9);
  y[96 + lane] = simd_shuffle_rotate_down(v, 3);
  y[128 + lane] = simd_shuffle_rotate_up(v, 3);
  const int up = simd_shuffle_up(v, 2), down = simd_shuffle_down(v, 4);
  y[160 + lane] = lane < 2 ? -1 : up;
  y[192 + lane] = lane >= 28 ? 32 : down;
}

//# launch fills size=32
//# buffer y=i32:128
//# expect y[i] = i < 32 ? (i < 3 ? 100 + i + 29 : i - 3) : i < 64 ? (i - 32 < 29 ? i - 29 : 100 + i - 61) : i < 96 ? ((i - 64) % 8 < 1 ? -1 : i - 65) : ((i - 96) % 4 < 2 ? i - 94 : -2)
kernel void fills(device int* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const int v = int(lane);
  y[lane] = simd_shuffle_and_fill_up(v, 100 + v, 3);
  y[32 + lane] = simd_shuffle_and_fill_down(v, 100 + v, 3);
  y[64 + lane] = simd_shuffle_and_fill_up(v, -1, 1, 8);
  y[96 + lane] = simd_shuffle_and_fill_down(v, -2, 2, 4);
}

//# launch shuffles_of_types size=32
//# buffer y=f32:128
//# expect y[i] = i < 32 ? (i ^ 1) : i < 64 ? 2 * ((i - 32) ^ 2) + 1 : i < 96 ? (i - 64 + 1) % 32 : 7.5
kernel void shuffles_of_types(device float* y [[buffer(0)]],
                              uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = float(simd_shuffle_xor(half(lane), 1));
  const uint2 pair = simd_shuffle_xor(uint2(lane, lane + 1), 2);
  y[32 + lane] = float(pair.x + pair.y);
  // 64 bits travel as two words.
  const ulong wide = as_type<ulong>(simd_shuffle_rotate_down(as_type<uint2>(ulong(lane) << 33), 1));
  y[64 + lane] = float(wide >> 33);
  y[96 + lane] = simd_broadcast_first(7.5f);
}

//# launch votes size=40
//# buffer y=u32:200
//# expect y[i] = i < 40 ? 1 : i < 80 ? (i - 40 < 32 ? 0 : 1) : i < 120 ? ((i - 80) % 32 == 0 ? 1 : 0) : i < 160 ? (i - 120 < 32 ? 16 : 4) : (i - 160 < 32 ? 32 : 8)
kernel void votes(device uint* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
  y[t] = simd_any(lane == 3) ? 1 : 0;
  y[40 + t] = simd_all(lane < 8) ? 1 : 0;
  y[80 + t] = simd_is_first() ? 1 : 0;
  const simd_vote even = simd_ballot(lane % 2 == 0);
  y[120 + t] = uint(popcount(simd_vote::vote_t(even)));
  y[160 + t] = uint(popcount(simd_vote::vote_t(simd_active_threads_mask())));
}

//# launch ballots_ask size=32
//# buffer y=u32:96
//# expect y[i] = i < 32 ? 1 : i < 64 ? 1 : 0
kernel void ballots_ask(device uint* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const simd_vote some = simd_ballot(lane > 30);
  y[lane] = some.any() ? 1 : 0;
  y[32 + lane] = simd_ballot(true).all() ? 1 : 0;
  y[64 + lane] = some.all() ? 1 : 0;
}

// A ladder of fills: the affine scan h = a h + b.
//# launch affine_scan size=32
//# buffer y=f32:32
//# expect y[i] = sum(k, 0, i + 1, pow(0.5, i - k) * (k + 1)) within 1e-6
kernel void affine_scan(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  float a = 0.5f, b = float(lane + 1);
  for (ushort step = 1; step < 32; step *= 2) {
    const float before_a = simd_shuffle_and_fill_up(a, 1.0f, step);
    const float before_b = simd_shuffle_and_fill_up(b, 0.0f, step);
    b = fma(a, before_b, b);
    a *= before_a;
  }
  y[lane] = b;
}

//# launch block_sum groups=3 size=256
//# buffer x=f32:768:iota
//# buffer y=f32:3
//# expect y[i] = sum(k, 0, 256, x[256 * i + k])
kernel void block_sum(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                      uint i [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simd [[simdgroup_index_in_threadgroup]],
                      uint simds [[simdgroups_per_threadgroup]]) {
  threadgroup float part[32];
  const float mine = simd_sum(x[i]);
  if (lane == 0) part[simd] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float all = simd_sum(lane < simds ? part[lane] : 0.0f);
  if (simd == 0 && lane == 0) y[g] = all;
}
