#include <cctype>
#include <map>

#include "simt/cuda/ptx.h"

namespace ksearch::simt::cuda {
namespace {

/// Registers that tell a thread where it stands.
const std::map<std::string, std::string, std::less<>> kSpecial = {
    {"laneid", "ks_lane_id()"},
    {"warpid", "ks_warp_id()"},
    {"nwarpid", "ks_warps()"},
    {"tid.x", "threadIdx.x"},
    {"tid.y", "threadIdx.y"},
    {"tid.z", "threadIdx.z"},
    {"ntid.x", "blockDim.x"},
    {"ntid.y", "blockDim.y"},
    {"ntid.z", "blockDim.z"},
    {"ctaid.x", "blockIdx.x"},
    {"ctaid.y", "blockIdx.y"},
    {"ctaid.z", "blockIdx.z"},
    {"nctaid.x", "gridDim.x"},
    {"nctaid.y", "gridDim.y"},
    {"nctaid.z", "gridDim.z"},
    {"smid", "0u"},
    {"clock", "0u"},
    {"clock64", "0ul"},
    {"globaltimer", "0ul"},
    {"lanemask_eq", "(1u << ks_lane_id())"},
    {"lanemask_lt", "((1u << ks_lane_id()) - 1u)"},
    {"lanemask_le", "((2u << ks_lane_id()) - 1u)"},
    {"lanemask_gt", "~((2u << ks_lane_id()) - 1u)"},
    {"lanemask_ge", "~((1u << ks_lane_id()) - 1u)"}};

}  // namespace

std::string ptx_variable(std::string_view name) {
  std::string text = "ks_v_";
  for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return text;
}

std::string ptx_register(const std::string& name) {
  const auto special = kSpecial.find(name);
  return special == kSpecial.end() ? ptx_variable(name) : special->second;
}

}  // namespace ksearch::simt::cuda
