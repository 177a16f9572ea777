// Flash attention. A SIMD-group owns RB blocks of 8 query rows; the group's SG SIMD-groups share tiles of BK
// keys and values. The order of d within the products is permuted so that a lane reads 8 elements at once.
typedef typename Pack<T>::F F;
constexpr int DP = (D + 63) / 64 * 64;            // padded head size
constexpr int CH = int(sizeof(T)) * 8 / 16;       // uint4 of 8 elements
constexpr int ROW = DP / 8 * CH;                  // uint4 of a row that are copied
constexpr int WIDE = int(Pack<T>::WIDE);          // uint4 in the tile for one in memory
constexpr int TH = CH * WIDE;                     // uint4 of 8 elements in the tile
constexpr int CM = 16 / int(sizeof(F));           // elements of a uint4 in the tile
constexpr bool PACKQ = WIDE == 2 && DP > 64;      // queries as two bfloats a register
constexpr int NN = PACKQ ? 2 : 1;                 // key blocks that share a widened query fragment
constexpr int SRC = D / 8 * CH;                   // uint4 of a row in memory
constexpr int ST = ROW * WIDE + 1;
constexpr int NB = BK / 8;
constexpr int NT = SG * 32;
threadgroup uint4 ktile[BK * ST];
threadgroup uint4 vtile[BK * ST];

const int lane = int(thread_index_in_simdgroup);
const int sg = int(simdgroup_index_in_threadgroup);
const int tid = int(thread_index_in_threadgroup);
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

simdgroup_matrix<F, 8, 8> qf[RB][PACKQ ? 1 : DP / 8];
uint qp[RB][PACKQ ? DP / 8 : 1];
for (int b = 0; b < RB; ++b) {
  int i = row0 + b * 8 + fr;
  for (int s = 0; s < DP / 64; ++s) {
    F x[8], y[8];
    for (int m = 0; m < 8; ++m) { x[m] = F(0); y[m] = F(0); }
    int chunk = s * 8 + fc;
    if (i < Lq && chunk < D / 8) Pack<T>::get8(qs + size_t(i) * SRC + chunk * CH, x);
    if (i < Lq && chunk + 1 < D / 8) Pack<T>::get8(qs + size_t(i) * SRC + (chunk + 1) * CH, y);
    for (int m = 0; m < 8; ++m) {   // a negative scale is turned here, exactly
      F x0 = scale < 0.0f ? F(-x[m]) : x[m], y0 = scale < 0.0f ? F(-y[m]) : y[m];
      if (PACKQ) {
        qp[b][PACKQ ? s * 8 + m : 0] = as_type<uint>(float(x0)) >> 16 | as_type<uint>(float(y0));
      } else {
        qf[b][PACKQ ? 0 : s * 8 + m].thread_elements()[0] = x0;
        qf[b][PACKQ ? 0 : s * 8 + m].thread_elements()[1] = y0;
      }
    }
  }
}

simdgroup_matrix<float, 8, 8> acc[RB][DP / 8];
float top[RB], total[RB];
const simdgroup_matrix<float, 8, 8> zero = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
for (int b = 0; b < RB; ++b) {
  top[b] = -1.0e30f;
  total[b] = 0.0f;
  for (int n = 0; n < DP / 8; ++n) acc[b][n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

const float factor = max(fabs(scale) * 1.44269504088896f, 1.0e-25f);   // > 0, so that masked scores vanish
const int group_end = causal ? min(Lk, group0 + 8 * RB * SG + shift) : Lk;   // keys the group sees
const int my_end = causal ? min(Lk, row0 + 8 * RB + shift) : Lk;             // keys this SIMD-group sees
const int clear = causal ? min(Lk, row0 + shift + 1) : Lk;                   // keys that all its rows see

// What this thread copies of a tile: one column, every STEP-th row.
constexpr int STEP = NT / ROW, IT = BK / STEP;
const int trow = tid / ROW, tcol = tid % ROW;
const device uint4* kfrom = ks + size_t(trow) * SRC + tcol;
const device uint4* vfrom = vs + size_t(trow) * SRC + tcol;
threadgroup uint4* kto = ktile + trow * ST + tcol * WIDE;
threadgroup uint4* vto = vtile + trow * ST + tcol * WIDE;
const threadgroup uint4* kread = ktile + fc * ST + fr * TH;
const threadgroup uint4* vread = vtile + fr * ST + fc / 2 * TH;

for (int j0 = 0; j0 < group_end; j0 += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (j0 + BK <= Lk && (ROW == SRC || tcol < SRC)) {
    for (int t = 0; t < IT; ++t) {
      Pack<T>::tile(kto + t * STEP * ST, kfrom[t * STEP * SRC]);
      Pack<T>::tile(vto + t * STEP * ST, vfrom[t * STEP * SRC]);
    }
  } else {
    for (int t = 0; t < IT; ++t) {
      uint4 x = uint4(0), y = uint4(0);
      if (j0 + trow + t * STEP < Lk && tcol < SRC) {
        x = kfrom[t * STEP * SRC];
        y = vfrom[t * STEP * SRC];
      }
      Pack<T>::tile(kto + t * STEP * ST, x);
      Pack<T>::tile(vto + t * STEP * ST, y);
    }
  }
  kfrom += BK * SRC;
  vfrom += BK * SRC;
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (j0 < my_end) {
    simdgroup_matrix<float, 8, 8> sc[RB][NB];
    for (int pair = 0; pair < NB; pair += 2) {   // 16 keys
      if (j0 + pair * 8 < my_end) {
        for (int n = pair; n < pair + 2; n += NN) {
          for (int s = 0; s < DP / 64; ++s) {
            for (int c = 0; c < 8 / CM; ++c) {
              F x[NN][CM], y[NN][CM];
              for (int i = 0; i < NN; ++i) {
                const threadgroup uint4* p = kread + (n + i) * 8 * ST + s * 8 * TH + c;
                Pack<F>::get16(*p, x[i]);
                Pack<F>::get16(p[ST], y[i]);
              }
              for (int m = 0; m < CM; ++m) {
                for (int b = 0; b < RB; ++b) {
                  simdgroup_matrix<F, 8, 8> qm;
                  if (PACKQ) {
                    uint u = qp[b][PACKQ ? s * 8 + c * CM + m : 0];
                    qm.thread_elements()[0] = F(as_type<float>(u << 16));
                    qm.thread_elements()[1] = F(as_type<float>(u & 0xffff0000u));
                  } else {
                    qm = qf[b][PACKQ ? 0 : s * 8 + c * CM + m];
                  }
                  for (int i = 0; i < NN; ++i) {
                    simdgroup_matrix<F, 8, 8> kf;
                    kf.thread_elements()[0] = x[i][m];
                    kf.thread_elements()[1] = y[i][m];
                    if (s == 0 && c == 0 && m == 0)
                      simdgroup_multiply_accumulate(sc[b][n + i], qm, kf, zero);
                    else
                      simdgroup_multiply_accumulate(sc[b][n + i], qm, kf, sc[b][n + i]);
                  }
                }
              }
            }
          }
        }
      } else {
        for (int b = 0; b < RB; ++b) sc[b][pair] = sc[b][pair + 1] = zero;
      }
    }

    simdgroup_matrix<F, 8, 8> pf[RB][NB];
    for (int b = 0; b < RB; ++b) {
      float s0[NB], s1[NB];
      for (int n = 0; n < NB; ++n) {
        s0[n] = sc[b][n].thread_elements()[0];
        s1[n] = sc[b][n].thread_elements()[1];
      }
      if (j0 + BK > clear) {
        int limit = causal ? min(Lk, row0 + b * 8 + fr + shift + 1) : Lk;
        for (int n = 0; n < NB; ++n) {
          int j = j0 + n * 8 + fc;
          if (j >= limit) s0[n] = -1.0e30f;
          if (j + 1 >= limit) s1[n] = -1.0e30f;
        }
      }
      // The weights with the row's reference as it is: they are right for any reference, and up to 1024 they
      // are safe in half. Only where a lane's sum exceeds that does the reference move to the largest score.
      float p0[NB], p1[NB], sum = 0.0f;
      float offset = -top[b] * factor;
      for (int n = 0; n < NB; ++n) {
        p0[n] = fast::exp2(fma(s0[n], factor, offset));
        p1[n] = fast::exp2(fma(s1[n], factor, offset));
        sum += p0[n] + p1[n];
      }
      if (j0 == 0 || simd_any(!(sum <= 1024.0f))) {
        float most = top[b];
        for (int n = 0; n < NB; ++n) most = max(most, max(s0[n], s1[n]));
        most = max(most, simd_shuffle_xor(most, ushort(1)));
        most = max(most, simd_shuffle_xor(most, ushort(8)));
        float shrink = fast::exp2((top[b] - most) * factor);
        top[b] = most;
        total[b] *= shrink;
        for (int n = 0; n < DP / 8; ++n) {
          acc[b][n].thread_elements()[0] *= shrink;
          acc[b][n].thread_elements()[1] *= shrink;
        }
        offset = -most * factor;
        sum = 0.0f;
        for (int n = 0; n < NB; ++n) {
          p0[n] = fast::exp2(fma(s0[n], factor, offset));
          p1[n] = fast::exp2(fma(s1[n], factor, offset));
          sum += p0[n] + p1[n];
        }
      }
      total[b] += sum;
      for (int n = 0; n < NB; ++n) {
        pf[b][n].thread_elements()[0] = F(p0[n]);
        pf[b][n].thread_elements()[1] = F(p1[n]);
      }
    }

    for (int pair = 0; pair < NB; pair += 2) {
      if (j0 + pair * 8 < my_end) {
        for (int n = pair; n < pair + 2; ++n) {
          for (int s = 0; s < DP / 32; ++s) {
            F x[8];
            Pack<F>::get8(vread + n * 8 * ST + s * 4 * TH, x);
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
