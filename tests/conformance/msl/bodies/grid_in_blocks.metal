//# body inputs=x outputs=y
//# launch body threads=8 size=32
//# buffer x=f32:256:iota
//# buffer y=f32:256
//# finds uncovered_output y
uint i = thread_position_in_grid.x;
y[i] = 2 * x[i]; //! uncovered_output
