// macOS: sysctl. Written from the manual pages; not yet run.
#include <sys/sysctl.h>
#include <sys/utsname.h>

#include "os/process.h"
#include "target/cpu/cpu_info.h"

namespace ksearch::target {
namespace {

std::int64_t number(const char* name) {
  std::int64_t value = 0;
  std::size_t size = sizeof(value);
  return ::sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

std::string text(const char* name) {
  char value[256] = {};
  std::size_t size = sizeof(value) - 1;
  return ::sysctlbyname(name, value, &size, nullptr, 0) == 0 ? value : "";
}

}  // namespace

CpuInfo read_cpu_info() {
  CpuInfo info;
  info.model = text("machdep.cpu.brand_string");
#if defined(__aarch64__)
  info.features = {"neon"};
  if (number("hw.optional.arm.FEAT_BF16") != 0) info.features.insert("neon_bf16");
  if (number("hw.optional.arm.FEAT_FP16") != 0) info.features.insert("neon_fp16");
  info.simd_width = 4;
#else
  if (number("hw.optional.avx2_0") != 0) info.features.insert("avx2");
  if (number("hw.optional.fma") != 0) info.features.insert("fma");
  if (number("hw.optional.f16c") != 0) info.features.insert("f16c");
  if (number("hw.optional.avx512f") != 0) info.features.insert("avx512f");
  if (number("hw.optional.avx512bw") != 0) info.features.insert("avx512bw");
  info.simd_width = info.features.contains("avx512f") ? 16 : 8;
#endif
  // Of the performance cores where there are two kinds.
  info.l1_bytes = number("hw.perflevel0.l1dcachesize");
  if (info.l1_bytes == 0) info.l1_bytes = number("hw.l1dcachesize");
  info.l2_bytes = number("hw.perflevel0.l2cachesize");
  if (info.l2_bytes == 0) info.l2_bytes = number("hw.l2cachesize");
  utsname system{};
  ::uname(&system);
  info.system = std::string(system.sysname) + " " + system.release;
  return info;
}

std::vector<int> ordered_cpus() { return os::allowed_cpus(); }

int default_threads() {
  const std::int64_t fast = number("hw.perflevel0.physicalcpu");
  return static_cast<int>(fast > 0 ? fast : std::max<std::int64_t>(1, number("hw.physicalcpu")));
}

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = {"avx2",     "fma",  "f16c",      "avx512f",
                                                 "avx512bw", "neon", "neon_bf16", "neon_fp16"};
  return names;
}

}  // namespace ksearch::target
