// Values that nobody defined, and outputs that nobody wrote.
#include <metal_stdlib>
using namespace metal;

//# launch unwritten_tile size=32
//# buffer y=f32:32
//# finds uninitialised_group_memory tile
kernel void unwritten_tile(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t + 32]; //! uninitialised_group_memory
}

// Written for 32 SIMD-groups, run with two.
//# launch all_partials size=64
//# buffer x=f32:64:iota
//# buffer y=f32:1
//# finds uninitialised_group_memory part
kernel void all_partials(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint t [[thread_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[32];
  const float mine = simd_sum(x[t]);
  if (lane == 0) part[simd] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float total = simd_sum(part[lane]); //! uninitialised_group_memory
  if (t == 0) y[0] = total;
}

//# launch counter_without_a_start size=32
//# buffer y=u32:1
//# finds uninitialised_group_memory count
kernel void counter_without_a_start(device uint* y [[buffer(0)]],
                                    uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint count;
  atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed); //! uninitialised_group_memory
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) y[0] = atomic_load_explicit(&count, memory_order_relaxed);
}

//# launch shifted_in size=32
//# buffer y=f32:32
//# finds undefined_lane
kernel void shifted_in(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  float v = lane;
  v += simd_shuffle_up(v, 1); //! undefined_lane
  y[lane] = v;
}

//# launch absent_lanes size=40
//# buffer y=f32:40
//# finds undefined_lane
kernel void absent_lanes(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  y[t] = simd_shuffle_xor(float(t), 16); //! undefined_lane
}

//# launch inactive_lanes size=32
//# buffer y=f32:32
//# finds undefined_lane
kernel void inactive_lanes(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = 0;
  if (lane < 16) y[lane] = simd_broadcast(float(lane), 20); //! undefined_lane
}

//# launch branch_on_nothing size=32
//# buffer x=f32:32:iota
//# buffer y=f32:32
//# finds uninitialised_variable
kernel void branch_on_nothing(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  float limits[2];
  limits[0] = 3;
  y[i] = 0;
  if (x[i] > limits[int(x[i]) % 2]) y[i] = 1; //! uninitialised_variable
}

//# launch output_as_input size=32
//# buffer y=f32:32
//# finds uninitialised_output y
kernel void output_as_input(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] += 1; //! uninitialised_output
}

//# launch half_of_it groups=1 size=32
//# buffer y=f32:64
//# finds uncovered_output y
kernel void half_of_it(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = i; //! uncovered_output
}
