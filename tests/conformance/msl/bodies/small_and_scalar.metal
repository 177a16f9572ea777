//# body inputs=x,w,s outputs=y
//# launch body threads=12 size=12
//# buffer x=f32:12:iota
//# buffer w=f32:3:ints:1:10:100
//# scalar s=f32:1:const:0.5
//# buffer y=f32:12
//# expect y[i] = x[i] * w[i % 3] + s[0]
// Below eight elements an input is constant; of no dimension it is a reference.
const constant float* weights = w;
uint i = thread_position_in_grid.x;
y[i] = x[i] * weights[i % 3] + s;
