// An Apple GPU as data (knowledge/hardware/apple-*.json): every figure with its source and how far
// it can be trusted. A chip's file extends that of its family and says what differs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "kernel/hardware.h"

namespace ksearch::target {

struct Figure {
  double value = 0;
  std::string source;  ///< a tag of knowledge/hardware/sources.json
  char confidence =
      0;  ///< A primary source, B secondary, K general knowledge, D derived, E estimate
};

/// A kernel that needs up to so many registers of 16 bits may have groups of so many threads.
struct ThreadLimit {
  int half_registers = 0;
  int threads = 0;
};

struct GpuProfile {
  std::string name;                            ///< "apple-m1-max"
  std::string family;                          ///< "apple7"
  std::string architecture;                    ///< what Metal calls the device: "applegpu_g13s"
  std::map<std::string, Figure> figures;       ///< by the names of `gpu_figures`
  std::map<std::string, Figure> issue_cycles;  ///< of a SIMD-group's operation on one scheduler
  std::vector<ThreadLimit> thread_limits;      ///< ascending registers
  std::map<std::string, std::string> sources;  ///< tags that were used, and what they are

  double at(std::string_view figure) const;  ///< one that every profile has
  double flops() const;                      ///< float32, all cores: cores * 128 lanes * 2 * clock
};

struct FigureInfo {
  std::string_view name, unit, meaning;
  bool required = true;  ///< else some chips have none: nothing was published
};
/// Every figure there is, in the order in which people read them.
const std::vector<FigureInfo>& gpu_figures();

/// "apple-m1-max" from `folder`/apple-m1-max.json and what it extends.
base::Result<GpuProfile> load_gpu_profile(const std::filesystem::path& folder,
                                          std::string_view name);
/// Names of the chips in `folder`.
std::vector<std::string> list_gpu_profiles(const std::filesystem::path& folder);

/// What expressions of a plan may ask of the device.
kernel::HardwareProfile as_hardware(const GpuProfile& profile);

}  // namespace ksearch::target
