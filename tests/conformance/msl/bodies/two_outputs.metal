//# body inputs=x outputs=high,low
//# launch body threads=64 size=32
//# buffer x=bf16:64:normal
//# buffer high=bf16:64
//# buffer low=f32:64
//# expect high[i] = max(x[i], 0)
//# expect low[i] = min(x[i], 0)
uint i = thread_position_in_grid.x;
high[i] = metal::max(x[i], bfloat16_t(0.0f));
low[i] = metal::min(float(x[i]), 0.0f);
