// Anything at all as Metal source: the rewriter and the lints answer, with a file or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/msl/lints.h"
#include "simt/msl/rewrite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::simt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)msl::rewrite(text, {{"sum", "one"}, {{3, "2"}}});
  Case all;
  all.file = "kernel.metal";
  (void)msl::lint(all, text);
  return 0;
}
