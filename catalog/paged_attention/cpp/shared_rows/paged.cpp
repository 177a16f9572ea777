// Decoding attention over pages, one head of k and v of one sequence a group: a row of k or v is turned into
// floats once for all query heads that share it, and read once. Blocks of keys with a running maximum,
// so that scores stay in the first cache; exponentials as vectors.
//
//   score[g][j] = q[g] . k[j]      acc[g] = acc[g] exp(old max - max) + sum over j of p[g][j] v[j]
#include <algorithm>
#include <cmath>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace {

constexpr int64_t kBlock = 64;  // keys
constexpr float kLog2e = 1.44269504f;
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
#elif defined(__F16C__) && LANES == 8
INLINE Vec load(const ks_half* p) { return (Vec)_mm256_cvtph_ps(_mm_loadu_si128((__m128i*)p)); }
#else
INLINE Vec load(const ks_half* p) {
  float x[LANES];
  for (int i = 0; i < LANES; ++i) x[i] = p[i];
  return load(x);
}
#endif
/// A broadcast: x - 0 is x, where the compiler would have to compute x + 0.
INLINE Vec all(float x) { return x - Vec{}; }

/// 2^x, for x from -126 to 0: a polynomial on the rest after rounding, the integer into the exponent.
INLINE Vec exp2(Vec x) {
  x = x > all(-126) ? x : all(-126);
  const Vec shifted = x + all(0x1.8p23f);
  const Vec f = x - (shifted - all(0x1.8p23f));
  Vec p = f * 0.0013276472f + 0.00967554133f;
  p = p * f + 0.0555071327f;
  p = p * f + 0.240221197f;
  p = p * f + 0.693146967f;
  p = p * f + 1.00000007f;
  return (Vec)((Ints)p + ((Ints)shifted << 23));
}

/// A row as floats in `room`, zeros up to the next whole vector.
INLINE void widen(const T* row, int64_t D, float* room) {
  int64_t d = 0;
  for (; d + LANES <= D; d += LANES) store(room + d, load(row + d));
  if (d == D) return;
  store(room + d, Vec{});
  for (; d < D; ++d) room[d] = float(row[d]);
}

INLINE float dot(const float* a, const float* b, int64_t padded) {
  Vec sum = {}, other = {};
  int64_t d = 0;
  for (; d + 2 * LANES <= padded; d += 2 * LANES) {
    sum += load(a + d) * load(b + d);
    other += load(a + d + LANES) * load(b + d + LANES);
  }
  if (d < padded) sum += load(a + d) * load(b + d);
  sum += other;
  float total = 0;
  for (int i = 0; i < LANES; ++i) total += sum[i];
  return total;
}

/// What `heads` query heads have seen so far, in a worker's memory.
struct State {
  int64_t heads, D, padded;
  float *query, *acc, *score, *row, *max, *total;  // [heads, padded] twice, [heads, kBlock], [padded]
};

INLINE State make_state(void* memory, int64_t heads, int64_t D) {
  State s;
  s.heads = heads;
  s.D = D;
  s.padded = (D + LANES - 1) / LANES * LANES;
  s.query = static_cast<float*>(memory);
  s.acc = s.query + heads * s.padded;
  s.score = s.acc + heads * s.padded;
  s.row = s.score + heads * kBlock;
  s.max = s.row + s.padded;
  s.total = s.max + heads;
  return s;
}

/// q: [heads, D].
INLINE void start(const State& s, const T* q, float scale) {
  for (int64_t g = 0; g < s.heads; ++g) {
    widen(q + g * s.D, s.D, s.query + g * s.padded);
    for (int64_t d = 0; d < s.padded; ++d) s.query[g * s.padded + d] *= scale * kLog2e;
    s.max[g] = -INFINITY;
    s.total[g] = 0;
  }
  std::fill_n(s.acc, s.heads * s.padded, 0.0f);
}

/// `keys` (kBlock at most) more keys; k_row(j), v_row(j) are theirs.
template <class K, class V>
INLINE void attend(const State& s, int64_t keys, K k_row, V v_row) {
  for (int64_t j = 0; j < keys; ++j) {
    widen(k_row(j), s.D, s.row);
    for (int64_t g = 0; g < s.heads; ++g)
      s.score[g * kBlock + j] = dot(s.query + g * s.padded, s.row, s.padded);
  }
  for (int64_t g = 0; g < s.heads; ++g) {
    float* score = s.score + g * kBlock;
    const float max = std::max(s.max[g], *std::max_element(score, score + keys));
    const float shrink = std::exp2(s.max[g] - max);
    std::fill(score + keys, score + kBlock, -INFINITY);
    Vec sum = {};
    for (int64_t j = 0; j < kBlock; j += LANES) {
      const Vec p = j < keys ? exp2(load(score + j) - all(max)) : Vec{};
      store(score + j, p);
    }
    std::fill(score + keys, score + kBlock, 0.0f);
    for (int64_t j = 0; j < kBlock; j += LANES) sum += load(score + j);
    float total = 0;
    for (int i = 0; i < LANES; ++i) total += sum[i];
    s.total[g] = s.total[g] * shrink + total;
    s.max[g] = max;
    if (shrink != 1)
      for (int64_t d = 0; d < s.padded; d += LANES)
        store(s.acc + g * s.padded + d, load(s.acc + g * s.padded + d) * shrink);
  }
  for (int64_t j = 0; j < keys; ++j) {
    widen(v_row(j), s.D, s.row);
    for (int64_t g = 0; g < s.heads; ++g) {
      float* acc = s.acc + g * s.padded;
      const Vec p = all(s.score[g * kBlock + j]);
      for (int64_t d = 0; d < s.padded; d += LANES) store(acc + d, load(acc + d) + p * load(s.row + d));
    }
  }
}

}  // namespace

extern "C" void paged(const T* q, const T* k_cache, const T* v_cache, const int32_t* indptr,
                      const int32_t* indices, const int32_t* last_page_len, T* out, int64_t D,
                      int64_t P, int64_t heads, float scale, const ks_group* group) {
  const int64_t kv = group->id[0], Hkv = group->count[0], sequence = group->id[1];
  const State s = make_state(group->memory, heads, D);
  const int64_t first_head = (sequence * Hkv + kv) * heads;
  start(s, q + first_head * D, scale);
  const int64_t first = indptr[sequence], pages = indptr[sequence + 1] - first;
  for (int64_t page = 0; page < pages; ++page) {
    const int64_t tokens = page + 1 < pages ? P : last_page_len[sequence];
    const int64_t base = (indices[first + page] * P * Hkv + kv) * D;
    for (int64_t j = 0; j < tokens; j += kBlock)
      attend(s, std::min(kBlock, tokens - j),
             [&](int64_t i) { return k_cache + base + (j + i) * Hkv * D; },
             [&](int64_t i) { return v_cache + base + (j + i) * Hkv * D; });
  }
  for (int64_t g = 0; g < heads; ++g)
    for (int64_t d = 0; d < D; ++d)
      out[(first_head + g) * D + d] = s.acc[g * s.padded + d] / s.total[g];
}
