// Attention in bfloat16 by the matrix unit: a tile instruction multiplies 16 rows of 32 elements by
// 32 rows of 16 and adds to 16 by 16 floats. `pack` lays k and v out as its right-hand operands
// once for each head of them, zeros where a block is not full; `attend` takes 32 rows of queries
// (the rows of all heads that share k and v are numbered through) over chunks of KEYS keys, with
// the running maximum of the online softmax.
#ifdef DP  // D rounded up to 32
#include <algorithm>
#ifdef __AMX_BF16__
#include <immintrin.h>
#endif

namespace {

constexpr int64_t kTile = 512;          // elements of a right-hand tile, [16 pairs of rows][16][2]
constexpr int64_t kBlock = 32 * DP;     // elements of 32 packed keys or values
constexpr int64_t kBlocks = KEYS / 32;  // of a chunk
// Elements of a row, a line more than there are: 16 rows a power of two apart would share few sets
// of the cache.
constexpr int64_t kQ = DP + 32, kS = KEYS + 16, kP = KEYS + 32, kO = DP + 16;

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
  uint16_t p[32][kP];
  float o[32][kO];
  float max[32], sum[32];
  int64_t seen[32];  // the row sees the keys before seen[r]
};

/// The compiler does not know that tile instructions touch memory.
void tile_fence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// c[32][32] = or += a[32][32 * n] times n pairs of tiles, `step` elements apart. `a` has A, `c`
/// has C elements a row.
template <int64_t A, int64_t C>
void multiply(const uint16_t* a, const uint16_t* b, int64_t step, int64_t n, bool add, float* c) {
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
  for (int64_t i = 0; i < n; ++i) {
    _tile_loadd(4, a + i * 32, A * 2);
    _tile_loadd(5, a + 16 * A + i * 32, A * 2);
    _tile_loadd(6, b + i * step, 64);
    _tile_loadd(7, b + i * step + kTile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, C * 4);
  _tile_stored(1, c + 16, C * 4);
  _tile_stored(2, c + 16 * C, C * 4);
  _tile_stored(3, c + 16 * C + 16, C * 4);
  tile_fence();
}

/// 2^x to 1e-4, which is finer than bfloat16 by far.
__m512 exp2(__m512 x) {
  const __m512 f = _mm512_reduce_ps(x, 0x09);
  __m512 r = _mm512_set1_ps(0.0780246109f);
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.22606726f));
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.695833385f));
  r = _mm512_fmadd_ps(r, f, _mm512_set1_ps(0.999925256f));
  return _mm512_scalef_ps(r, x);
}

/// The first n of 16 or 32 lanes.
__mmask16 first16(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1; }
__mmask32 first32(int64_t n) { return n >= 32 ? ~0u : n <= 0 ? 0 : (1u << n) - 1; }

/// Weights of a row for the n keys from `key` on; what was summed before is scaled.
void weigh(Memory& m, int64_t r, int64_t key, int64_t n, __m512 scale) {
  const int64_t seen = m.seen[r] - key;
  __m512 most = _mm512_set1_ps(m.max[r]);
  for (int64_t i = 0; i < n; i += 16) {
    const __m512 s = _mm512_mul_ps(_mm512_load_ps(m.s[r] + i), scale);
    _mm512_store_ps(m.s[r] + i, s);
    most = _mm512_mask_max_ps(most, first16(seen - i), most, s);
  }
  const float max = _mm512_reduce_max_ps(most), before = m.max[r];
  const __m512 top = _mm512_set1_ps(max);
  __m512 sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < n; i += 32) {
    const __m512 a = _mm512_maskz_mov_ps(first16(seen - i),
                                         exp2(_mm512_sub_ps(_mm512_load_ps(m.s[r] + i), top)));
    const __m512 b = _mm512_maskz_mov_ps(first16(seen - i - 16),
                                         exp2(_mm512_sub_ps(_mm512_load_ps(m.s[r] + i + 16), top)));
    sum = _mm512_add_ps(sum, _mm512_add_ps(a, b));
    _mm512_store_si512(m.p[r] + i, (__m512i)_mm512_cvtne2ps_pbh(b, a));
  }
  m.max[r] = max;
  if (max > before) {
    const __m512 factor = exp2(_mm512_set1_ps(before - max));
    m.sum[r] *= _mm512_cvtss_f32(factor);
    if (key > 0)
      for (int64_t d = 0; d < DP; d += 16)
        _mm512_store_ps(m.o[r] + d, _mm512_mul_ps(_mm512_load_ps(m.o[r] + d), factor));
  }
  m.sum[r] += _mm512_reduce_add_ps(sum);
}

#endif  // __AMX_BF16__
}  // namespace

/// `rows`: of all heads that share one of k and v. Without the matrix unit the plan takes another
/// launch.
extern "C" void attend(const ks_bf16* q, const uint16_t* keys, const uint16_t* values, ks_bf16* out,
                       int64_t rows, int64_t Lq, int64_t Lk, int64_t D, bool causal, float scale,
                       const ks_group* group) {
#ifdef __AMX_BF16__
  Memory& m = *static_cast<Memory*>(group->memory);
  const int64_t head = group->id[1], start = group->id[0] * 32;
  const int64_t count = std::min<int64_t>(32, rows - start), blocks = (Lk + 31) / 32;
  q += (head * rows + start) * D;
  out += (head * rows + start) * D;
  keys += head * blocks * kBlock;
  values += head * blocks * kBlock;
  int64_t end = 0;
  for (int64_t r = 0; r < 32; ++r) {
    for (int64_t d = 0; d < DP; d += 32)
      _mm512_store_si512(m.q[r] + d,
                         _mm512_maskz_loadu_epi16(r < count ? first32(D - d) : 0, q + r * D + d));
    m.seen[r] = causal ? (start + r) % Lq + Lk - Lq + 1 : Lk;
    if (r < count) end = std::max(end, m.seen[r]);
    m.max[r] = -1e30f;
    m.sum[r] = 0;
  }
  const TileConfig config;
  _tile_loadconfig(&config);
  for (int64_t key = 0; key < end; key += KEYS) {
    const int64_t b = key / 32, n = std::min(kBlocks, (end + 31) / 32 - b);
    for (int64_t i = 0; i < n; ++i)
      multiply<kQ, kS>(m.q[0], keys + (b + i) * kBlock, 2 * kTile, DP / 32, false, m.s[0] + i * 32);
    for (int64_t r = 0; r < 32; ++r) weigh(m, r, key, n * 32, _mm512_set1_ps(scale * 1.44269504f));
    for (int64_t d = 0; d < DP; d += 32)
      multiply<kP, kO>(m.p[0], values + b * kBlock + d / 16 * kTile, kBlock, n, key > 0,
                       m.o[0] + d);
  }
  _tile_release();
  for (int64_t r = 0; r < count; ++r)
    for (int64_t d = 0; d < DP; d += 16) {
      const __m512 x = _mm512_div_ps(_mm512_load_ps(m.o[r] + d), _mm512_set1_ps(m.sum[r]));
      _mm256_mask_storeu_epi16(out + r * D + d, first16(D - d), (__m256i)_mm512_cvtneps_pbh(x));
    }
#endif
}
#endif  // DP
