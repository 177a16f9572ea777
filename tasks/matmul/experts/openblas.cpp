// sgemm of OpenBLAS as PyPI's scipy-openblas32 has it: names prefixed, 32-bit integers. It spreads
// the work over its own threads, so the launch has one group. The kernels it picks when it is
// loaded follow OPENBLAS_CORETYPE.

extern "C" void scipy_cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                                  float alpha, const float* a, int lda, const float* b, int ldb,
                                  float beta, float* c, int ldc);
extern "C" void scipy_openblas_set_num_threads(int threads);
extern "C" int scipy_openblas_get_num_threads(void);

extern "C" void openblas(const float* a, const float* b, float* out, int64_t M, int64_t N,
                         int64_t K, int32_t threads, const ks_group*) {
  constexpr int kRowMajor = 101, kNoTranspose = 111;
  if (scipy_openblas_get_num_threads() != threads) scipy_openblas_set_num_threads(threads);
  const int m = static_cast<int>(M), n = static_cast<int>(N), k = static_cast<int>(K);
  scipy_cblas_sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1.0f, a, k, b, n, 0.0f, out, n);
}
