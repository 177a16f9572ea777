// One thread an element.
const int w = thread_position_in_grid.x, i = thread_position_in_grid.y;
if (w < W) gathered[i * W + w] = x[pairs[i] / K * W + w];
