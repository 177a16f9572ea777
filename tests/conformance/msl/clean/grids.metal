// Grids of one to three dimensions, whole and partial groups, and every attribute of a thread.
#include <metal_stdlib>
using namespace metal;

//# launch one_dimension threads=100 size=32
//# buffer y=f32:100
//# expect y[i] = i < 96 ? 32 + 100 : 4 + 100
kernel void one_dimension(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]],
                          uint n [[threads_per_threadgroup]], uint all [[threads_per_grid]]) {
  y[i] = n + all;
}

//# launch two_dimensions threads=10,6 size=4,4
//# buffer y=f32:60
//# expect y[i] = floor(i / 10) * 100 + i % 10
kernel void two_dimensions(device float* y [[buffer(0)]], uint2 i [[thread_position_in_grid]],
                           uint2 all [[threads_per_grid]]) {
  y[i.y * all.x + i.x] = i.y * 100 + i.x;
}

//# launch three_dimensions threads=5,3,4 size=2,2,2
//# buffer y=u32:60
//# expect y[i] = i % 5 + floor(i / 5) % 3 * 16 + floor(i / 15) * 256
kernel void three_dimensions(device uint* y [[buffer(0)]], uint3 i [[thread_position_in_grid]],
                             uint3 all [[threads_per_grid]],
                             uint3 g [[threadgroup_position_in_grid]],
                             uint3 t [[thread_position_in_threadgroup]],
                             uint3 asked [[dispatch_threads_per_threadgroup]]) {
  const uint3 same = g * asked + t;
  if (metal::all(same == i)) y[(i.z * all.y + i.y) * all.x + i.x] = i.x + i.y * 16 + i.z * 256;
}

//# launch attributes groups=2,2 size=8,6
//# buffer y=u32:1920
//# expect y[i] = i % 10 == 0 ? floor(i / 10) % 48 : i % 10 == 1 ? floor(i / 10) % 48 % 32 : i % 10 == 2 ? floor(floor(i / 10) % 48 / 32) : i % 10 == 3 ? 2 : i % 10 == 4 ? 32 : i % 10 == 5 ? 4 : i % 10 == 6 ? floor(i / 10) % 4 : i % 10 == 7 ? floor(floor(i / 10) % 48 / 4) : i % 10 == 8 ? 12 : 48
kernel void attributes(device uint* y [[buffer(0)]], uint2 g [[threadgroup_position_in_grid]],
                       uint2 groups [[threadgroups_per_grid]],
                       uint t [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simd [[simdgroup_index_in_threadgroup]],
                       uint simds [[simdgroups_per_threadgroup]],
                       ushort width [[threads_per_simdgroup]],
                       uint quad_lane [[thread_index_in_quadgroup]],
                       uint quad [[quadgroup_index_in_threadgroup]],
                       uint quads [[quadgroups_per_threadgroup]],
                       uint2 size [[threads_per_threadgroup]]) {
  device uint* mine = y + 10 * (48 * (g.y * groups.x + g.x) + t);
  mine[0] = t, mine[1] = lane, mine[2] = simd, mine[3] = simds, mine[4] = width;
  mine[5] = groups.x * groups.y, mine[6] = quad_lane, mine[7] = quad, mine[8] = quads;
  mine[9] = size.x * size.y;
}

// The same in other types and by their other names.
//# launch other_names groups=2 size=40
//# buffer y=u32:80
//# expect y[i] = 32 + 2 + 10 + 40 + i % 40 + 80
kernel void other_names(device uint* y [[buffer(0)]], ushort width [[thread_execution_width]],
                        uint simds [[dispatch_simdgroups_per_threadgroup]],
                        uint quads [[dispatch_quadgroups_per_threadgroup]],
                        ushort3 asked [[dispatch_threads_per_threadgroup]],
                        ushort3 t [[thread_position_in_threadgroup]],
                        uint i [[thread_position_in_grid]], uint3 size [[grid_size]],
                        uint3 origin [[grid_origin]]) {
  y[i] = width + simds + quads + asked.x + t.x + size.x + origin.x;
}

//# launch edge_group_reduces threads=70 size=32
//# buffer y=f32:70
//# expect y[i] = i < 64 ? 32 : 6
kernel void edge_group_reduces(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(1.0f);
}

//# launch edge_group_with_barrier threads=9,5 size=4,4
//# buffer y=f32:45
//# expect y[i] = (floor(i % 9 / 4) < 2 ? 4 : 1) * (floor(i / 9) < 4 ? 4 : 1)
kernel void edge_group_with_barrier(device float* y [[buffer(0)]],
                                    uint2 i [[thread_position_in_grid]],
                                    uint t [[thread_index_in_threadgroup]],
                                    uint2 size [[threads_per_threadgroup]]) {
  threadgroup float ones[16];
  ones[t] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float total = 0;
  for (uint k = 0; k < size.x * size.y; ++k) total += ones[k];
  y[i.y * 9 + i.x] = total;
}
