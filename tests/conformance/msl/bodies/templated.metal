//# body inputs=a outputs=y template=T:float16,N:4,FLIP:true
//# launch body threads=16 size=256
//# buffer a=f16:16:iota
//# buffer y=f16:64
//# expect y[i] = -a[floor(i / 4)] * (i % 4)
uint i = thread_position_in_grid.x;
for (int k = 0; k < N; ++k) y[N * i + k] = static_cast<T>((FLIP ? -1 : 1) * a[i] * k);
