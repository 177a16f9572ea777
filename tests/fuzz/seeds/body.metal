threadgroup float part[8];
uint row = threadgroup_position_in_grid.y; // x_shape
float total = simd_sum(x[row * x_strides[0] + thread_position_in_threadgroup.x] * w[0]) + s;
if (thread_index_in_simdgroup == 0) part[simdgroup_index_in_threadgroup] = total;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[row] = static_cast<T>(part[0] + N * x_ndim);
