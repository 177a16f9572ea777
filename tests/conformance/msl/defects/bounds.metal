// Accesses outside of what they are meant for.
#include <metal_stdlib>
using namespace metal;

//# launch before_the_start size=32
//# buffer x=f32:32:iota
//# buffer y=f32:32
//# finds out_of_bounds
kernel void before_the_start(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = x[int(i) - 1]; //! out_of_bounds
}

//# launch one_past_the_end groups=2 size=32
//# buffer x=f32:64:iota
//# buffer y=f32:64
//# finds out_of_bounds x
kernel void one_past_the_end(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = x[i + 1] - x[i]; //! out_of_bounds
}

//# launch group_too_many groups=3 size=32
//# buffer y=f32:80
//# finds out_of_bounds y
kernel void group_too_many(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = i; //! out_of_bounds
}

//# launch vector_tail size=3
//# buffer x=f32:10:iota
//# buffer y=f32:12
//# finds out_of_bounds x
kernel void vector_tail(device const float4* x [[buffer(0)]], device float4* y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * 2.0f; //! out_of_bounds
}

//# launch constant_buffer size=8
//# buffer w=f32:6:iota
//# buffer y=f32:8
//# finds out_of_bounds w
kernel void constant_buffer(constant float* w [[buffer(0)]], device float* y [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = w[i]; //! out_of_bounds
}

//# launch group_array size=64
//# buffer y=f32:64
//# finds out_of_bounds
kernel void group_array(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = t == 63 ? tile[t + 1] : tile[t]; //! out_of_bounds
}

//# launch dynamic_slot size=64 memory=128
//# buffer y=f32:64
//# finds out_of_bounds
kernel void dynamic_slot(device float* y [[buffer(0)]], threadgroup float* tile [[threadgroup(0)]],
                         uint t [[thread_index_in_threadgroup]]) {
  tile[t] = t; //! out_of_bounds
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = t;
}

//# launch private_array size=4
//# buffer n=i32:1:const:8
//# buffer y=f32:4
//# finds out_of_bounds
kernel void private_array(constant int& n [[buffer(0)]], device float* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  struct {
    float values[8], others[8];
  } own;
  for (int k = 0; k < 8; ++k) own.values[k] = own.others[k] = k;
  y[i] = own.values[n + int(i % 2)]; //! out_of_bounds
}

//# launch matrix_over_the_edge size=32
//# buffer x=f32:60:iota
//# buffer y=f32:64
//# finds out_of_bounds x
kernel void matrix_over_the_edge(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x, 8); //! out_of_bounds
  simdgroup_store(m, y, 8);
}

//# launch atomic_beyond size=8
//# inout bins=u32:4:const:0
//# finds out_of_bounds bins
kernel void atomic_beyond(device atomic_uint* bins [[buffer(0)]],
                          uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[i], 1u, memory_order_relaxed); //! out_of_bounds
}
