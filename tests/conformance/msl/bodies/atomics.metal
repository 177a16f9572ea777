//# body inputs=x outputs=counts atomic
//# launch body threads=200 size=64
//# buffer x=u32:200:iota
//# inout counts=u32:8:const:0
//# expect counts[i] = 25
atomic_fetch_add_explicit(&counts[x[thread_position_in_grid.x] % 8], 1u, memory_order_relaxed);
