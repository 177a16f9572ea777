// Anything at all as CUDA source, as assembly, as a value: an answer or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/case.h"
#include "simt/cuda/headers.h"
#include "simt/cuda/ptx.h"
#include "simt/cuda/rewrite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::simt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)cuda::rewrite(text, {"gemm_mma", "softmax<float, 128>", "convolve"});
  if (const auto block = cuda::parse_ptx(text, {"", "a", "b"}))
    for (const cuda::PtxInstruction& one : block->instructions) (void)cuda::emit_ptx(one);
  (void)parse_value(text);
  Case all;
  all.source = text;
  (void)cuda::empty_headers(all);
  return 0;
}
