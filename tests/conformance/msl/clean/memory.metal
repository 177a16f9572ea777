// Threadgroup memory: static, dynamic, in helpers and templates, reused between barriers; what
// barriers order.
#include <metal_stdlib>
using namespace metal;

//# launch reverse groups=2 size=64
//# buffer x=f32:128:iota
//# buffer y=f32:128
//# expect y[i] = floor(i / 64) * 64 + 63 - i % 64
kernel void reverse(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[63 - t];
}

//# launch tree groups=4 size=128
//# buffer x=i32:512:iota
//# buffer y=i32:4
//# expect y[i] = sum(k, 0, 128, 128 * i + k)
kernel void tree(device const int* x [[buffer(0)]], device int* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup int part[128];
  part[t] = x[i];
  for (uint n = 64; n > 0; n /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < n) part[t] += part[t + n];
  }
  if (t == 0) y[g] = part[0];
}

//# launch dynamic_memory groups=2 size=32 memory=128,64
//# buffer x=f32:64:iota
//# buffer y=f32:64
//# expect y[i] = floor(i / 32) * 32 + (i % 32 + 1) % 32 + i % 4
kernel void dynamic_memory(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                           threadgroup float* tile [[threadgroup(0)]],
                           threadgroup ushort* extra [[threadgroup(1)]],
                           uint i [[thread_position_in_grid]],
                           uint t [[thread_index_in_threadgroup]]) {
  tile[t] = x[i];
  extra[t] = ushort(t % 4);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[(t + 1) % 32] + extra[t];
}

template <typename T, int N>
T rotated(T value, uint t) {
  threadgroup T tile[N];
  tile[t] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const T result = tile[(t + 1) % N];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}
//# launch memory_in_helpers size=64
//# buffer y=f32:64
//# expect y[i] = (i + 1) % 64 + ((i + 1) % 64) * 2 + (i + 2) % 64
kernel void memory_in_helpers(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  const float a = rotated<float, 64>(t, t);
  const float b = float(rotated<int, 64>(2 * int(t), t));
  y[t] = a + b + rotated<float, 64>(a, t);
}

// Several variables in one declaration, a matrix, a struct, one that outlives a loop.
struct Cell {
  float value;
  int next;
};
//# launch kinds_of_storage size=32
//# buffer y=f32:32
//# expect y[i] = (i + 5) % 32 + 2 * ((i + 5) % 32) + 3 * (31 - i) + 31
kernel void kinds_of_storage(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float a[32], b[4][8];
  threadgroup Cell cells[32];
  threadgroup float most;
  a[t] = t;
  b[t / 8][t % 8] = 2 * t;
  cells[31 - t] = {3.0f * t, int(t + 5) % 32};
  if (t == 31) most = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int next = cells[31 - t].next;
  y[t] = a[next] + b[next / 8][next % 8] + cells[t].value + most;
}

// Two barriers keep the two reductions of one buffer apart.
//# launch reuse_between_barriers groups=2 size=96
//# buffer x=f32:192:uniform:-1:1
//# buffer y=f32:192
//# expect y[i] = (x[i] - least(k, 0, 96, x[floor(i / 96) * 96 + k])) / most(k, 0, 96, x[floor(i / 96) * 96 + k]) within 1e-6
kernel void reuse_between_barriers(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                   uint i [[thread_position_in_grid]],
                                   uint lane [[thread_index_in_simdgroup]],
                                   uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[3];
  const float low = simd_min(x[i]), high = simd_max(x[i]);
  if (lane == 0) part[simd] = low;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float lowest = min3(part[0], part[1], part[2]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[simd] = high;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = (x[i] - lowest) / max3(part[0], part[1], part[2]);
}

// A simdgroup_barrier is enough between lanes of one SIMD-group.
//# launch simdgroup_exchange size=64
//# buffer y=f32:64
//# expect y[i] = floor(i / 32) * 32 + ((i % 32) ^ 1)
kernel void simdgroup_exchange(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]],
                               uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[2][32];
  simdgroup_barrier(mem_flags::mem_none);
  tile[simd][lane] = t;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[simd][lane ^ 1];
}

// Device memory between threads of one group, ordered by a barrier that names it.
//# launch device_between_barriers groups=2 size=64
//# inout x=f32:128:iota
//# expect x[i] = floor(i / 64) * 64 + 63 - i % 64 + 1
kernel void device_between_barriers(device float* x [[buffer(0)]],
                                    uint i [[thread_position_in_grid]],
                                    uint t [[thread_index_in_threadgroup]]) {
  x[i] += 1;
  threadgroup_barrier(mem_flags::mem_device);
  const float other = x[i - t + 63 - t];
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  x[i] = other;
}

// Bytes side by side by different threads; one value by all of them.
//# launch neighbours_and_equals size=64
//# buffer bytes=u8:64
//# buffer flag=u32:1
//# expect bytes[i] = 255 - i
//# expect flag = 7
kernel void neighbours_and_equals(device uchar* bytes [[buffer(0)]], device uint* flag [[buffer(1)]],
                                  uint t [[thread_index_in_threadgroup]]) {
  bytes[t] = uchar(255 - t);
  flag[0] = 7;
}

// The whole group goes round the same number of times, and leaves in the middle.
//# launch uniform_control_flow groups=3 size=64
//# buffer n=u32:3:ints:1:3:0
//# buffer y=f32:192
//# expect y[i] = n[floor(i / 64)] == 0 ? -1 : floor(i / 64) * 64 + (i % 64 + n[floor(i / 64)]) % 64
kernel void uniform_control_flow(constant uint* n [[buffer(0)]], device float* y [[buffer(1)]],
                                 uint i [[thread_position_in_grid]],
                                 uint t [[thread_index_in_threadgroup]],
                                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  y[i] = -1;
  if (n[g] == 0) return;
  float mine = i;
  for (uint k = 0; k < n[g]; ++k) {
    tile[t] = mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mine = tile[(t + 1) % 64];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = mine;
}

// Private arrays, whole and through pointers.
float total_of(thread const float* values, int n) {
  float total = 0;
  for (int k = 0; k < n; ++k) total += values[k];
  return total;
}
//# launch private_arrays size=8
//# buffer y=f32:8
//# expect y[i] = sum(k, 0, 16, k * (i + 1)) + sum(k, 0, 4, k * (i + 1)) + i + 1
kernel void private_arrays(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  thread float values[16];
  for (int k = 0; k < 16; ++k) values[k] = k * (i + 1.0f);
  float copy[4] = {};
  for (int k = 0; k < 4; ++k) copy[k] = values[k];
  thread float* p = values + 1;
  y[i] = total_of(values, 16) + total_of(copy, 4) + *p;
}

// Two launches: the second sees all that the first wrote.
//# launch first_pass groups=4 size=32
//# buffer x=f32:128:iota
//# buffer sums=f32:4
//# launch second_pass size=4
//# bind 0 first_pass.sums
//# buffer@1 y=f32:4
//# expect y = 496, 2016, 4560, 8128
kernel void first_pass(device const float* x [[buffer(0)]], device float* sums [[buffer(1)]],
                       uint i [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
  const float total = simd_sum(x[i]);
  if (lane == 0) sums[g] = total;
}
kernel void second_pass(device const float* sums [[buffer(0)]], device float* y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  float total = 0;
  for (uint k = 0; k <= i; ++k) total += sums[k];
  y[i] = total;
}
