// Attention in bfloat16 for no more than 16 rows of queries that share a head of k and v, as when
// one token is decoded: k and v are read once, from where they lie. Rows of k are left-hand
// operands of the matrix unit as they are; the tiles' columns, and so the lanes of the softmax, are
// the queries. The weighted sum of v is taken by AVX-512's products of pairs.
#ifdef FEW  // D, a multiple of 32
#include <algorithm>
#ifdef __AMX_BF16__
#include <immintrin.h>

namespace {

constexpr int64_t kKeys = 256;  // of a block
constexpr int64_t kRows = 16;

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64};
  uint8_t rows[16] = {16, 16, 16};
};

struct alignas(64) Memory {
  uint32_t q[FEW / 2][kRows];    // pairs of elements of each row
  float s[kKeys][kRows];         // scores
  uint32_t p[kKeys / 2][kRows];  // weights of pairs of keys
  float o[kRows][FEW];
  ks_bf16 room[32][FEW];  // the last keys, zeros after them
};

/// The compiler does not know that tile instructions touch memory.
void tile_fence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// 2^x to 1e-4, which is finer than bfloat16 by far.
__m512 exp2(__m512 x) {
  const __m512 f = _mm512_reduce_ps(x, 0x09);
  __m512 r = _mm512_set1_ps(0.0780246109f);
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.22606726f));
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.695833385f));
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.999925256f));
  return _mm512_scalef_ps(r, x);
}

/// The keys from `key` on: where they are, or the last of them, fewer than 32, with zeros in
/// `room`.
const ks_bf16* whole(const ks_bf16* x, int64_t key, int64_t Lk, ks_bf16* room) {
  if (key + 32 <= Lk) return x + key * FEW;
  std::memset(room, 0, 32 * FEW * sizeof *room);
  std::memcpy(room, x + key * FEW, (Lk - key) * FEW * sizeof *room);
  return room;
}

/// Scores of 32 keys.
void score(const ks_bf16* k, const Memory& m, float* s) {
  tile_fence();
  for (int64_t i = 0; i < 32; i += 16) {
    _tile_zero(0);
    for (int64_t d = 0; d < FEW; d += 32) {
      _tile_loadd(1, k + i * FEW + d, FEW * 2);
      _tile_loadd(2, m.q[d / 2], 64);
      _tile_dpbf16ps(0, 1, 2);
    }
    _tile_stored(0, s + i * kRows, 64);
  }
  tile_fence();
}

/// o += p v for 4 rows of queries from `row` on, 32 keys and all elements of v. Neighbouring keys
/// are interleaved, in the order of unpacking: element e of half h of 32 is 8 (e / 4) + 4 h + e
/// % 4.
void add(const ks_bf16* v, const uint32_t (*p)[kRows], int64_t row, Memory& m) {
  for (int64_t d = 0; d < FEW; d += 32) {
    __m512 sum[4][2];
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) sum[r][h] = _mm512_load_ps(m.o[row + r] + d + 16 * h);
    for (int64_t j = 0; j < 16; ++j) {
      const __m512i a = _mm512_loadu_si512(v + 2 * j * FEW + d),
                    b = _mm512_loadu_si512(v + (2 * j + 1) * FEW + d);
      const auto lo = (__m512bh)_mm512_unpacklo_epi16(a, b),
                 hi = (__m512bh)_mm512_unpackhi_epi16(a, b);
      for (int r = 0; r < 4; ++r) {
        const auto w = (__m512bh)_mm512_set1_epi32(p[j][row + r]);
        sum[r][0] = _mm512_dpbf16_ps(sum[r][0], lo, w);
        sum[r][1] = _mm512_dpbf16_ps(sum[r][1], hi, w);
      }
    }
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) _mm512_store_ps(m.o[row + r] + d + 16 * h, sum[r][h]);
  }
}

/// Running softmax, a row of queries in each lane.
struct Softmax {
  __m512 max = _mm512_set1_ps(-1e30f), sum = _mm512_setzero_ps();
  __m512i seen;  ///< the lane sees the keys before seen[lane]

  /// Turns n scores from `key` on into weights; returns the factor for what was summed before.
  __m512 weigh(Memory& m, int64_t key, int64_t n, __m512 scale) {
    const __m512 before = max;
    const auto sees = [&](int64_t j) {
      return _mm512_cmpgt_epi32_mask(seen, _mm512_set1_epi32(key + j));
    };
    for (int64_t j = 0; j < n; ++j)
      max = _mm512_mask_max_ps(max, sees(j), max, _mm512_mul_ps(_mm512_load_ps(m.s[j]), scale));
    const __m512 factor = exp2(_mm512_sub_ps(before, max));
    sum = _mm512_mul_ps(sum, factor);
    for (int64_t j = 0; j < n; j += 2) {
      __m512i pair = _mm512_setzero_si512();
      for (int64_t i = 1; i >= 0; --i) {
        const __m512 e = _mm512_maskz_mov_ps(
            sees(j + i), exp2(_mm512_fmsub_ps(_mm512_load_ps(m.s[j + i]), scale, max)));
        sum = _mm512_add_ps(sum, e);
        pair = _mm512_or_si512(_mm512_slli_epi32(pair, 16),
                               _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(e)));
      }
      _mm512_store_si512(m.p[j / 2], pair);
    }
    return factor;
  }
};

}  // namespace
#endif  // __AMX_BF16__

/// `rows`: of all heads that share one of k and v, at most 16. Without the matrix unit the plan
/// takes another launch.
extern "C" void attend_few(const ks_bf16* q, const ks_bf16* k, const ks_bf16* v, ks_bf16* out,
                           int64_t rows, int64_t Lq, int64_t Lk, bool causal, float scale,
                           const ks_group* group) {
#ifdef __AMX_BF16__
  Memory& m = *static_cast<Memory*>(group->memory);
  const int64_t head = group->id[0];
  q += head * rows * FEW;
  out += head * rows * FEW;
  k += head * Lk * FEW;
  v += head * Lk * FEW;
  std::memset(m.q, 0, sizeof m.q);
  std::memset(m.o, 0, sizeof m.o);
  alignas(64) int32_t seen[kRows] = {};
  for (int64_t r = 0; r < rows; ++r) {
    seen[r] = causal ? r % Lq + Lk - Lq + 1 : Lk;
    for (int64_t d = 0; d < FEW; d += 2) std::memcpy(&m.q[d / 2][r], q + r * FEW + d, 4);
  }
  Softmax softmax;
  softmax.seen = _mm512_load_si512(seen);
  const TileConfig config;
  _tile_loadconfig(&config);
  for (int64_t key = 0; key < Lk; key += kKeys) {
    const int64_t n = std::min(kKeys, (Lk - key + 31) / 32 * 32);
    for (int64_t j = 0; j < n; j += 32) score(whole(k, key + j, Lk, m.room[0]), m, m.s[j]);
    alignas(64) float factor[kRows];
    _mm512_store_ps(factor, softmax.weigh(m, key, n, _mm512_set1_ps(scale * 1.44269504f)));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < FEW; ++d) m.o[r][d] *= factor[r];
    for (int64_t j = 0; j < n; j += 32) {
      const ks_bf16* block = whole(v, key + j, Lk, m.room[0]);
      for (int64_t r = 0; r < rows; r += 4) add(block, m.p + j / 2, r, m);
    }
  }
  _tile_release();
  alignas(64) float sum[kRows];
  _mm512_store_ps(sum, softmax.sum);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t d = 0; d < FEW; ++d)
      out[r * FEW + d] = m.o[r][d / 32 * 32 + d / 4 % 2 * 16 + d % 32 / 8 * 4 + d % 4] / sum[r];
#endif
}
#endif  // FEW
