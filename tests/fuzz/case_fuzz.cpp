// Anything at all as a case file or a --buffer: read, or refused with its place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/case.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::simt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_case(text, "case.json", "");
  (void)parse_buffer(text);
  return 0;
}
