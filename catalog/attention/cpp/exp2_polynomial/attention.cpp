// Attention of LANES queries a group, one in each lane. The softmax is taken in powers of two, with
// log2(e) folded into the scale of the queries, and 2^x is a polynomial in vector registers.
#include <algorithm>
#include <cmath>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Ints = int32_t __attribute__((vector_size(4 * LANES)));
constexpr int kRows =
    4;  // independent chains of multiply-adds, which have a latency of four cycles

Vec load(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
/// A broadcast: x - 0 is x, where the compiler would have to compute x + 0.
Vec all(float x) { return x - Vec{}; }
Vec larger(Vec a, Vec b) { return a > b ? a : b; }

/// sum over n of a[r * row + n * step] * x[n], for kRows rows r, of which the last may be repeated:
/// both products of attention. x: [n][LANES], result: [r][LANES].
void multiply(const T* a, int64_t rows, int64_t row, int64_t step, const float* x, int64_t n,
              float* result) {
  const T* start[kRows];
  for (int r = 0; r < kRows; ++r) start[r] = a + std::min<int64_t>(r, rows - 1) * row;
  Vec sum[kRows] = {};
  for (int64_t i = 0; i < n; ++i) {
    const Vec y = load(x + i * LANES);
    for (int r = 0; r < kRows; ++r) sum[r] += all(start[r][i * step]) * y;
  }
  for (int r = 0; r < kRows; ++r) store(result + r * LANES, sum[r]);
}

/// 2^x for x <= 0, to 2e-7; 2^-126 for what is below. Adding 1.5 * 2^23 rounds x and leaves its
/// integer in the low bits, which go into the exponent; a minimax polynomial does the rest, which
/// lies in [-0.5, 0.5].
Vec exp2(Vec x) {
  x = larger(all(-126), x);
  const Vec shifted = x + all(0x1.8p23f);
  const Vec f = x - (shifted - all(0x1.8p23f));
  Vec p = f * 0.0013276472f + 0.00967554133f;
  p = p * f + 0.0555071327f;
  p = p * f + 0.240221197f;
  p = p * f + 0.693146967f;
  p = p * f + 1.00000007f;
  return (Vec)((Ints)p + ((Ints)shifted << 23));
}
constexpr float kLog2e = 1.44269504f;

/// Softmax down the keys of p: [key][LANES], without the division by the sum, which is returned.
/// Lane l sees the keys before seen[l], of `end` in all.
Vec softmax(float* p, Ints seen, int64_t end) {
  Vec max = all(-INFINITY);
  for (int64_t j = 0; j < end; ++j) {
    const Vec s = seen > static_cast<int32_t>(j) ? load(p + j * LANES) : all(-INFINITY);
    store(p + j * LANES, s);
    max = larger(s, max);
  }
  Vec sum{};
  for (int64_t j = 0; j < end; ++j) {
    const Vec e = exp2(load(p + j * LANES) - max);
    store(p + j * LANES, e);
    sum += e;
  }
  return sum;
}

}  // namespace

extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads_per_kv, bool causal, float scale,
                          const ks_group* group) {
  const int64_t first = group->id[0] * LANES, head = group->id[1];
  const int64_t queries = std::min<int64_t>(LANES, Lq - first);
  q += (head * Lq + first) * D;
  out += (head * Lq + first) * D;
  k += head / heads_per_kv * Lk * D;
  v += head / heads_per_kv * Lk * D;
  // Transposed, [D][LANES]; ot and p ([Lk][LANES]) have room for whole blocks of kRows.
  float* qt = static_cast<float*>(group->memory);
  float* ot = qt + D * LANES;
  float* p = ot + (D + kRows) * LANES;

  Ints seen;
  for (int i = 0; i < LANES; ++i) {
    const int64_t query = std::min<int64_t>(i, queries - 1);  // lanes past the last repeat it
    seen[i] = static_cast<int32_t>(causal ? first + query + Lk - Lq + 1 : Lk);
    for (int64_t d = 0; d < D; ++d) qt[d * LANES + i] = float(q[query * D + d]) * (scale * kLog2e);
  }
  const int64_t end = seen[LANES - 1];

  for (int64_t j = 0; j < end; j += kRows) multiply(k + j * D, end - j, D, 1, qt, D, p + j * LANES);
  const Vec sum = softmax(p, seen, end);
  for (int64_t d = 0; d < D; d += kRows) multiply(v + d, D - d, 1, D, p, end, ot + d * LANES);

  for (int64_t i = 0; i < queries; ++i)
    for (int64_t d = 0; d < D; ++d) out[i * D + d] = ot[d * LANES + i] / sum[i];
}
