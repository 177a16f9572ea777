// Operations of a SIMD-group on the types that kernels mostly use: compiled once for all kernels
// (ks_library.h) and only named here; on other types the compiler makes them with the kernel.
#pragma once
#include "ks_simdgroup_matrix.h"

namespace ks {

// Sum, left, right, sum.
KS_ONCE void resolve_multiply<float, float, float, float>(Post* const*, u32);
KS_ONCE void resolve_multiply<float, half, half, float>(Post* const*, u32);
KS_ONCE void resolve_multiply<float, bfloat, bfloat, float>(Post* const*, u32);
KS_ONCE void resolve_multiply<half, half, half, half>(Post* const*, u32);
KS_ONCE void resolve_multiply<float, float, half, float>(Post* const*, u32);
KS_ONCE void resolve_multiply<float, float, bfloat, float>(Post* const*, u32);

#define KS_ONCE_OF(T)                                         \
  KS_ONCE void resolve_shuffle<T>(Post* const*, u32);         \
  KS_ONCE void resolve_first<T>(Post* const*, u32);           \
  KS_ONCE void resolve_filled<T>(Post* const*, u32);          \
  KS_ONCE void resolve_reduce<Add, T>(Post* const*, u32);     \
  KS_ONCE void resolve_reduce<Larger, T>(Post* const*, u32);  \
  KS_ONCE void resolve_reduce<Smaller, T>(Post* const*, u32); \
  KS_ONCE void resolve_scan<Add, T, true>(Post* const*, u32); \
  KS_ONCE void resolve_scan<Add, T, false>(Post* const*, u32);
KS_ONCE_OF(float)
KS_ONCE_OF(int)
KS_ONCE_OF(u32)

}  // namespace ks
