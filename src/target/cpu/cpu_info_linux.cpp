#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "os/files.h"
#include "os/process.h"
#include "target/cpu/cpu_info.h"

namespace ksearch::target {
namespace {
namespace fs = std::filesystem;

/// Our name for a feature and the kernel's flag in /proc/cpuinfo.
struct Feature {
  const char* name;
  const char* flag;
};
constexpr Feature kFeatures[] = {
    {"avx2", "avx2"},
    {"fma", "fma"},
    {"f16c", "f16c"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512_bf16", "avx512_bf16"},
    {"avx512_fp16", "avx512_fp16"},
    {"avx512_vnni", "avx512_vnni"},
    {"amx_bf16", "amx_bf16"},
    {"amx_int8", "amx_int8"},
    {"neon", "asimd"},
    {"sve", "sve"},
    {"neon_bf16", "bf16"},
    {"neon_fp16", "asimdhp"},
};

/// A small file of /sys, trimmed; empty where it is missing.
std::string small_file(const fs::path& path) {
  const auto text = os::read_file(path, 1 << 16);
  if (!text) return {};
  return text->substr(0, text->find('\n'));
}

std::int64_t parse_size(const std::string& text) {
  std::int64_t size = 0;
  std::istringstream in(text);
  char unit = 0;
  in >> size >> unit;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

/// Data or unified cache of a level, of CPU 0.
std::int64_t cache_bytes(int level, int sysconf_name) {
  for (int index = 0; index < 8; ++index) {
    const fs::path folder =
        fs::path("/sys/devices/system/cpu/cpu0/cache") / ("index" + std::to_string(index));
    if (small_file(folder / "level") == std::to_string(level) &&
        small_file(folder / "type") != "Instruction")
      return parse_size(small_file(folder / "size"));
  }
  return std::max<std::int64_t>(0, ::sysconf(sysconf_name));
}

/// Whether a process may have the matrix unit: the CPU's flag alone is not enough.
bool matrix_unit_granted() {
#if defined(__x86_64__)
  unsigned long supported = 0;  // ARCH_GET_XCOMP_SUPP; XFEATURE_XTILEDATA is bit 18
  return ::syscall(SYS_arch_prctl, 0x1021, &supported) == 0 && (supported >> 18 & 1) != 0;
#else
  return false;
#endif
}

}  // namespace

CpuInfo read_cpu_info() {
  CpuInfo info;
  std::set<std::string> flags;
  if (const auto text = os::read_file("/proc/cpuinfo")) {
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line) && !line.empty();) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
      const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
      if (key == "model name") info.model = value;
      if (key == "flags" || key == "Features") {
        std::istringstream words(value);
        for (std::string word; words >> word;) flags.insert(word);
      }
    }
  }
  for (const Feature& f : kFeatures)
    if (flags.contains(f.flag)) info.features.insert(f.name);
  if (!matrix_unit_granted()) info.features.erase("amx_bf16"), info.features.erase("amx_int8");
  info.simd_width = flags.contains("avx512f") ? 16 : flags.contains("avx") ? 8 : 4;
  info.l1_bytes = cache_bytes(1, _SC_LEVEL1_DCACHE_SIZE);
  info.l2_bytes = cache_bytes(2, _SC_LEVEL2_CACHE_SIZE);
  utsname system{};
  ::uname(&system);
  info.system = std::string(system.sysname) + " " + system.release;
  if (info.model.empty()) info.model = system.machine;
  return info;
}

std::vector<int> ordered_cpus() {
  std::vector<int> cpus = os::allowed_cpus();
  std::reverse(cpus.begin(), cpus.end());
  std::map<std::string, int> used;  // core -> CPUs taken so far
  std::vector<std::pair<int, int>> ranked;
  for (const int cpu : cpus) {
    const fs::path topology =
        fs::path("/sys/devices/system/cpu") / ("cpu" + std::to_string(cpu)) / "topology";
    std::string core = small_file(topology / "thread_siblings_list");
    if (core.empty()) core = std::to_string(cpu);
    ranked.emplace_back(used[core]++, cpu);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  cpus.clear();
  for (const auto& [rank, cpu] : ranked) cpus.push_back(cpu);
  return cpus;
}

int default_threads() {
  std::set<std::string> cores;
  for (const int cpu : os::allowed_cpus()) {
    const std::string core =
        small_file(fs::path("/sys/devices/system/cpu") / ("cpu" + std::to_string(cpu)) /
                   "topology/thread_siblings_list");
    cores.insert(core.empty() ? std::to_string(cpu) : core);
  }
  double threads = static_cast<double>(std::max<std::size_t>(1, cores.size()));
  std::istringstream quota(small_file("/sys/fs/cgroup/cpu.max"));
  double part = 0, period = 0;
  if (quota >> part >> period && period > 0)
    threads = std::min(threads, std::max(1.0, std::floor(part / period)));
  return static_cast<int>(threads);
}

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Feature& f : kFeatures) list.emplace_back(f.name);
    return list;
  }();
  return names;
}

}  // namespace ksearch::target
