// Cooperative groups: tiles of 8 sum rows of 8, the block counts what is positive.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void cg_reduce(const float* in, float* sums, float* most, int* positive, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  __shared__ int count;
  if (block.thread_rank() == 0) count = 0;
  block.sync();
  const int i = blockIdx.x * block.size() + block.thread_rank();
  const float v = i < n ? in[i] : 0.f;
  const float sum = cg::reduce(tile, v, cg::plus<float>());
  const float largest = cg::reduce(tile, v, cg::greater<float>());
  if (tile.thread_rank() == 0) {
    sums[i / 8] = sum;
    most[i / 8] = largest;
  }
  if (v > 0.f) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(&count, active.size());
  }
  cg::sync(block);
  if (block.thread_rank() == 0) atomicAdd(positive, count);
}
