// Keeps the positive elements: a warp finds its places by a vote, one lane asks for room.
__global__ void compact(const int* in, int* out, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % warpSize;
  const int v = i < n ? in[i] : 0;
  const unsigned kept = __ballot_sync(0xffffffff, v > 0);
  unsigned base = 0;
  if (lane == 0 && kept != 0) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(0xffffffff, base, 0);
  if (v > 0) out[base + __popc(kept & ((1u << lane) - 1))] = v;
}
