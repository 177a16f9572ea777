#include "evaluate/ceiling.h"

#include <algorithm>

namespace ksearch::evaluate {
namespace {

double rate(const std::vector<kernel::TensorShape>& tensors,
            const kernel::HardwareProfile& device) {
  double flops = device.float32_flops;
  for (const kernel::TensorShape& t : tensors) {
    if (t.access != kernel::Access::in) continue;
    if (t.dtype == kernel::DType::bfloat16) {
      flops = std::max(flops, device.bfloat16_flops);
      // Dot products of pairs: twice the float32 rate, without a matrix unit.
      if (device.features.contains("avx512_bf16"))
        flops = std::max(flops, 2 * device.float32_flops);
    }
    if (t.dtype == kernel::DType::float16 && device.features.contains("avx512_fp16"))
      flops = std::max(flops, 2 * device.float32_flops);
  }
  return flops;
}

}  // namespace

Ceiling ceiling_of(const kernel::Work& work, const std::vector<kernel::TensorShape>& tensors,
                   const kernel::HardwareProfile& device) {
  double set_bytes = 0;
  for (const kernel::TensorShape& t : tensors) set_bytes += static_cast<double>(t.bytes());
  const double flops = rate(tensors, device);
  double compute = work.flops > 0 && flops > 0 ? work.flops / flops * 1e9 : 0;
  if (device.special_function_cost > 0 && device.float32_flops > 0) {
    const double slots = work.operations + work.special_functions * device.special_function_cost;
    compute = std::max(compute, slots / (device.float32_flops / 2) * 1e9);
  }
  const double bandwidth = device.bandwidth.empty() ? 0 : kernel::bandwidth_at(device, set_bytes);
  const double traffic = work.bytes > 0 && bandwidth > 0 ? work.bytes / bandwidth * 1e9 : 0;
  if (compute == 0 && traffic == 0) return {};
  return compute >= traffic ? Ceiling{compute, "compute"} : Ceiling{traffic, "bandwidth"};
}

}  // namespace ksearch::evaluate
