// Attention by register tiles, exponentials taken in registers against a moving reference, lanes of
// the diagonal left out. A group takes the rows of all query heads that share its head of k and v,
// so that the rows fill whole tiles however few queries there are, and k and v are read once for
// all of them; where there are no more than FEW in all, few.cpp takes them.
//
// A group owns kRows rows of queries of one head of k and v, in vector lanes:
//   p[key][row] = exp2(sum over d of k[key][d] * qt[d][row] - reference[row])
//   ot[d][row] += sum over keys of v[key][d] * p[key][row]
#include <algorithm>
#include <cmath>
#include <utility>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace {

constexpr int kRows = VECTORS * LANES;
constexpr float kLog2e = 1.44269504f;
constexpr float kFar = 64;  // a score this far above the reference moves it
using Vec = float __attribute__((vector_size(4 * LANES)));
using Ints = int32_t __attribute__((vector_size(4 * LANES)));
using Shorts = uint16_t __attribute__((vector_size(2 * LANES)));
#define INLINE inline __attribute__((always_inline))

INLINE Vec load(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
INLINE void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
INLINE Vec load(const ks_bf16* p) {
  Shorts x;
  std::memcpy(&x, p, sizeof x);
  return (Vec)(__builtin_convertvector(x, Ints) << 16);
}
// g++ 12 converts _Float16 one element at a time.
#if defined(__AVX512F__) && LANES == 16
INLINE Vec load(const ks_half* p) { return (Vec)_mm512_cvtph_ps(_mm256_loadu_si256((__m256i*)p)); }
INLINE void store(ks_half* p, Vec x) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__) && LANES == 8
INLINE Vec load(const ks_half* p) { return (Vec)_mm256_cvtph_ps(_mm_loadu_si128((__m128i*)p)); }
INLINE void store(ks_half* p, Vec x) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
}
#endif
template <class S>
INLINE Vec load(const S* p) {
  float x[LANES];
  for (int i = 0; i < LANES; ++i) x[i] = p[i];
  return load(x);
}
template <class S>
INLINE void store(S* p, Vec x) {
  for (int i = 0; i < LANES; ++i) p[i] = x[i];
}
/// The first n elements, then zeros; nothing past p[n - 1] is touched.
template <class S>
INLINE Vec load(const S* p, int64_t n) {
  if (n >= LANES) return load(p);
  float x[LANES] = {};
  for (int64_t i = 0; i < n; ++i) x[i] = p[i];
  return load(x);
}
template <class S>
INLINE void store(S* p, int64_t n, Vec x) {
  if (n >= LANES) return store(p, x);
  for (int64_t i = 0; i < n; ++i) p[i] = x[i];
}
/// A broadcast: x - 0 is x, where the compiler would have to compute x + 0.
INLINE Vec all(float x) { return x - Vec{}; }
INLINE Vec larger(Vec a, Vec b) { return a > b ? a : b; }

/// 2^x for x < 127, to 2e-7; 2^-126 for what is below -126. Adding 1.5 * 2^23 rounds x and leaves
/// its integer in the low bits, which go into the exponent; a minimax polynomial does the rest,
/// which lies in [-0.5, 0.5].
INLINE Vec exp2(Vec x) {
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

/// a[0], b[0], a[1], b[1], ... of the lower or the upper half of the lanes.
template <int... I>
INLINE Vec interleave(Vec a, Vec b, bool upper, std::integer_sequence<int, I...>) {
  return upper ? __builtin_shufflevector(a, b, (I / 2 + I % 2 * LANES + LANES / 2)...)
               : __builtin_shufflevector(a, b, (I / 2 + I % 2 * LANES)...);
}
/// LANES by LANES elements in log2(LANES) rounds, each interleaving the halves.
INLINE void transpose(Vec (&a)[LANES]) {
  for (int round = 1; round < LANES; round *= 2) {
    Vec b[LANES];
    for (int i = 0; i < LANES; ++i)
      b[i] = interleave(a[i / 2], a[i / 2 + LANES / 2], i % 2,
                        std::make_integer_sequence<int, LANES>{});
    std::copy_n(b, LANES, a);
  }
}

/// n elements as floats: where they are, or converted into `room`.
const float* as_floats(const float* p, int64_t, float*) { return p; }
template <class Half>
const float* as_floats(const Half* p, int64_t n, float* room) {
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) store(room + i, load(p + i));
  for (; i < n; ++i) room[i] = p[i];
  return room;
}

/// The group's rows, those past the last one repeating it.
struct Rows {
  alignas(4 * LANES) float reference[kRows];
  float above[kRows];      ///< largest score of this block of keys, less the reference; at least 0
  float sum[kRows];        ///< of the weights so far
  float block_sum[kRows];  ///< of this block's weights
  int32_t seen[kRows];     ///< the row sees the keys before seen[r]
  int64_t offset[kRows];   ///< of the row in q and out
};

/// Weights of KEYS keys for the last V vectors of rows, their sum and the largest exponent.
/// kEdge: only `keys` of them are there, or not all rows see them.
template <int V, bool kEdge>
void score_tile(const float* k, int64_t D, const float* qt, int64_t key, int64_t keys, Rows& rows,
                float* p) {
  constexpr int kFirst = VECTORS - V;
  const float* row[KEYS];
  for (int r = 0; r < KEYS; ++r) row[r] = k + (kEdge ? std::min<int64_t>(r, keys - 1) : r) * D;
  Vec sum[KEYS][VECTORS];
  for (int r = 0; r < KEYS; ++r)
    for (int v = kFirst; v < VECTORS; ++v) sum[r][v] = -load(rows.reference + v * LANES);
#pragma GCC unroll 4
  for (int64_t d = 0; d < D; ++d) {
    Vec y[VECTORS];
    for (int v = kFirst; v < VECTORS; ++v) y[v] = load(qt + d * kRows + v * LANES);
    for (int r = 0; r < KEYS; ++r) {
      const Vec e = all(row[r][d]);
      for (int v = kFirst; v < VECTORS; ++v) sum[r][v] += e * y[v];
    }
  }
#pragma GCC unroll 4
  for (int v = kFirst; v < VECTORS; ++v) {
    Vec above = load(rows.above + v * LANES), total = load(rows.block_sum + v * LANES);
    Ints seen;
    std::memcpy(&seen, rows.seen + v * LANES, sizeof seen);
#pragma GCC unroll 12
    for (int r = 0; r < KEYS; ++r) {
      Vec s = sum[r][v];
      if (kEdge) s = seen > static_cast<int32_t>(key + r) ? s : all(-INFINITY);
      above = larger(s, above);
      const Vec e = exp2(s);
      total += e;
      store(p + r * kRows + v * LANES, e);
    }
    store(rows.above + v * LANES, above);
    store(rows.block_sum + v * LANES, total);
  }
}

/// The same at an edge, for the vectors from `first` on.
template <int V = VECTORS>
void edge_tile(int first, const float* k, int64_t D, const float* qt, int64_t key, int64_t keys,
               Rows& rows, float* p) {
  if (first == VECTORS - V) return score_tile<V, true>(k, D, qt, key, keys, rows, p);
  if constexpr (V > 1) edge_tile<V - 1>(first, k, D, qt, key, keys, rows, p);
}

/// Weights of a block of keys from `key` on, of which vector v of the rows sees the first seen[v].
/// False if a score lies too far above the reference.
bool score_block(const float* k, int64_t D, const float* qt, int64_t key, const int64_t* seen,
                 Rows& rows, float* p) {
  std::fill_n(rows.above, kRows, 0.0f);
  std::fill_n(rows.block_sum, kRows, 0.0f);
  const int64_t keys = seen[VECTORS - 1];
  const int64_t inner = std::min<int64_t>(keys, rows.seen[0] - key);  // of keys all rows see
  int first = 0;
  for (int64_t j = 0; j < keys; j += KEYS) {
    while (seen[first] <= j) ++first;
    if (j + KEYS <= inner)
      score_tile<VECTORS, false>(k + j * D, D, qt, key + j, KEYS, rows, p + j * kRows);
    else
      edge_tile(first, k + j * D, D, qt, key + j, keys - j, rows, p + j * kRows);
  }
  bool near = true;
  for (int r = 0; r < kRows; ++r) near &= !(rows.above[r] > kFar);
  return near;
}

/// Adds `above` to the references.
void move_references(Rows& rows, int64_t D, float* ot) {
  for (int r = 0; r < kRows; r += LANES) {
    const Vec above = load(rows.above + r), factor = exp2(-above);
    store(rows.reference + r, load(rows.reference + r) + above);
    store(rows.sum + r, load(rows.sum + r) * factor);
    for (int64_t d = 0; d < D; ++d) store(ot + d * kRows + r, load(ot + d * kRows + r) * factor);
  }
}

/// sum += v p for one key, R elements of v and the vectors of rows from kFirst on.
template <int kFirst, int R>
INLINE void add_key(const float* v, const float* p, Vec (&sum)[R][VECTORS]) {
  Vec y[VECTORS];
  for (int i = kFirst; i < VECTORS; ++i) y[i] = load(p + i * LANES);
  for (int r = 0; r < R; ++r) {
    const Vec e = all(v[r]);
    for (int i = kFirst; i < VECTORS; ++i) sum[r][i] += e * y[i];
  }
}
/// The same for the keys that only the vectors from kFirst on see.
template <int kFirst, int R>
INLINE void add_edge(const float* v, int64_t D, const float* p, const int64_t* seen,
                     Vec (&sum)[R][VECTORS]) {
  if constexpr (kFirst < VECTORS) {
    for (int64_t j = seen[kFirst - 1]; j < seen[kFirst]; ++j)
      add_key<kFirst>(v + j * D, p + j * kRows, sum);
    add_edge<kFirst + 1>(v, D, p, seen, sum);
  }
}
/// A tile of min(count, R) elements of v: ot += v p over a block of keys.
template <int R>
void value_tile(int64_t count, const float* v, int64_t D, const float* p, const int64_t* seen,
                float* ot) {
  if (count < R) {
    if constexpr (R > 1) value_tile<R - 1>(count, v, D, p, seen, ot);
    return;
  }
  Vec sum[R][VECTORS];
  for (int r = 0; r < R; ++r)
    for (int i = 0; i < VECTORS; ++i) sum[r][i] = load(ot + r * kRows + i * LANES);
#pragma GCC unroll 4
  for (int64_t j = 0; j < seen[0]; ++j) add_key<0>(v + j * D, p + j * kRows, sum);
  add_edge<1>(v, D, p, seen, sum);
  for (int r = 0; r < R; ++r)
    for (int i = 0; i < VECTORS; ++i) store(ot + r * kRows + i * LANES, sum[r][i]);
}

/// qt[d][r] = factor * q[r][d].
void load_queries(const T* q, const Rows& rows, int64_t D, float factor, float* qt) {
  for (int r = 0; r < kRows; r += LANES)
    for (int64_t d = 0; d < D; d += LANES) {
      Vec a[LANES];
      for (int i = 0; i < LANES; ++i) a[i] = factor * load(q + rows.offset[r + i] + d, D - d);
      transpose(a);
      for (int64_t i = 0; i < std::min<int64_t>(LANES, D - d); ++i)
        store(qt + (d + i) * kRows + r, a[i]);
    }
}
/// out[r][d] = ot[d][r] / sum[r] for the first `count` rows.
void store_rows(const float* ot, const Rows& rows, int64_t D, int64_t count, T* out) {
  for (int r = 0; r < count; r += LANES)
    for (int64_t d = 0; d < D; d += LANES) {
      const Vec factor = 1 / load(rows.sum + r);
      Vec a[LANES];
      for (int i = 0; i < LANES; ++i)
        a[i] = factor * load(ot + std::min<int64_t>(d + i, D - 1) * kRows + r);
      transpose(a);
      for (int64_t i = 0; i < std::min<int64_t>(LANES, count - r); ++i)
        store(out + rows.offset[r + i] + d, D - d, a[i]);
    }
}

}  // namespace

#ifndef FEW  // a launch for few rows needs only what is above
extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads, bool causal, float scale,
                          const ks_group* group) {
  const int64_t block = group->count[0] - 1 - group->id[0];
  const int64_t head = group->id[1], first = block * kRows;
  const int64_t count = std::min<int64_t>(kRows, Lq * heads - first);
  q += head * heads * Lq * D;
  out += head * heads * Lq * D;
  k += head * Lk * D;
  v += head * Lk * D;
  float* qt = static_cast<float*>(group->memory);  // [D][kRows]
  float* ot = qt + D * kRows;                      // [D][kRows]
  float* p = ot + D * kRows;                       // [BK][kRows]
  float* k_room = p + BK * kRows;                  // [BK][D]; both only for half precision
  float* v_room = k_room + BK * D;

  Rows rows;
  int64_t query = first / heads, h = first % heads;  // rows are numbered query * heads + head
  for (int r = 0; r < kRows; ++r) {
    rows.offset[r] = (h * Lq + query) * D;
    rows.seen[r] = static_cast<int32_t>(causal ? query + Lk - Lq + 1 : Lk);
    rows.reference[r] = rows.sum[r] = 0;
    rows.above[r] = -INFINITY;
    if (r + 1 < count && ++h == heads) h = 0, ++query;
  }
  load_queries(q, rows, D, scale * kLog2e, qt);
  std::fill_n(ot, D * kRows, 0.0f);

  const int64_t end = rows.seen[kRows - 1], few = std::min<int64_t>(KEYS, end);
  score_tile<VECTORS, true>(as_floats(k, few * D, k_room), D, qt, 0, few, rows, p);
  std::copy_n(rows.above, kRows, rows.reference);
  for (int64_t key = 0; key < end; key += BK) {
    const int64_t keys = std::min<int64_t>(BK, end - key);
    const float* k_block = as_floats(k + key * D, keys * D, k_room);
    const float* v_block = as_floats(v + key * D, keys * D, v_room);
    int64_t seen[VECTORS];  // keys of the block that the last row of each vector sees
    for (int i = 0; i < VECTORS; ++i)
      seen[i] = std::clamp<int64_t>(rows.seen[i * LANES + LANES - 1] - key, 0, keys);
    while (!score_block(k_block, D, qt, key, seen, rows, p)) move_references(rows, D, ot);
    for (int r = 0; r < kRows; ++r) rows.sum[r] += rows.block_sum[r];
    for (int64_t d = 0; d < D; d += KEYS)
      value_tile<KEYS>(D - d, v_block + d, D, p, seen, ot + d * kRows);
  }
  store_rows(ot, rows, D, count, out);
}
#endif
