// One thread an element.
const int n = thread_position_in_grid.x, m = thread_position_in_grid.y;
if (n >= N || m >= M) return;
float sum = 0.0f;
for (int k = 0; k < K; ++k) sum = fma(float(a[m * K + k]), float(b[k * N + n]), sum);
out[m * N + n] = T(sum);
