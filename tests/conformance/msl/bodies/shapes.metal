//# body inputs=x outputs=y
//# launch body threads=4,6,2 size=4,2,2
//# buffer x=f32:2x6x4:iota
//# buffer y=f32:48
//# expect y[i] = i + 100 * 6 + 1000 * 4 + 3
// The three names below bring their parameters.
uint3 p = thread_position_in_grid;
ulong at = p.z * x_strides[0] + p.y * x_strides[1] + p.x * x_strides[2];
y[(p.z * x_shape[1] + p.y) * x_shape[2] + p.x] = x[at] + 100 * x_shape[1] + 1000 * x_shape[2] + x_ndim;
