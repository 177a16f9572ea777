// Flash attention without group memory. A SIMD-group owns RB blocks of 8 query rows and fills the fragments of
// K and V from device memory; nothing is synchronised. The last block of keys is moved back to end at Lk. The order of d within the products is permuted so that a lane reads 8 elements at once.
typedef typename Pack<T>::F F;
constexpr int DP = (D + 63) / 64 * 64;            // padded head size
constexpr int CH = int(sizeof(T)) * 8 / 16;       // uint4 of 8 elements
constexpr int SRC = D / 8 * CH;                   // uint4 of a row in memory
constexpr int NB = BK / 8;

const int lane = int(thread_index_in_simdgroup);
const int sg = int(simdgroup_index_in_threadgroup);
const int lq = lane / 4;
const int fr = (lq & 4) + (lane / 2) % 4;
const int fc = (lq & 2) * 2 + (lane % 2) * 2;

const int head = int(threadgroup_position_in_grid.y);
const int group0 = int(threadgroup_position_in_grid.x) * (8 * RB * SG);
const int row0 = group0 + sg * (8 * RB);
const int shift = Lk - Lq;
const device uint4* qs = (const device uint4*)(q + size_t(head) * Lq * D);
const device uint4* ks = (const device uint4*)(k + size_t(head / heads_per_kv) * Lk * D);
const device uint4* vs = (const device uint4*)(v + size_t(head / heads_per_kv) * Lk * D);

simdgroup_matrix<F, 8, 8> qf[RB][DP / 8];
for (int b = 0; b < RB; ++b) {
  int i = row0 + b * 8 + fr;
  for (int s = 0; s < DP / 64; ++s) {
    F x[8], y[8];
    for (int m = 0; m < 8; ++m) { x[m] = F(0); y[m] = F(0); }
    int chunk = s * 8 + fc;
    if (i < Lq && chunk < D / 8) Pack<T>::get8(qs + size_t(i) * SRC + chunk * CH, x);
    if (i < Lq && chunk + 1 < D / 8) Pack<T>::get8(qs + size_t(i) * SRC + (chunk + 1) * CH, y);
    for (int m = 0; m < 8; ++m) {   // a negative scale is turned here, exactly
      qf[b][s * 8 + m].thread_elements()[0] = scale < 0.0f ? F(-x[m]) : x[m];
      qf[b][s * 8 + m].thread_elements()[1] = scale < 0.0f ? F(-y[m]) : y[m];
    }
  }
}

simdgroup_matrix<float, 8, 8> acc[RB][DP / 8];
float top[RB], total[RB];
for (int b = 0; b < RB; ++b) {
  top[b] = -1.0e30f;
  total[b] = 0.0f;
  for (int n = 0; n < DP / 8; ++n) acc[b][n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

const float factor = max(fabs(scale) * 1.44269504088896f, 1.0e-25f);   // > 0, so that masked scores vanish
const int my_end = row0 >= Lq ? 0 : causal ? min(Lk, row0 + 8 * RB + shift) : Lk;             // keys this SIMD-group sees
const int clear = causal ? min(Lk, row0 + shift + 1) : Lk;                   // keys that all its rows see

const device uint4* kread = ks + fc * SRC + fr * CH;
const device uint4* vread = vs + fr * SRC + fc / 2 * CH;

for (int j0 = 0; j0 < my_end; j0 += BK) {
  const int js = min(j0, Lk - BK);
  const device uint4* kb = kread + size_t(js) * SRC;
  const device uint4* vb = vread + size_t(js) * SRC;
  {
    simdgroup_matrix<float, 8, 8> sc[RB][NB];
    for (int n = 0; n < NB; ++n) {
      for (int b = 0; b < RB; ++b) sc[b][n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      if (js + n * 8 < my_end)
      for (int s = 0; s < DP / 64; ++s) {
        F x[8], y[8];
        const device uint4* p = kb + n * 8 * SRC + s * 8 * CH;
        if (D % 64 == 0 || s * 8 + fr < D / 8) {
          Pack<T>::get8(p, x);
          Pack<T>::get8(p + SRC, y);
        } else {
          for (int m = 0; m < 8; ++m) { x[m] = F(0); y[m] = F(0); }
        }
        for (int m = 0; m < 8; ++m) {
          simdgroup_matrix<F, 8, 8> kf;
          kf.thread_elements()[0] = x[m];
          kf.thread_elements()[1] = y[m];
          for (int b = 0; b < RB; ++b)
            simdgroup_multiply_accumulate(sc[b][n], qf[b][s * 8 + m], kf, sc[b][n]);
        }
      }
    }

    simdgroup_matrix<F, 8, 8> pf[RB][NB];
    for (int b = 0; b < RB; ++b) {
      float s0[NB], s1[NB];
      for (int n = 0; n < NB; ++n) {
        s0[n] = sc[b][n].thread_elements()[0];
        s1[n] = sc[b][n].thread_elements()[1];
      }
      if (js != j0 || j0 + BK > clear) {
        int limit = causal ? min(Lk, row0 + b * 8 + fr + shift + 1) : Lk;
        for (int n = 0; n < NB; ++n) {
          int j = js + n * 8 + fc;
          if (j < j0 || j >= limit) s0[n] = -1.0e30f;
          if (j + 1 < j0 || j + 1 >= limit) s1[n] = -1.0e30f;
        }
      }
      float most = max(s0[0], s1[0]);
      for (int n = 1; n < NB; ++n) most = max(most, max(s0[n], s1[n]));
      // The reference value of a row moves only when a score exceeds it by more than 2^8: the weights are
      // right for any reference, and up to 256 they are safe in half.
      if (simd_any((most - top[b]) * factor > 8.0f)) {
        most = max(most, simd_shuffle_xor(most, ushort(1)));
        most = max(most, simd_shuffle_xor(most, ushort(8)));
        most = max(most, top[b]);
        float shrink = fast::exp2((top[b] - most) * factor);
        top[b] = most;
        total[b] *= shrink;
        for (int n = 0; n < DP / 8; ++n) {
          acc[b][n].thread_elements()[0] *= shrink;
          acc[b][n].thread_elements()[1] *= shrink;
        }
      }
      float offset = -top[b] * factor;
      float sum = 0.0f;
      for (int n = 0; n < NB; ++n) {
        float p0 = fast::exp2(fma(s0[n], factor, offset)), p1 = fast::exp2(fma(s1[n], factor, offset));
        sum += p0 + p1;
        pf[b][n].thread_elements()[0] = F(p0);
        pf[b][n].thread_elements()[1] = F(p1);
      }
      total[b] += sum;
    }

    for (int n = 0; n < NB; ++n) {
      if (js + n * 8 < my_end)
      for (int s = 0; s < DP / 32; ++s) {
        F x[8];
        if (D % 64 == 0 || s * 4 + fc / 2 < D / 8) {
          Pack<T>::get8(vb + n * 8 * SRC + s * 4 * CH, x);
        } else {
          for (int m = 0; m < 8; ++m) x[m] = F(0);
        }
        for (int m = 0; m < 4; ++m) {
          simdgroup_matrix<F, 8, 8> vf;
          vf.thread_elements()[0] = x[2 * m];
          vf.thread_elements()[1] = x[2 * m + 1];
          for (int b = 0; b < RB; ++b)
            simdgroup_multiply_accumulate(acc[b][s * 4 + m], pf[b][n], vf, acc[b][s * 4 + m]);
        }
      }
    }
  }
}

for (int b = 0; b < RB; ++b) {
  float sum = total[b];
  sum += simd_shuffle_xor(sum, ushort(1));
  sum += simd_shuffle_xor(sum, ushort(8));
  float inverse = 1.0f / sum;
  int i = row0 + b * 8 + fr;
  for (int s = 0; s < DP / 32; ++s) {
    int chunk = s * 4 + fc / 2;
    float x[8];
    for (int m = 0; m < 4; ++m) {
      x[2 * m] = acc[b][s * 4 + m].thread_elements()[0] * inverse;
      x[2 * m + 1] = acc[b][s * 4 + m].thread_elements()[1] * inverse;
    }
    if (i < Lq && chunk < D / 8) Pack<T>::put8(out + (size_t(head) * Lq + i) * D + chunk * 8, x);
  }
}
