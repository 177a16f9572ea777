// Barriers that not all threads reach.
#include <metal_stdlib>
using namespace metal;

//# launch returned_before groups=2 size=64
//# buffer n=u32:1:const:100
//# buffer x=f32:100:iota
//# buffer y=f32:100
//# finds barrier_divergence
kernel void returned_before(constant uint& n [[buffer(0)]], device const float* x [[buffer(1)]],
                            device float* y [[buffer(2)]], uint i [[thread_position_in_grid]],
                            uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i >= n) return;
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup); //! barrier_divergence
  y[i] = tile[t];
}

//# launch in_a_branch size=64
//# buffer y=f32:64
//# finds barrier_divergence
kernel void in_a_branch(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  if (t < 32)
    threadgroup_barrier(mem_flags::mem_device); //! barrier_divergence
  else
    threadgroup_barrier(mem_flags::mem_device); //! barrier_divergence
  y[t] = t;
}

//# launch of_some_lanes size=32
//# buffer y=f32:32
//# finds barrier_divergence
kernel void of_some_lanes(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  if (lane < 16) simdgroup_barrier(mem_flags::mem_none); //! barrier_divergence
  y[lane] = lane;
}

//# launch different_rounds size=64
//# buffer y=f32:64
//# finds barrier_divergence
kernel void different_rounds(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  for (uint k = 0; k < 1 + t / 32; ++k)
    threadgroup_barrier(mem_flags::mem_threadgroup); //! barrier_divergence
  y[t] = t;
}
