// Anything at all as a case file or a --buffer: read, or refused with its place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/case.h"
#include "simt/msl/body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::simt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto all = parse_case(text, "case.json", "y[thread_position_in_grid.x] = x_shape[0];");
      all && all->body) {
    (void)msl::with_body_buffers(*all);
    (void)msl::source_of_body(*all);
  }
  (void)parse_buffer(text);
  return 0;
}
