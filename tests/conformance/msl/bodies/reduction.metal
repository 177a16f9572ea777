//# body inputs=x outputs=y
//# launch body threads=256,5 size=256,1
//# buffer x=f32:5x256:normal
//# buffer y=f32:5
//# expect y[i] = sum(k, 0, 256, x[256 * i + k]) within 1e-5
threadgroup float part[8];
uint row = threadgroup_position_in_grid.y;
float total = simd_sum(x[row * 256 + thread_position_in_threadgroup.x]);
if (thread_index_in_simdgroup == 0) part[simdgroup_index_in_threadgroup] = total;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (thread_index_in_threadgroup == 0) {
  float all = 0;
  for (uint k = 0; k < simdgroups_per_threadgroup; ++k) all += part[k];
  y[row] = all;
}
