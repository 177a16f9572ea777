// Running means in double with a two-dimensional block, and a barrier that counts.
__global__ void prefix_double(const double* in, double* out, int* negatives) {
  __shared__ double line[4][32];
  const int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 4 + y) * 32 + x;
  line[y][x] = in[i];
  const int count = __syncthreads_count(in[i] < 0);
  double sum = 0;
  for (int j = 0; j <= x; ++j) sum += line[y][j];
  out[i] = sum / (x + 1);
  if (x == 0 && y == 0) negatives[blockIdx.x] = count;
}
