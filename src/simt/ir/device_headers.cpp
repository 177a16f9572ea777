#include "simt/ir/device_headers.h"

#include <algorithm>
#include <array>

namespace ksearch::simt::ir {
namespace {

constexpr std::array<std::string_view, 15> kMachinery = {"ks_abi.h",
                                                         "ks_hooks.h",
                                                         "ks_sync.h",
                                                         "ks_simd.h",
                                                         "ks_simdgroup_matrix.h",
                                                         "ks_meet.h",
                                                         "ks_atomic.h",
                                                         "ks_internal.h",
                                                         "ks_kernel.h",
                                                         "ks_library.h",
                                                         "ks_cuda_groups.h",
                                                         "ks_cuda_mma.h",
                                                         "ks_cuda_warp.h",
                                                         "ks_cuda_wmma.h",
                                                         "ks_cuda_ptx_memory.h"};
constexpr std::array<std::string_view, 4> kMovers = {"ks_simdgroup_matrix.h", "ks_cuda_mma.h",
                                                     "ks_cuda_wmma.h", "ks_cuda_ptx_memory.h"};
constexpr std::array<std::string_view, 6> kMathematical = {
    "ks_math.h",      "ks_fast_math.h",           "ks_integer.h",
    "ks_cuda_math.h", "ks_cuda_half_functions.h", "ks_cuda_integer.h"};

template <std::size_t n>
bool lists(const std::array<std::string_view, n>& list, std::string_view file) {
  return std::find(list.begin(), list.end(), file) != list.end();
}

}  // namespace

bool is_device_header(std::string_view file) { return file.starts_with("ks_"); }
bool is_machinery(std::string_view file) { return lists(kMachinery, file); }
bool moves_memory(std::string_view file) { return lists(kMovers, file); }
bool is_mathematical(std::string_view file) { return lists(kMathematical, file); }

}  // namespace ksearch::simt::ir
