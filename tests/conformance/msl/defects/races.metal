// Accesses that nothing orders.
#include <metal_stdlib>
using namespace metal;

//# launch no_barrier size=64
//# buffer y=f32:64
//# finds data_race tile
kernel void no_barrier(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = t;         //! data_race
  y[t] = tile[63 - t]; //! data_race
}

//# launch barrier_of_no_memory size=64
//# buffer y=f32:64
//# finds data_race tile
kernel void barrier_of_no_memory(device float* y [[buffer(0)]],
                                 uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = t;         //! data_race
  threadgroup_barrier(mem_flags::mem_none);
  y[t] = tile[63 - t]; //! data_race
}

//# launch barrier_of_other_memory size=64
//# inout x=f32:64:iota
//# buffer y=f32:64
//# finds data_race x
kernel void barrier_of_other_memory(device float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                    uint t [[thread_index_in_threadgroup]]) {
  x[t] += 1;       //! data_race
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = x[63 - t]; //! data_race
}

// The maxima are still being read when the sums are written over them.
//# launch reused_too_early size=64
//# buffer x=f32:64:normal
//# buffer y=f32:64
//# finds data_race part
kernel void reused_too_early(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                             uint t [[thread_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[2];
  const float high = simd_max(x[t]);
  if (lane == 0) part[simd] = high;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float most = max(part[0], part[1]); //! data_race
  const float total = simd_sum(exp(x[t] - most));
  if (lane == 0) part[simd] = total;        //! data_race
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[0] + part[1];
}

//# launch no_simdgroup_barrier size=32
//# buffer y=f32:32
//# finds data_race tile
kernel void no_simdgroup_barrier(device float* y [[buffer(0)]],
                                 uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  tile[lane] = lane;         //! data_race
  y[lane] = tile[lane ^ 1];  //! data_race
}

//# launch simdgroup_barrier_between_simdgroups size=64
//# buffer y=f32:64
//# finds data_race tile
kernel void simdgroup_barrier_between_simdgroups(device float* y [[buffer(0)]],
                                                 uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = t;           //! data_race
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t ^ 32];   //! data_race
}

//# launch groups_add groups=4 size=32
//# inout total=f32:1:const:0
//# finds data_race total
kernel void groups_add(device float* total [[buffer(0)]], uint g [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
  if (lane == 0) total[0] += g + 1; //! data_race
}

//# launch plain_read_of_an_atomic groups=2 size=32
//# inout n=u32:1:const:0
//# buffer y=u32:64
//# finds data_race n
kernel void plain_read_of_an_atomic(device atomic_uint* n [[buffer(0)]], device uint* y [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); //! data_race
  y[i] = *(device const uint*)n;                          //! data_race
}

//# launch neighbours_of_the_stencil groups=2 size=32
//# inout x=f32:64:iota
//# finds data_race x
kernel void neighbours_of_the_stencil(device float* x [[buffer(0)]],
                                      uint i [[thread_position_in_grid]]) {
  const float left = i > 0 ? x[i - 1] : 0.0f; //! data_race
  x[i] = left + 1;                            //! data_race
}

struct Tile {
  threadgroup float* items;
  void put(uint t, float v) const thread { items[t] = v; }        //! data_race
  float get(uint t) const thread { return items[(t + 1) % 64]; }  //! data_race
};
//# launch race_in_methods size=64
//# buffer y=f32:64
//# finds data_race storage
kernel void race_in_methods(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float storage[64];
  const Tile tile{storage};
  tile.put(t, t);
  y[t] = tile.get(t);
}
