// A warp whose lanes part: those inside the length compute a mask first and use only each other.
__global__ void vote_tail(const int* in, int* sums, int* equal, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned inside = __ballot_sync(0xffffffffu, i < n);
  if (i < n) {
    const int v = in[i];
    const int sum = __reduce_add_sync(inside, v);
    const unsigned same = __match_any_sync(inside, v);
    if (threadIdx.x % 32 == 0) sums[i / 32] = sum;
    equal[i] = __popc(same);
  }
  __syncwarp();
}
