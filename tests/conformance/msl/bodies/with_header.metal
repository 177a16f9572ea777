//# body inputs=x outputs=y header=inline~float~cube(float~x)~{~return~x~*~x~*~x;~}
//# launch body threads=33 size=32
//# buffer x=f32:33:uniform:-1:1
//# buffer y=f32:33
//# expect y[i] = x[i] * x[i] * x[i] within 1e-6
y[thread_position_in_grid.x] = cube(x[thread_position_in_grid.x]);
