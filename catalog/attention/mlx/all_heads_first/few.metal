constexpr short kColumns = D / 8, kKeys = BK / 8;  // matrices
constexpr short kOwn = 8;                          // rows of a SIMD-group
constexpr bool kMasked = CAUSAL || RAGGED;
// A sum over columns may take them in any order: the eight lanes that share a key's row read WK
// columns each at once, and matrix m of such a part holds columns WK r + m as its rows r. The four
// lanes that share a row of values read WV each, two for each matrix.
constexpr short WK = width_of<T>(8, D), WV = width_of<T>(4, D);

const Place place = place_of(thread_index_in_simdgroup);
// Rows are those of all queries of all heads that share keys: they follow each other in memory.
const uint key_head = threadgroup_position_in_grid.y;
const int rows = heads_per_kv * Lq;
const int own = threadgroup_position_in_grid.z * kOwn;
const int row = own + place.row;
const int query = row % Lq;
const int begin = threadgroup_position_in_grid.x * CHUNK;  // first key of this group
const device T* from_q = q + (ulong(key_head) * rows + row) * D + place.column * WK;
const device T* from_k = k + ulong(key_head) * Lk * D;
const device T* from_v = v + ulong(key_head) * Lk * D;

const float sign = scale < 0.0f ? -1.0f : 1.0f;  // the largest score is that of the largest product
Operand<T> queries[kColumns];
Sums sums[kColumns];
#pragma unroll
for (short p = 0; p < kColumns; p += WK) {
  T first[WK] = {}, second[WK] = {};
  if (row < rows) {
    read<WK>(first, from_q + p * 8);
    read<WK>(second, from_q + p * 8 + WK);
  }
#pragma unroll
  for (short m = 0; m < WK; ++m)
    queries[p + m] = matrix_of(T(sign * float(first[m])), T(sign * float(second[m])));
}
#pragma unroll
for (short c = 0; c < kColumns; ++c) sums[c] = matrix_of(0.0f, 0.0f);
float largest = kHidden, total = 0.0f;
const float factor = abs(scale) * M_LOG2E_F;  // of a power of two

const int hidden = Lk - Lq;
const int end = min(begin + CHUNK, Lk);
for (int at = begin; at < end; at += BK) {
  // Keys of the tile that all queries see, and that any of them sees.
  const int whole = (CAUSAL ? hidden : Lk - 1) - at + 1;
  const int seen = Lk - at;
  const device T* key = from_k + at * D + place.row * WK;
  Sums scores[kKeys];
  float most = kHidden;
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    scores[j] = matrix_of(0.0f, 0.0f);
    if (!kMasked || j * 8 < seen) {
      // A key beyond the end is masked; the last one is read in its place.
      const int first_key = RAGGED ? min(j * 8 + place.column, Lk - 1 - at) : j * 8 + place.column;
      const int second_key =
          RAGGED ? min(j * 8 + place.column + 1, Lk - 1 - at) : j * 8 + place.column + 1;
#pragma unroll
      for (short p = 0; p < kColumns; p += WK) {
        T first[WK], second[WK];
        read<WK>(first, key + first_key * D + p * 8);
        read<WK>(second, key + second_key * D + p * 8);
#pragma unroll
        for (short m = 0; m < WK; ++m) {
          Operand<T> pair = matrix_of(first[m], second[m]);
          simdgroup_multiply_accumulate(scores[j], queries[p + m], pair, scores[j]);
        }
      }
      if (kMasked && j * 8 + 8 > whole) {
        const int left =
            (CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1) - at - j * 8 - place.column;
        if (left < 0) scores[j].thread_elements()[0] = kHidden;
        if (left < 1) scores[j].thread_elements()[1] = kHidden;
      }
      most = max3(most, scores[j].thread_elements()[0], scores[j].thread_elements()[1]);
    }
  }

  most = row_max(most) * factor;
  most = max(most, largest);
  const float shrink = exp2(largest - most);
  largest = most;
  total *= shrink;
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
    sums[c].thread_elements()[0] *= shrink;
    sums[c].thread_elements()[1] *= shrink;
  }

  const device T* value = from_v + at * D + place.column / 2 * WV;
#pragma unroll
  for (short j = 0; j < kKeys; ++j)
    if (!kMasked || j * 8 < seen) {
      const float x = exp2(scores[j].thread_elements()[0] * factor - largest);
      const float y = exp2(scores[j].thread_elements()[1] * factor - largest);
      total += x + y;
      Operand<T> weights = matrix_of(T(x), T(y));
      const int value_row = RAGGED ? min(j * 8 + place.row, Lk - 1 - at) : j * 8 + place.row;
#pragma unroll
      for (short p = 0; p < kColumns; p += WV / 2) {
        T part_v[WV];
        read<WV>(part_v, value + value_row * D + p * 8);
#pragma unroll
        for (short m = 0; m < WV / 2; ++m) {
          Operand<T> two = matrix_of(part_v[2 * m], part_v[2 * m + 1]);
          simdgroup_multiply_accumulate(sums[p + m], weights, two, sums[p + m]);
        }
      }
    }
}

// What this group has of a row: sums, the reference of their weights and the total.
total = row_sum(total);
if (row < rows) {
  const ulong place_of_row =
      (ulong(key_head) * rows + row) * BLOCKS + threadgroup_position_in_grid.x;
  device float* to = part + place_of_row * D + place.column / 2 * WV;
#pragma unroll
  for (short p = 0; p < kColumns; p += WV / 2)
#pragma unroll
    for (short m = 0; m < WV / 2; ++m) {
      to[p * 8 + 2 * m] = sums[p + m].thread_elements()[0];
      to[p * 8 + 2 * m + 1] = sums[p + m].thread_elements()[1];
    }
  if (place.column == 0) {
    state[2 * place_of_row] = largest;
    state[2 * place_of_row + 1] = total;
  }
}
