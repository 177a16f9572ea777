// AdamW, in place, a template over the parameter's type.
#include <cuda_fp16.h>
template <typename T>
__global__ void adamw(T* parameter, const T* gradient, float* m, float* v, long n, float rate,
                      float beta1, float beta2, float epsilon, float decay) {
  const long i = blockIdx.x * long(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float g = static_cast<float>(gradient[i]);
  m[i] = fmaf(beta1, m[i], (1 - beta1) * g);
  v[i] = fmaf(beta2, v[i], (1 - beta2) * g * g);
  const float p = static_cast<float>(parameter[i]);
  parameter[i] =
      T(p - rate * (m[i] / (1 - beta1) / (sqrtf(v[i] / (1 - beta2)) + epsilon) + decay * p));
}
