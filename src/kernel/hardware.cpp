#include "kernel/hardware.h"

#include <cmath>

namespace ksearch::kernel {

void add_device(const HardwareProfile& profile, Scope& scope) {
  scope.set("device.cores", profile.cores);
  scope.set("device.simd_width", profile.simd_width);
  scope.set("device.group_memory", profile.group_memory);
  scope.set("device.max_group_size", profile.max_group_size);
  scope.set("device.l1_bytes", profile.l1_bytes);
  scope.set("device.l2_bytes", profile.l2_bytes);
  for (const std::string& feature : profile.features) scope.set("device.has_" + feature, true);
}

double bandwidth_at(const HardwareProfile& profile, double working_set_bytes) {
  const auto& points = profile.bandwidth;
  if (points.empty()) return 0;
  if (working_set_bytes <= points.front().working_set_bytes) return points.front().bytes_per_second;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& a = points[i - 1];
    const auto& b = points[i];
    if (working_set_bytes > b.working_set_bytes) continue;
    const double t = std::log(working_set_bytes / a.working_set_bytes) /
                     std::log(b.working_set_bytes / a.working_set_bytes);
    return std::exp((1 - t) * std::log(a.bytes_per_second) + t * std::log(b.bytes_per_second));
  }
  return points.back().bytes_per_second;
}

base::Json to_json(const HardwareProfile& p) {
  base::Json bandwidth = base::Json::array();
  for (const BandwidthPoint& b : p.bandwidth)
    bandwidth.push_back(
        {{"working_set_bytes", b.working_set_bytes}, {"bytes_per_second", b.bytes_per_second}});
  return {{"format", "ksearch.hardware/1"},
          {"name", p.name},
          {"kind", p.kind},
          {"cores", p.cores},
          {"simd_width", p.simd_width},
          {"group_memory", p.group_memory},
          {"max_group_size", p.max_group_size},
          {"l1_bytes", p.l1_bytes},
          {"l2_bytes", p.l2_bytes},
          {"features", p.features},
          {"float32_flops", p.float32_flops},
          {"special_function_cost", p.special_function_cost},
          {"bfloat16_flops", p.bfloat16_flops},
          {"bandwidth", bandwidth},
          {"timer_overhead_ns", p.timer_overhead_ns},
          {"measured_at", p.measured_at},
          {"source", p.source}};
}

base::Result<HardwareProfile> parse_hardware(const base::Json& json, std::string_view where) {
  base::ObjectReader r(json, std::string(where));
  HardwareProfile p;
  const std::string format = r.text("format");
  if (r.ok() && format != "ksearch.hardware/1")
    r.fault("format", "is \"" + format + "\"; ksearch.hardware/1 is wanted");
  p.name = r.text("name");
  p.kind = r.text("kind");
  p.cores = r.integer("cores");
  p.simd_width = r.integer("simd_width");
  p.group_memory = r.integer("group_memory");
  p.max_group_size = r.integer("max_group_size");
  p.l1_bytes = r.integer("l1_bytes");
  p.l2_bytes = r.integer("l2_bytes");
  for (auto& f : r.texts_or_empty("features")) p.features.insert(std::move(f));
  p.float32_flops = r.number("float32_flops");
  p.special_function_cost = r.number_or("special_function_cost", 0);
  p.bfloat16_flops = r.number_or("bfloat16_flops", 0);
  std::size_t i = 0;
  for (const base::Json& point : r.array("bandwidth")) {
    base::ObjectReader b(point, r.place("bandwidth[" + std::to_string(i++) + "]"));
    const BandwidthPoint read{b.number("working_set_bytes"), b.number("bytes_per_second")};
    if (b.ok() && (read.working_set_bytes <= 0 || read.bytes_per_second <= 0))
      b.fault("bytes_per_second", "both numbers are above 0");
    if (auto done = b.finish(); !done) r.fault_at(done.error());
    p.bandwidth.push_back(read);
  }
  p.timer_overhead_ns = r.number_or("timer_overhead_ns", 0);
  p.measured_at = r.text_or("measured_at", "");
  p.source = r.text_or("source", "");
  if (r.ok() && p.cores < 1) r.fault("cores", "is below 1");
  KS_RETURN_IF_ERROR(r.finish());
  return p;
}

}  // namespace ksearch::kernel
