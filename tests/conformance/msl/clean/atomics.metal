// Atomics of every kind, on device and threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//# launch counters groups=4 size=64
//# inout a=i32:6:ints:0:1000:1000:0:-1:0
//# expect a = 256, 744, 0, 255, 0, 0xff
kernel void counters(device atomic_int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&a[0], 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&a[1], 1, memory_order_relaxed);
  atomic_fetch_min_explicit(&a[2], int(i), memory_order_relaxed);
  atomic_fetch_max_explicit(&a[3], int(i), memory_order_relaxed);
  atomic_fetch_and_explicit(&a[4], ~(1 << (i % 32)), memory_order_relaxed);
  atomic_fetch_or_explicit(&a[5], 1 << (i % 8), memory_order_relaxed);
}

//# launch returns_what_was_there size=1
//# inout a=u32:1:const:12
//# buffer y=u32:9
//# expect y = 12, 15, 14, 14, 20, 6, 2, 7, 5
//# expect a = 9
kernel void returns_what_was_there(device atomic_uint* a [[buffer(0)]], device uint* y [[buffer(1)]]) {
  y[0] = atomic_fetch_add_explicit(a, 3u, memory_order_relaxed);
  y[1] = atomic_fetch_sub_explicit(a, 1u, memory_order_relaxed);
  y[2] = atomic_load_explicit(a, memory_order_relaxed);
  y[3] = atomic_fetch_max_explicit(a, 20u, memory_order_relaxed);
  y[4] = atomic_fetch_min_explicit(a, 6u, memory_order_relaxed);
  y[5] = atomic_fetch_and_explicit(a, 3u, memory_order_relaxed);
  y[6] = atomic_fetch_or_explicit(a, 5u, memory_order_relaxed);
  y[7] = atomic_fetch_xor_explicit(a, 2u, memory_order_relaxed);
  y[8] = atomic_exchange_explicit(a, 9u, memory_order_relaxed);
}

//# launch floats_and_bools groups=2 size=32
//# inout f=f32:1:const:0.5
//# inout b=u8:4:const:0
//# expect f = 32.5
//# expect b = 1, 0, 0, 0
kernel void floats_and_bools(device atomic_float* f [[buffer(0)]],
                             device atomic_bool* b [[buffer(1)]]) {
  atomic_fetch_add_explicit(f, 0.5f, memory_order_relaxed);
  atomic_store_explicit(b, true, memory_order_relaxed);
}

//# launch wide_minimum groups=2 size=32
//# inout a=u64:2:ints:1099511627776:5
//# expect a = 1099511627000, 1099511627039
kernel void wide_minimum(device atomic_ulong* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_min_explicit(&a[0], 1099511627000ul + i % 40, memory_order_relaxed);
  atomic_max_explicit(&a[1], 1099511627000ul + i % 40, memory_order_relaxed);
}

// The largest float, by compare and exchange on its bits.
//# launch compare_exchange groups=4 size=64
//# buffer x=f32:256:uniform:0:100
//# inout a=f32:1:const:0
//# expect a[i] = most(k, 0, 256, x[k])
kernel void compare_exchange(device const float* x [[buffer(0)]], device atomic_uint* a [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  uint seen = atomic_load_explicit(a, memory_order_relaxed);
  while (as_type<float>(seen) < x[i] &&
         !atomic_compare_exchange_weak_explicit(a, &seen, as_type<uint>(x[i]), memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

//# launch group_histogram groups=2 size=128
//# buffer x=u32:256:iota
//# inout counts=u32:16:const:0
//# expect counts[i] = sum(k, 0, 256, (k * 7 + 3) % 16 == i ? 1 : 0)
kernel void group_histogram(device const uint* x [[buffer(0)]],
                            device atomic_uint* counts [[buffer(1)]],
                            uint i [[thread_position_in_grid]],
                            uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint local[16];
  if (t < 16) atomic_store_explicit(&local[t], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&local[(x[i] * 7 + 3) % 16], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16)
    atomic_fetch_add_explicit(&counts[t], atomic_load_explicit(&local[t], memory_order_relaxed),
                              memory_order_relaxed);
}

// A ticket: the group that comes last sees what all have written, ordered by fences.
//# launch last_group_sums groups=4 size=32
//# buffer part=f32:4
//# inout ticket=u32:1:const:0
//# buffer y=f32:1
//# expect y = 320
kernel void last_group_sums(device atomic_float* part [[buffer(0)]],
                            device atomic_uint* ticket [[buffer(1)]], device float* y [[buffer(2)]],
                            uint g [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]]) {
  const float mine = simd_sum(float(g + 1));
  if (lane != 0) return;
  atomic_store_explicit(&part[g], mine, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  if (atomic_fetch_add_explicit(ticket, 1u, memory_order_relaxed) != 3) return;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  float total = 0;
  for (int k = 0; k < 4; ++k) total += atomic_load_explicit(&part[k], memory_order_relaxed);
  y[0] = total;
}
