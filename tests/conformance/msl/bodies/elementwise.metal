//# body inputs=a,b outputs=y
//# launch body threads=100 size=32
//# buffer a=f32:100:normal
//# buffer b=f32:100:iota
//# buffer y=f32:100
//# expect y[i] = a[i] + 2 * b[i]
uint i = thread_position_in_grid.x;
y[i] = a[i] + 2 * b[i];
