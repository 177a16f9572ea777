#include "kernel/tolerance.h"

namespace ksearch::kernel {

Tolerance default_tolerance(DType type) {
  Tolerance t;
  switch (type) {
    case DType::float64:
      t.relative_rms = 1e-10;
      break;
    case DType::float16:
      t.relative_rms = 2e-3;
      break;
    case DType::bfloat16:
      t.relative_rms = 1e-2;
      break;
    default:
      t.relative_rms = 1e-5;
  }
  return t;
}

}  // namespace ksearch::kernel
