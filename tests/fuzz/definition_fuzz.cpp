// Any text is a definition or an error.
#include <cstdint>
#include <string_view>

#include "kernel/definition.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const auto json = base::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (json) (void)kernel::parse_definition(*json, "fuzz");
  return 0;
}
