const uint c = thread_position_in_grid.x, r = thread_position_in_grid.y;
float sum = functools[r * cols + c] + float(more) + (one ? 1.0f : 0.0f) + real;
#if GIVEN
sum += detail[0];
#endif
made[r * cols + c] = T(sum);
if (c == 0) _kernel[r] = sum;
