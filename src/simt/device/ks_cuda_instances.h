// As ks_instances.h, of CUDA's.
#pragma once
#include "ks_cuda_ptx.h"

namespace ks {

KS_ONCE void ptx::resolve_mma<float, __half, __half, float, 16>(Post* const*, u32);
KS_ONCE void ptx::resolve_mma<float, __nv_bfloat16, __nv_bfloat16, float, 16>(Post* const*, u32);
KS_ONCE void ptx::resolve_mma<float, ptx::tf32, ptx::tf32, float, 8>(Post* const*, u32);
KS_ONCE void ptx::resolve_load_matrix<4, false>(Post* const*, u32);
KS_ONCE void ptx::resolve_load_matrix<4, true>(Post* const*, u32);
KS_ONCE void ptx::resolve_load_matrix<2, false>(Post* const*, u32);
KS_ONCE void ptx::resolve_load_matrix<2, true>(Post* const*, u32);
KS_ONCE void resolve_shuffle<float>(Post* const*, u32);
KS_ONCE void resolve_shuffle<int>(Post* const*, u32);
KS_ONCE void resolve_shuffle<u32>(Post* const*, u32);

}  // namespace ks
