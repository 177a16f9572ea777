// Whole CUDA kernels against plain loops in double: clean under every order of warps; and their
// twins with a defect.
#include "cuda_test.h"

namespace ksearch::simt {
namespace {

class CudaKernels : public CudaTest {};

TEST_F(CudaKernels, ReduceSum) {
  const Case all =
      from_file("reduce_sum.cu", {"reduce_sum",
                                  {4},
                                  {256},
                                  {"in=f32:5000:uniform:-1:1", "total=f32:1:const:0:inout"},
                                  {"n=5000"}});
  double sum = 0;
  for (const double x : start(all, "in")) sum += x;
  expect_clean(all, {{"total", {sum}}}, 1e-4);
  expect_defect(all, "part[t] += part[t + half];\n    __syncthreads();",
                "part[t] += part[t + half];", "data_race");
  expect_defect(all, "i < n;", "i <= n;", "out_of_bounds");
  expect_defect(all, "if (t == 0) atomicAdd(total, v);", "if (t == 0) *total += v;", "data_race");
  expect_defect(all, "if (t < 32) {", "if (t < 16) {", "undefined_lane");
}

TEST_F(CudaKernels, ScanBlock) {
  const Case all = from_file(
      "scan_block.cu",
      {"scan_block", {3}, {256}, {"in=i32:700:uniform:-50:50", "out=i32:700"}, {"n=700"}});
  std::vector<double> want = start(all, "in");
  for (std::size_t i = 1; i < want.size(); ++i)
    if (i % 256 != 0) want[i] += want[i - 1];
  expect_clean(all, {{"out", want}}, 0);
  expect_defect(all, "    totals[lane] = sum;\n  }\n  __syncthreads();",
                "    totals[lane] = sum;\n  }\n", "data_race");
  expect_defect(all, "lane < warps ? totals[lane] : 0", "totals[lane]",
                "uninitialised_group_memory");
  expect_defect(all, "if (i < n) out[i] = v;", "if (i + 1 < n) out[i] = v;", "uncovered_output");
}

TEST_F(CudaKernels, Transpose) {
  const Case all = from_file("transpose.cu", {"transpose<float>",
                                              {3, 2},
                                              {32, 8},
                                              {"in=f32:50x70:normal", "out=f32:70x50"},
                                              {"rows=50", "columns=70"}});
  const std::vector<double> in = start(all, "in");
  std::vector<double> want(in.size());
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t j = 0; j < 70; ++j) want[j * 50 + i] = in[i * 70 + j];
  expect_clean(all, {{"out", want}}, 0);
  expect_defect(all, "  __syncthreads();\n", "", "data_race");
  expect_defect(all, "[kTile + 1]", "[kTile - 1]", "out_of_bounds");
}

TEST_F(CudaKernels, Softmax) {
  const Case all = from_file("softmax.cu", {"softmax<float, 128>",
                                            {6},
                                            {128},
                                            {"in=f32:6x300:normal:0:3", "out=f32:6x300"},
                                            {"columns=300"}});
  const std::vector<double> in = start(all, "in");
  std::vector<double> want(in.size());
  for (std::size_t r = 0; r < 6; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 300; ++i) sum += std::exp(in[r * 300 + i]);
    for (std::size_t i = 0; i < 300; ++i) want[r * 300 + i] = std::exp(in[r * 300 + i]) / sum;
  }
  expect_clean(all, {{"out", want}}, 1e-5);
  expect_defect(all, "part[threadIdx.x / 32] = v;\n  __syncthreads();",
                "part[threadIdx.x / 32] = v;", "data_race");
  expect_defect(all, "__shfl_xor_sync(0xffffffffu, v, mask)",
                "__shfl_xor_sync(0x0fffffffu, v, mask)", "wrong_mask");
  expect_defect(all, "  __syncthreads();\n  v = Op",
                "  if (threadIdx.x < 64) __syncthreads();\n  v = Op", "barrier_divergence");
}

TEST_F(CudaKernels, LayerNorm) {
  const Case all =
      from_file("layer_norm.cu", {"layer_norm",
                                  {2},
                                  {32, 4},
                                  {"in=f32:6x192:normal:1:2", "weight=f32:192:normal",
                                   "bias=f32:192:normal", "out=f32:6x192", "mean=f32:6"},
                                  {"rows=6", "columns=192", "epsilon=1e-5"}});
  const auto in = start(all, "in"), w = start(all, "weight"), b = start(all, "bias");
  std::vector<double> want(in.size()), means(6);
  for (std::size_t r = 0; r < 6; ++r) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < 192; ++i) mean += in[r * 192 + i] / 192;
    for (std::size_t i = 0; i < 192; ++i)
      squares += (in[r * 192 + i] - mean) * (in[r * 192 + i] - mean) / 192;
    for (std::size_t i = 0; i < 192; ++i)
      want[r * 192 + i] = (in[r * 192 + i] - mean) / std::sqrt(squares + 1e-5) * w[i] + b[i];
    means[r] = mean;
  }
  expect_clean(all, {{"out", want}, {"mean", means}}, 1e-5);
  expect_defect(all, "in += size_t(row) * words;",
                "in = (const float4*)((const float*)in + size_t(row) * columns + 1);",
                "misaligned_access");
}

TEST_F(CudaKernels, RmsNormBf16) {
  Case all =
      from_file("rms_norm_bf16.cu",
                {"rms_norm",
                 {3},
                 {64},
                 {"in=bf16:3x200:normal:0:2", "weight=bf16:200:uniform:0.5:1.5", "out=bf16:3x200"},
                 {"pairs=100", "epsilon=1e-6"},
                 {},
                 64 * 4});
  const auto in = start(all, "in"), w = start(all, "weight");
  std::vector<double> want(in.size());
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 200; ++i) sum += in[r * 200 + i] * in[r * 200 + i];
    for (std::size_t i = 0; i < 200; ++i)
      want[r * 200 + i] = in[r * 200 + i] / std::sqrt(sum / 200 + 1e-6) * w[i];
  }
  expect_clean(all, {{"out", want}}, 2e-2);
  all.launches[0].group_memory = {63 * 4};
  expect_defect(all, "part[0]", "part[0]", "out_of_bounds");
}

TEST_F(CudaKernels, GemmShared) {
  const Case all =
      from_file("gemm_shared.cu", {"gemm<16>",
                                   {3, 2},
                                   {16, 16},
                                   {"a=f32:20x37:normal", "b=f32:37x41:normal", "c=f32:20x41"},
                                   {"m=20", "n=41", "k=37"}});
  const auto a = start(all, "a"), b = start(all, "b");
  std::vector<double> want(20 * 41);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 41; ++j)
      for (std::size_t l = 0; l < 37; ++l) want[i * 41 + j] += a[i * 37 + l] * b[l * 41 + j];
  expect_clean(all, {{"c", want}}, 1e-5);
  expect_defect(all, "tile_a[y][i] * tile_b[i][x];\n    __syncthreads();",
                "tile_a[y][i] * tile_b[i][x];", "data_race");
  expect_defect(all, "row < m && from + x < k ?", "from + x < k ?", "out_of_bounds");
}

/// C = scale * A B^T of rows.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            std::size_t m, std::size_t n, std::size_t k, double scale = 1) {
  std::vector<double> c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += scale * a[i * k + l] * b[j * k + l];
  return c;
}

TEST_F(CudaKernels, GemmWmma) {
  const Case all =
      from_file("gemm_wmma.cu", {"gemm_wmma",
                                 {1, 2},
                                 {64},
                                 {"a=f16:32x48:normal", "b=f16:32x48:normal", "c=f32:32x32"},
                                 {"m=32", "n=32", "k=48"}});
  expect_clean(all, {{"c", product(start(all, "a"), start(all, "b"), 32, 32, 48, 0.5)}}, 1e-5);
  expect_defect(all, "wmma::mma_sync(sum, fa, fb, sum);",
                "if (threadIdx.x != 3) wmma::mma_sync(sum, fa, fb, sum);", "undefined_lane");
}

TEST_F(CudaKernels, GemmMma) {
  const Case all =
      from_file("gemm_mma.cu", {"gemm_mma",
                                {2, 2},
                                {128},
                                {"a=f16:48x96:normal", "b=f16:40x96:normal", "c=f32:48x40"},
                                {"m=48", "n=40", "k=96"}});
  expect_clean(all, {{"c", product(start(all, "a"), start(all, "b"), 48, 40, 96)}}, 1e-5);
  expect_defect(all, "      wait_group<0>();\n", "", "data_race");
  expect_defect(all, "      wait_group<1>();\n", "      wait_group<2>();\n", "data_race");
  expect_defect(all, "multiply(sums[1], fa, fb[2], fb[3]);\n    }\n    __syncthreads();",
                "multiply(sums[1], fa, fb[2], fb[3]);\n    }", "data_race");
  expect_defect(all, "row0 + row < m);", "row0 + row <= m);", "out_of_bounds");
  expect_defect(all, "kRow = kDepth + 8", "kRow = kDepth + 4", "misaligned_access");
}

TEST_F(CudaKernels, GemmTf32) {
  const Case all =
      from_file("gemm_tf32.cu", {"gemm_tf32",
                                 {2, 1},
                                 {32},
                                 {"a=f32:16x24:normal", "b=f32:24x16:normal", "c=f32:16x16"},
                                 {"n=16", "k=24"}});
  auto a = start(all, "a"), b = start(all, "b");
  std::vector<double> bt(b.size());
  for (std::size_t i = 0; i < 24; ++i)
    for (std::size_t j = 0; j < 16; ++j) bt[j * 24 + i] = b[i * 16 + j];
  expect_clean(all, {{"c", product(a, bt, 16, 16, 24)}}, 1e-2);
}

TEST_F(CudaKernels, GemmBf16) {
  const Case all =
      from_file("gemm_bf16.cu", {"gemm_bf16",
                                 {2, 1},
                                 {32},
                                 {"a=bf16:16x48:normal", "b=bf16:48x16:normal", "c=f32:16x16"},
                                 {"n=16", "k=48"}});
  auto a = start(all, "a"), b = start(all, "b");
  std::vector<double> bt(b.size());
  for (std::size_t i = 0; i < 48; ++i)
    for (std::size_t j = 0; j < 16; ++j) bt[j * 48 + i] = b[i * 16 + j];
  expect_clean(all, {{"c", product(a, bt, 16, 16, 48)}}, 1e-5);
  expect_defect(all, "    __syncwarp();\n    uint32_t", "    uint32_t", "data_race");
}

TEST_F(CudaKernels, FlashAttention) {
  const Case all = from_file("flash_attention.cu", {"attention",
                                                    {2, 2},
                                                    {64},
                                                    {"q=f16:2x64x64:normal", "k=f16:2x64x64:normal",
                                                     "v=f16:2x64x64:normal", "out=f16:2x64x64"},
                                                    {"length=64", "scale=0.125"},
                                                    {},
                                                    2 * 16 * 72 * 2});
  const auto q = start(all, "q"), k = start(all, "k"), v = start(all, "v");
  std::vector<double> want(q.size());
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < 64; ++i) {
      std::vector<double> p(64);
      double sum = 0;
      for (std::size_t j = 0; j < 64; ++j) {
        for (std::size_t d = 0; d < 64; ++d)
          p[j] += q[(h * 64 + i) * 64 + d] * k[(h * 64 + j) * 64 + d];
        sum += p[j] = std::exp(p[j] * 0.125);
      }
      for (std::size_t d = 0; d < 64; ++d)
        for (std::size_t j = 0; j < 64; ++j)
          want[(h * 64 + i) * 64 + d] += p[j] / sum * v[(h * 64 + j) * 64 + d];
    }
  expect_clean(all, {{"out", want}}, 3e-3);
  expect_defect(all, "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n", "", "data_race");
}

TEST_F(CudaKernels, Histogram) {
  const Case all =
      from_file("histogram.cu", {"histogram",
                                 {3},
                                 {96},
                                 {"in=u8:4000:uniform:0:256", "bins=u32:64:const:0:inout"},
                                 {"n=4000"}});
  std::vector<double> want(64);
  for (const double x : start(all, "in")) ++want[static_cast<std::size_t>(x) & 63];
  expect_clean(all, {{"bins", want}}, 0);
  expect_defect(all, "atomicAdd(&own[v.x & 63], 1u);", "own[v.x & 63] += 1u;", "data_race");
  expect_defect(all, "own[i] = 0;\n  __syncthreads();", "own[i] = 0;", "data_race");
  expect_defect(all, "i < 64; i +=", "i < 60; i +=", "uninitialised_group_memory");
}

TEST_F(CudaKernels, WarpSort) {
  const Case all = from_file(
      "warp_sort.cu", {"warp_sort", {2}, {64}, {"in=i32:128:uniform:0:1000", "out=i32:128"}});
  std::vector<double> want = start(all, "in");
  for (std::size_t i = 0; i < 128; i += 32)
    std::sort(want.begin() + static_cast<std::ptrdiff_t>(i),
              want.begin() + static_cast<std::ptrdiff_t>(i) + 32);
  expect_clean(all, {{"out", want}}, 0);
}

TEST_F(CudaKernels, CooperativeGroups) {
  const Case all = from_file("cg_reduce.cu", {"cg_reduce",
                                              {2},
                                              {64},
                                              {"in=f32:128:normal", "sums=f32:16", "most=f32:16",
                                               "positive=i32:1:const:0:inout"},
                                              {"n=128"}});
  const auto in = start(all, "in");
  std::vector<double> sums(16), most(16, -1e9);
  double positive = 0;
  for (std::size_t i = 0; i < 128; ++i) {
    sums[i / 8] += in[i];
    most[i / 8] = std::max(most[i / 8], in[i]);
    positive += in[i] > 0;
  }
  expect_clean(all, {{"sums", sums}, {"most", most}, {"positive", {positive}}}, 1e-5);
  expect_defect(all, "  block.sync();\n", "", "data_race");
}

TEST_F(CudaKernels, CrossEntropy) {
  const Case all =
      from_file("cross_entropy.cu",
                {"cross_entropy",
                 {2},
                 {64},
                 {"logits=f32:3x77:normal:0:2", "labels=i32:3:ints:3:76:0", "losses=f32:3"},
                 {"rows=3", "classes=77"}});
  const auto x = start(all, "logits");
  std::vector<double> want(3);
  const std::size_t labels[] = {3, 76, 0};
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 77; ++i) sum += std::exp(x[r * 77 + i]);
    want[r] = std::log(sum) - x[r * 77 + labels[r]];
  }
  expect_clean(all, {{"losses", want}}, 1e-5);
}

TEST_F(CudaKernels, GeluHalf2) {
  const Case all = from_file(
      "gelu_half2.cu", {"gelu", {3}, {64}, {"in=f16:300:normal", "out=f16:300"}, {"pairs=150"}});
  std::vector<double> want = start(all, "in");
  for (double& x : want) x = 0.5 * x * (1 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
  expect_clean(all, {{"out", want}}, 3e-3);
  expect_defect(all, "if (i >= pairs) return;", "", "out_of_bounds");
}

TEST_F(CudaKernels, ResidualBf16) {
  const Case all =
      from_file("residual_bf16.cu", {"residual",
                                     {2},
                                     {32},
                                     {"a=bf16:1000:normal", "b=bf16:1000:normal", "out=bf16:1000"},
                                     {"packs=125", "scale=0.5"}});
  std::vector<double> want = start(all, "a");
  const auto b = start(all, "b");
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += 0.5 * b[i];
  expect_clean(all, {{"out", want}}, 1e-2);
}

TEST_F(CudaKernels, DotQ8) {
  Case all = from_file("dot_q8.cu", {"dot_q8",
                                     {2},
                                     {32, 4},
                                     {"rows=u8:4352:const:0", "x=u8:544:const:0", "out=f32:8"},
                                     {"blocks=16"}});
  // Blocks of 34 bytes: a scale that is a small power of two, then the values.
  const auto blocks = [](std::size_t count, int seed) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
      bytes += '\0';
      bytes += static_cast<char>(0x30 + 4 * (i % 3));  // 0.125, 0.25, 0.5
      for (int j = 0; j < 32; ++j)
        bytes += static_cast<char>((seed * 31 + static_cast<int>(i) * 17 + j * 29) % 256);
    }
    return bytes;
  };
  all.buffers[0].init.kind = all.buffers[1].init.kind = Init::Kind::bytes;
  all.buffers[0].init.bytes = blocks(128, 1);
  all.buffers[1].init.bytes = blocks(16, 2);
  std::vector<double> want(8);
  const double scales[] = {0.125, 0.25, 0.5};
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t b = 0; b < 16; ++b)
      for (std::size_t j = 0; j < 32; ++j)
        want[r] += scales[(r * 16 + b) % 3] * scales[b % 3] *
                   static_cast<signed char>(all.buffers[0].init.bytes[(r * 16 + b) * 34 + 2 + j]) *
                   static_cast<signed char>(all.buffers[1].init.bytes[b * 34 + 2 + j]);
  expect_clean(all, {{"out", want}}, 1e-4);
  expect_defect(all, "return half_words[2 * i] | half_words[2 * i + 1] << 16;",
                "return reinterpret_cast<const int*>(at)[i];", "misaligned_access");
}

TEST_F(CudaKernels, ConvolveWithConstantMemory) {
  const Case all = from_file("convolve.cu", {"convolve",
                                             {3},
                                             {64},
                                             {"in=f32:150:normal", "out=f32:150"},
                                             {"n=150"},
                                             {"weights=f32:7:iota:1:1"}});
  const auto in = start(all, "in");
  std::vector<double> want(150);
  for (std::size_t i = 0; i < 150; ++i)
    for (std::size_t j = 0; j < 7; ++j)
      if (i + j >= 3 && i + j - 3 < 150) want[i] += static_cast<double>(j + 1) * in[i + j - 3];
  expect_clean(all, {{"out", want}}, 1e-5);
  expect_defect(all, "j <= 2 * kRadius; ++j", "j <= 2 * kRadius + 1; ++j", "out_of_bounds");
  expect_defect(all, "  __syncthreads();\n", "", "data_race");
}

TEST_F(CudaKernels, Compact) {
  const Case all = from_file("compact.cu", {"compact",
                                            {1},
                                            {32},
                                            {"in=i32:20:uniform:-5:5", "out=i32:20:const:0:inout",
                                             "count=u32:1:const:0:inout"},
                                            {"n=20"}});
  std::vector<double> want;
  for (const double x : start(all, "in"))
    if (x > 0) want.push_back(x);
  const double kept = static_cast<double>(want.size());
  want.resize(20);
  expect_clean(all, {{"out", want}, {"count", {kept}}}, 0);
}

TEST_F(CudaKernels, LastBlockOrderedByAFence) {
  const Case all =
      from_file("last_block.cu", {"last_block",
                                  {5},
                                  {128},
                                  {"in=f32:3000:uniform:-1:1", "partial=f32:5", "total=f32:1"},
                                  {"n=3000"}});
  double sum = 0;
  for (const double x : start(all, "in")) sum += x;
  expect_clean(all, {{"total", {sum}}}, 1e-4);
  expect_defect(all, "    __threadfence();\n", "", "data_race");
}

TEST_F(CudaKernels, Matvec) {
  const Case all = from_file("matvec.cu", {"matvec",
                                           {3},
                                           {128},
                                           {"w=f32:10x256:normal", "x=f32:256:normal", "y=f32:10"},
                                           {"rows=10", "columns=256"}});
  const auto w = start(all, "w"), x = start(all, "x");
  std::vector<double> want(10);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 256; ++j) want[i] += w[i * 256 + j] * x[j];
  expect_clean(all, {{"y", want}}, 1e-4);
}

TEST_F(CudaKernels, GatherTakesAStruct) {
  Case all = from_file("gather.cu",
                       {"gather",
                        {3},
                        {32},
                        {"out=f32:7x20", "table=f32:9x20:normal", "index=i32:7:ints:8:0:3:3:1:5:7"},
                        {"g={ptr:table,ptr:index,i32:7,i32:20,f32:2}"}});
  all.launches[0].bind = {{0, "out"}};
  const auto table = start(all, "table");
  const std::size_t index[] = {8, 0, 3, 3, 1, 5, 7};
  std::vector<double> want;
  for (const std::size_t i : index)
    for (std::size_t c = 0; c < 20; ++c) want.push_back(2 * table[i * 20 + c]);
  expect_clean(all, {{"out", want}}, 1e-6);
}

TEST_F(CudaKernels, NamedBarriersOrderTwoWarps) {
  const Case all = from_file(
      "producer.cu", {"producer", {1}, {64}, {"in=f32:160:normal", "out=f32:160"}, {"tiles=5"}});
  const auto in = start(all, "in");
  std::vector<double> want(160);
  for (std::size_t i = 0; i < 160; ++i) want[i] = 2 * in[i / 32 * 32 + 31 - i % 32];
  expect_clean(all, {{"out", want}}, 0);
  expect_defect(all, "      wait_at(kFull + i % 2);\n", "", "data_race");
  expect_defect(all, "      if (i >= 2) wait_at(kEmpty + i % 2);\n", "", "barrier_divergence");
}

TEST_F(CudaKernels, Rope) {
  const Case all =
      from_file("rope.cu", {"rope",
                            {4, 2},
                            {32},
                            {"x=f32:4x2x48:normal:0:1:inout", "positions=i32:4:ints:5:0:17:100"},
                            {"heads=2", "pairs=24", "base=10000"}});
  std::vector<double> want = start(all, "x");
  const double positions[] = {5, 0, 17, 100};
  for (std::size_t i = 0; i < 192; ++i) {
    const double angle = positions[i / 48] * std::pow(10000, -static_cast<double>(i % 24) / 24);
    const double a = want[2 * i], b = want[2 * i + 1];
    want[2 * i] = a * std::cos(angle) - b * std::sin(angle);
    want[2 * i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
  expect_clean(all, {{"x", want}}, 1e-5);
}

TEST_F(CudaKernels, Argmax) {
  const Case all = from_file(
      "argmax.cu",
      {"argmax", {2}, {64}, {"in=f32:900:normal", "best=u64:1:const:0:inout"}, {"n=900"}});
  const auto in = start(all, "in");
  const auto most = static_cast<std::size_t>(std::max_element(in.begin(), in.end()) - in.begin());
  const Report report = run(all);
  EXPECT_EQ(told(report), "");
  EXPECT_EQ(values<std::uint64_t>(report, "best").at(0) & 0xffffffffu, 0xffffffffu - most);
}

TEST_F(CudaKernels, LanesThatPart) {
  const Case all =
      from_file("vote_tail.cu", {"vote_tail",
                                 {2},
                                 {64},
                                 {"in=i32:100:uniform:0:4", "sums=i32:4", "equal=i32:100"},
                                 {"n=100"}});
  const auto in = start(all, "in");
  std::vector<double> sums(4), equal(100);
  for (std::size_t i = 0; i < 100; ++i) {
    sums[i / 32] += in[i];
    for (std::size_t j = i / 32 * 32; j < std::min<std::size_t>(i / 32 * 32 + 32, 100); ++j)
      equal[i] += in[i] == in[j];
  }
  expect_clean(all, {{"sums", sums}, {"equal", equal}}, 0);
  expect_defect(all, "__reduce_add_sync(inside, v)", "__reduce_add_sync(0xffffffffu, v)",
                "wrong_mask");
}

TEST_F(CudaKernels, PrefixDouble) {
  const Case all = from_file("prefix_double.cu",
                             {"prefix_double",
                              {2},
                              {32, 4},
                              {"in=float64:256:normal", "out=float64:256", "negatives=i32:2"}});
  const auto in = start(all, "in");
  std::vector<double> want(256), negatives(2);
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t j = i / 32 * 32; j <= i; ++j) want[i] += in[j];
    want[i] /= static_cast<double>(i % 32 + 1);
    negatives[i / 128] += in[i] < 0;
  }
  expect_clean(all, {{"out", want}, {"negatives", negatives}}, 1e-12);
}

TEST_F(CudaKernels, AdamwInPlace) {
  const Case all = from_file(
      "adamw.cu", {"adamw<half>",
                   {2},
                   {64},
                   {"p=f16:100:normal:0:1:inout", "g=f16:100:normal", "m=f32:100:const:0:inout",
                    "v=f32:100:const:0:inout"},
                   {"n=100", "rate=0.01", "beta1=0.9", "beta2=0.99", "epsilon=1e-8", "decay=0.1"}});
  auto p = start(all, "p");
  const auto g = start(all, "g");
  for (std::size_t i = 0; i < 100; ++i)
    p[i] -= 0.01 * (g[i] / (std::abs(g[i]) + 1e-8) + 0.1 * p[i]);
  expect_clean(all, {{"p", p}}, 2e-3);
}

TEST_F(CudaKernels, MoreThreadsThanTheKernelsLaunchBounds) {
  const std::string source =
      "template <int n> __global__ void __launch_bounds__(n * 2, 2) fill(float* y) {\n"
      "  y[threadIdx.x] = 1;\n}\n";
  EXPECT_EQ(kinds(run(cuda_case(source, {"fill<32>", {1}, {64}, {"y=f32:64"}}))),
            std::vector<std::string>());
  const Report report = run(cuda_case(source, {"fill<16>", {1}, {64}, {"y=f32:64"}}));
  EXPECT_EQ(kinds(report), std::vector<std::string>{"group_size_limit"});
  EXPECT_EQ(lines(report), std::vector<int>{1});
}

}  // namespace
}  // namespace ksearch::simt
