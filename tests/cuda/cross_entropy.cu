// Loss of rows of logits, a warp a row; only the lanes of the row's tail take part in its end.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void cross_entropy(const float* logits, const int* labels, float* losses, int rows,
                              int classes) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  const float* x = logits + row * classes;
  float most = -INFINITY, sum = 0;
  for (int i = warp.thread_rank(); i < classes; i += warp.size()) {
    const float before = most;
    most = fmaxf(most, x[i]);
    sum = sum * expf(before - most) + expf(x[i] - most);
  }
  const float all = cg::reduce(warp, most, cg::greater<float>{});
  sum *= most == -INFINITY ? 0.f : expf(most - all);
  sum = cg::reduce(warp, sum, cg::plus<float>{});
  if (warp.thread_rank() == 0) losses[row] = logf(sum) + all - x[labels[row]];
}
