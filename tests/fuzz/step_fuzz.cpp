// Any text is a catalog step or an error.
#include <cstdint>
#include <string_view>

#include "engineer/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const auto json = base::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (json) (void)engineer::parse_step(*json, "step", "fuzz");
  return 0;
}
