// Operations of quads: four neighbouring lanes.
#include <metal_stdlib>
using namespace metal;

//# launch quad_reductions size=32
//# buffer y=f32:128
//# expect y[i] = i < 32 ? 16 * floor(i / 4) + 10 : i < 64 ? 4 * floor((i - 32) / 4) + 4 : i < 96 ? 4 * floor((i - 64) / 4) + 1 : 24
kernel void quad_reductions(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const float v = float(lane + 1);
  y[lane] = quad_sum(v);
  y[32 + lane] = quad_max(v);
  y[64 + lane] = quad_min(v);
  y[96 + lane] = quad_product(float(lane % 4 + 1));
}

//# launch quad_bits size=32
//# buffer y=u32:96
//# expect y[i] = i < 32 ? 4 * floor(i / 4) : i < 64 ? 4 * floor((i - 32) / 4) + 3 : 0
kernel void quad_bits(device uint* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = quad_and(lane);
  y[32 + lane] = quad_or(lane);
  y[64 + lane] = quad_xor(lane);
}

//# launch quad_shuffles size=32
//# buffer y=i32:160
//# expect y[i] = i < 32 ? 4 * floor(i / 4) + 3 - i % 4 : i < 64 ? 4 * floor((i - 32) / 4) + 2 : i < 96 ? ((i - 64) ^ 2) : i < 128 ? (i % 4 == 3 ? -1 : i - 95) : (i % 4 == 0 ? -1 : i - 129)
kernel void quad_shuffles(device int* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]],
                          uint within [[thread_index_in_quadgroup]]) {
  const int v = int(lane);
  y[lane] = quad_shuffle(v, ushort(3 - within));
  y[32 + lane] = quad_broadcast(v, 2);
  y[64 + lane] = quad_shuffle_xor(v, 2);
  const int down = quad_shuffle_down(v, 1), up = quad_shuffle_up(v, 1);
  y[96 + lane] = within == 3 ? -1 : down;
  y[128 + lane] = within == 0 ? -1 : up;
}

// Rotations, fills, votes and scans of a quad.
//# launch quad_more size=32
//# buffer y=i32:256
//# expect y[i] = i < 32 ? 4 * floor(i / 4) + (i + 1) % 4 : i < 64 ? 4 * floor((i - 32) / 4) + (i + 3) % 4 : i < 96 ? (i % 4 == 0 ? -5 : i - 65) : i < 128 ? (i % 4 == 3 ? -6 : i - 95) : i < 160 ? 4 * floor((i - 128) / 4) : i < 192 ? (i - 160 < 4 ? 1 : 0) : i < 224 ? (i - 192 < 4 ? 1 : 0) : (i % 4 == 0 ? 1 : 0)
kernel void quad_more(device int* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const int v = int(lane);
  y[lane] = quad_shuffle_rotate_down(v, 1);
  y[32 + lane] = quad_shuffle_rotate_up(v, 1);
  y[64 + lane] = quad_shuffle_and_fill_up(v, -5, 1);
  y[96 + lane] = quad_shuffle_and_fill_down(v, -6, 1);
  y[128 + lane] = quad_broadcast_first(v);
  y[160 + lane] = quad_any(lane == 2) ? 1 : 0;
  y[192 + lane] = quad_all(lane < 4) ? 1 : 0;
  y[224 + lane] = quad_is_first() ? 1 : 0;
}

//# launch quad_scans size=32
//# buffer y=i32:192
//# expect y[i] = i < 32 ? (i % 4 + 1) * (i % 4 + 2) / 2 : i < 64 ? (i % 4) * (i % 4 + 1) / 2 : i < 96 ? pow(2, i % 4 + 1) : i < 128 ? pow(2, i % 4) : i < 160 ? 5 : 15
kernel void quad_scans(device int* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const int v = int(lane % 4 + 1);
  y[lane] = quad_prefix_inclusive_sum(v);
  y[32 + lane] = quad_prefix_exclusive_sum(v);
  y[64 + lane] = quad_prefix_inclusive_product(2);
  y[96 + lane] = quad_prefix_exclusive_product(2);
  y[128 + lane] = int(quad_vote::vote_t(quad_ballot(lane % 2 == 0)));
  y[160 + lane] = int(quad_vote::vote_t(quad_active_threads_mask()));
}
