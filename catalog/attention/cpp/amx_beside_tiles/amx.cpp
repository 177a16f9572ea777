// Attention in bfloat16 by the matrix unit: a tile instruction multiplies 16 rows of 32 elements by
// 32 rows of 16 and adds to 16 by 16 floats. `attend` takes 32 rows of queries (the rows of all
// heads that share k and v are numbered through) over chunks of DP packed keys. Where the longest
// query and the longest key leave every score within 2^-60 to 2^60, the softmax needs no maximum;
// a weight's bfloat16 bits are its exponent in fixed point, put right by a table; and vector
// instructions make the weights of one block while tiles multiply those of its neighbours.
#ifdef DP  // D rounded up to 32
#include <algorithm>
#include <array>
#include <cmath>
#ifdef __AMX_BF16__
#include <immintrin.h>
#endif

#define INLINE inline __attribute__((always_inline))

namespace {

constexpr int64_t kTile = 512;         // elements of a right-hand tile, [16 pairs of rows][16][2]
constexpr int64_t kBlock = 32 * DP;    // elements of 32 packed keys or values
constexpr int64_t kColumns = DP / 32;  // pairs of tiles across the head, and blocks of a chunk
// Elements of a row, a line more than there are: 16 rows a power of two apart would share few sets
// of the cache.
constexpr int64_t kQ = DP + 32, kS = 32 + 16, kP = DP + 32, kO = DP + 16;
constexpr float kFar = 60;  // exponents of 2 up to which scores need no reference

#ifdef __AMX_BF16__
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// What a worker keeps for 32 rows.
struct alignas(64) Memory {
  uint16_t q[32][kQ];
  float s[32][kS];
  uint16_t p[2][32][kP];  // weights of a chunk and of the one before
  float o[32][kO];
  float sum[32][16];
  float bias[32];    // 127 less the row's reference, in 128ths
  int64_t seen[32];  // the row sees the keys before seen[r]
};

/// The compiler does not know that tile instructions touch memory.
void tile_fence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// c[32][32] = or += a[32][32 * n] times n pairs of tiles, `step` elements apart. `a` has A, `c`
/// has C elements a row. Between the products, which keep the matrix unit busy for 16 cycles each,
/// `work` is done by the vector units, and the last of it before c is written.
template <int64_t A, int64_t C, class Work>
INLINE void multiply(const uint16_t* a, const uint16_t* b, int64_t step, int64_t n, bool add,
                     float* c, Work& work) {
  tile_fence();
  if (add) {
    _tile_loadd(0, c, C * 4);
    _tile_loadd(1, c + 16, C * 4);
    _tile_loadd(2, c + 16 * C, C * 4);
    _tile_loadd(3, c + 16 * C + 16, C * 4);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
#pragma GCC unroll 1
  for (int64_t i = 0; i < n; ++i) {
    _tile_loadd(4, a + i * 32, A * 2);
    _tile_loadd(6, b + i * step, 64);
    _tile_dpbf16ps(0, 4, 6);
    work();
    _tile_loadd(7, b + i * step + kTile, 64);
    _tile_dpbf16ps(1, 4, 7);
    work();
    _tile_loadd(5, a + 16 * A + i * 32, A * 2);
    _tile_dpbf16ps(2, 5, 6);
    work();
    _tile_dpbf16ps(3, 5, 7);
    work();
  }
  if (!add) work.finish();
  tile_fence();
  _tile_stored(0, c, C * 4);
  _tile_stored(1, c + 16, C * 4);
  _tile_stored(2, c + 16 * C, C * 4);
  _tile_stored(3, c + 16 * C + 16, C * 4);
  tile_fence();
}

struct Idle {
  void operator()() {}
  void finish() {}
};

/// The first n of 16 or 32 lanes.
__mmask16 first16(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1; }
__mmask32 first32(int64_t n) { return n >= 32 ? ~0u : n <= 0 ? 0 : (1u << n) - 1; }

/// By the upper six of the seven bits f of a mantissa: how much 1 + f / 128 exceeds 2^(f / 128), in
/// 128ths.
alignas(64) constexpr auto kExcess = [] {
  std::array<uint8_t, 64> table{};
  for (int i = 0; i < 64; ++i) {
    double sum = 0.5;
    for (const double f : {i / 64.0, (i + 0.5) / 64.0}) {
      double power = 1, term = 1;
      for (int k = 1; k < 12; ++k) power += term *= f * 0.6931471805599453 / k;
      sum += (1 + f - power) * 64;
    }
    table[i] = static_cast<uint8_t>(sum);
  }
  return table;
}();

/// bfloat16 bits of 2^(score * scale / 128 - 127 + bias / 128) for two vectors of scores: fixed
/// point with seven bits of fraction is nearly that, since 2^f is nearly 1 + f. What is below
/// 2^-127 is cut off at zero.
INLINE __m512i powers(const float* s, __m512 scale, __m512 bias) {
  const __m512i a = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_load_ps(s), scale, bias));
  const __m512i b = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_load_ps(s + 16), scale, bias));
  const __m512i x = _mm512_packus_epi32(a, b);
  // Bits 1 to 6 of each 16 are the index; the upper byte gets nothing.
  const __m512i index = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x3931292119110901), x);
  return _mm512_sub_epi16(x, _mm512_maskz_permutexvar_epi8(0x5555555555555555, index,
                                                           _mm512_load_si512(kExcess.data())));
}

/// Weights of a row for 32 keys, of which it sees the first `seen`.
INLINE void weigh(Memory& m, int64_t r, int64_t seen, __m512 scale, uint16_t* p) {
  __m512i x = powers(m.s[r], scale, _mm512_set1_ps(m.bias[r]));
  if (seen < 32) {
    const uint32_t mask = first32(seen);
    x = _mm512_maskz_mov_epi16(_pdep_u32(mask, 0x0f0f0f0f) | _pdep_u32(mask >> 16, 0xf0f0f0f0), x);
  }
  _mm512_store_si512(p, x);
  const __m512 even = (__m512)_mm512_slli_epi32(x, 16),
               odd = (__m512)_mm512_and_si512(x, _mm512_set1_epi32(0xffff0000));
  _mm512_store_ps(m.sum[r], _mm512_add_ps(_mm512_load_ps(m.sum[r]), _mm512_add_ps(even, odd)));
}

/// Weights of a block of 32 keys, some rows at a time.
struct Weights {
  static constexpr int64_t kRows =
      (3 + kColumns) / kColumns;  // a call, so that a block's products suffice
  Memory& m;
  int64_t key;  ///< first of the block
  __m512 scale;
  uint16_t* p;
  int64_t row = 0;

  INLINE void operator()() {
    if (row == 32) return;
#pragma GCC unroll 4
    for (int64_t r = row; r < row + kRows; ++r) weigh(m, r, m.seen[r] - key, scale, p + r * kP);
    row += kRows;
  }
  INLINE void finish() {
    while (row < 32) (*this)();
  }
};

/// Sets each row's reference to its largest score.
void find_references(Memory& m, const uint16_t* keys, int64_t end, float scale) {
  __m512 most[32];
  std::fill_n(most, 32, _mm512_set1_ps(-INFINITY));
  Idle idle;
  for (int64_t key = 0; key < end; key += 32) {
    multiply<kQ, kS>(m.q[0], keys + key * DP, 2 * kTile, kColumns, false, m.s[0], idle);
    for (int64_t r = 0; r < 32; ++r)
      for (int64_t i = 0; i < 32; i += 16)
        most[r] =
            _mm512_mask_max_ps(most[r], first16(m.seen[r] - key - i), most[r],
                               _mm512_mul_ps(_mm512_load_ps(m.s[r] + i), _mm512_set1_ps(scale)));
  }
  for (int64_t r = 0; r < 32; ++r) m.bias[r] -= _mm512_reduce_max_ps(most[r]);
}

#endif  // __AMX_BF16__
}  // namespace

/// `rows`: of all heads that share one of k and v. Without the matrix unit the plan takes another
/// launch.
extern "C" void attend(const ks_bf16* q, const uint16_t* keys, const uint16_t* values,
                       const float* squares, ks_bf16* out, int64_t rows, int64_t Lq, int64_t Lk,
                       int64_t D, bool causal, float scale, const ks_group* group) {
#ifdef __AMX_BF16__
  Memory& m = *static_cast<Memory*>(group->memory);
  const int64_t head = group->id[1], start = group->id[0] * 32;
  const int64_t count = std::min<int64_t>(32, rows - start), blocks = (Lk + 31) / 32;
  q += (head * rows + start) * D;
  out += (head * rows + start) * D;
  keys += head * blocks * kBlock;
  values += head * blocks * kBlock;
  squares += head * blocks;
  int64_t end = 0;
  float longest = 0;
  for (int64_t r = 0; r < 32; ++r) {
    __m512 square = _mm512_setzero_ps();
    for (int64_t d = 0; d < DP; d += 32) {
      const __m512i x = _mm512_maskz_loadu_epi16(r < count ? first32(D - d) : 0, q + r * D + d);
      _mm512_store_si512(m.q[r] + d, x);
      square = _mm512_dpbf16_ps(square, (__m512bh)x, (__m512bh)x);
    }
    longest = std::max(longest, _mm512_reduce_add_ps(square));
    m.seen[r] = causal && r < count ? (start + r) % Lq + Lk - Lq + 1 : Lk;
    if (r < count) end = std::max(end, m.seen[r]);
    m.bias[r] = 127 * 128;
    _mm512_store_ps(m.sum[r], _mm512_setzero_ps());
    std::fill_n(m.o[r], DP, 0.0f);
  }
  const TileConfig config;
  _tile_loadconfig(&config);
  // No score is larger than the product of the longest query and the longest key.
  const float units = scale * 1.44269504f * 128;
  if (std::sqrt(longest * *std::max_element(squares, squares + blocks)) * std::fabs(units) >
      kFar * 128)
    find_references(m, keys, end, units);
  // Each block's weights are made beside the next block's scores and one pair of columns of the
  // sums over the chunk before.
  const int64_t used = (end + 31) / 32;
  const auto score = [&](int64_t b, auto& work) {
    multiply<kQ, kS>(m.q[0], keys + b * kBlock, 2 * kTile, kColumns, false, m.s[0], work);
  };
  const auto sum = [&](int64_t chunk, int64_t column, auto& work) {
    const int64_t b = chunk * kColumns, n = std::min(kColumns, used - b);
    multiply<kP, kO>(m.p[chunk % 2][0], values + b * kBlock + column * 2 * kTile, kBlock, n, true,
                     m.o[0] + column * 32, work);
  };
  Idle idle;
  score(0, idle);
  for (int64_t b = 0; b < used; ++b) {
    const int64_t chunk = b / kColumns, column = b % kColumns;
    Weights weights{m, b * 32, _mm512_set1_ps(units), m.p[chunk % 2][0] + column * 32};
    if (chunk > 0) sum(chunk - 1, column, weights);
    if (b + 1 < used) score(b + 1, weights);
    weights.finish();
  }
  const int64_t last = (used - 1) / kColumns;
  for (int64_t column = used - last * kColumns; column < kColumns && last > 0; ++column)
    sum(last - 1, column, idle);
  for (int64_t column = 0; column < kColumns; ++column) sum(last, column, idle);
  _tile_release();
  for (int64_t r = 0; r < count; ++r) {
    const __m512 sum = _mm512_set1_ps(_mm512_reduce_add_ps(_mm512_load_ps(m.sum[r])));
    for (int64_t d = 0; d < DP; d += 16) {
      const __m512 x = _mm512_div_ps(_mm512_load_ps(m.o[r] + d), sum);
      _mm256_mask_storeu_epi16(out + r * D + d, first16(D - d), (__m256i)_mm512_cvtneps_pbh(x));
    }
  }
#endif
}
#endif  // DP
