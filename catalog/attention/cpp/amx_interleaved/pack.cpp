// Lays k and v out as the right-hand operands of the matrix unit: a tile is 16 rows, each of 16
// pairs of elements that it multiplies with two neighbouring elements of a left-hand row. 32 keys
// are a block; DP is D rounded up to 32, and what is missing of a block is zero.
#ifdef DP
#include <algorithm>
#ifdef __AMX_BF16__
#include <immintrin.h>

namespace {

/// Transposes 16 rows of 16 pairs of elements, so that a row holds one pair of each key.
void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      r[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
      r[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
    }
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 4; ++j) {
      t[i + j] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0x88);
      t[i + j + 4] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0xdd);
    }
  for (int j = 0; j < 8; ++j) {
    r[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
    r[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
  }
}

__mmask32 first(int64_t n) { return n >= 32 ? ~0u : n <= 0 ? 0u : (1u << n) - 1; }

/// d and d + 1 of 16 keys in a row of a tile; keys: [DP / 32][2 halves of the keys] tiles.
void pack_keys(const ks_bf16* k, int64_t rows, int64_t D, uint16_t* keys) {
  for (int64_t d = 0; d < DP; d += 32)
    for (int64_t half = 0; half < 32; half += 16) {
      __m512i r[16];
      for (int64_t i = 0; i < 16; ++i)
        r[i] = _mm512_maskz_loadu_epi16(half + i < rows ? first(D - d) : 0, k + (half + i) * D + d);
      transpose(r);
      for (int64_t i = 0; i < 16; ++i) _mm512_store_si512(keys + d * 32 + half * 32 + i * 32, r[i]);
    }
}

/// 16 columns of two neighbouring keys in a row of a tile; values: [DP / 16] tiles. Packing two
/// vectors of scores into one of weights leaves 4 keys of 0..15, 4 of 16..31, 4 of 0..15, and so
/// on.
void pack_values(const ks_bf16* v, int64_t rows, int64_t D, uint16_t* values) {
  const auto load = [&](int64_t row, int64_t d) {
    const __mmask32 mask = row < rows ? first(std::min<int64_t>(16, D - d)) : 0;
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, v + row * D + d));
  };
  for (int64_t r = 0; r < 16; ++r) {
    const int64_t key = r / 4 * 4 + r % 4 / 2 * 16 + r % 2 * 2;
    for (int64_t d = 0; d < DP; d += 16)
      _mm512_store_si512(values + d * 32 + r * 32,
                         _mm512_or_si512(load(key, d), _mm512_slli_epi32(load(key + 1, d), 16)));
  }
}

/// The largest square of a key's length.
float longest(const ks_bf16* k, int64_t rows, int64_t D) {
  float most = 0;
  for (int64_t r = 0; r < rows; ++r) {
    __m512 sum = _mm512_setzero_ps();
    for (int64_t d = 0; d < D; d += 32) {
      const auto x = (__m512bh)_mm512_maskz_loadu_epi16(first(D - d), k + r * D + d);
      sum = _mm512_dpbf16_ps(sum, x, x);
    }
    most = std::max(most, _mm512_reduce_add_ps(sum));
  }
  return most;
}

}  // namespace
#endif  // __AMX_BF16__

/// Without the matrix unit the plan takes another launch.
extern "C" void pack(const ks_bf16* k, const ks_bf16* v, uint16_t* keys, uint16_t* values,
                     float* squares, int64_t Lk, int64_t D, const ks_group* group) {
#ifdef __AMX_BF16__
  const int64_t block = group->id[0], head = group->id[1];
  const int64_t from = (head * Lk + block * 32) * D,
                to = (head * group->count[0] + block) * 32 * DP;
  const int64_t rows = std::min<int64_t>(32, Lk - block * 32);
  pack_keys(k + from, rows, D, keys + to);
  pack_values(v + from, rows, D, values + to);
  squares[head * group->count[0] + block] = longest(k + from, rows, D);
#endif
}
#endif  // DP
