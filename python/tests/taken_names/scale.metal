const uint c = thread_position_in_grid.x, r = thread_position_in_grid.y;
if (c < uint(cols)) functools[r * cols + c] = float(mx[r * cols + c]) * float(D[c]);
