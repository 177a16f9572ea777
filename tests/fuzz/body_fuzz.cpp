// Anything at all as a body for mx.fast.metal_kernel: its signature is made, and the file that
// comes of it rewritten, or it is refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/msl/body.h"
#include "simt/msl/lints.h"
#include "simt/msl/rewrite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::simt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // What stands before the first NUL is the body, what follows its header.
  const std::size_t end = std::min(text.find('\0'), text.size());
  Case all;
  all.file = "body.metal";
  all.source = text.substr(0, end);
  const auto buffer = [](const char* name, std::vector<std::int64_t> shape, Role role) {
    Buffer made;
    made.name = name;
    made.shape = std::move(shape);
    made.role = role;
    return made;
  };
  all.buffers = {buffer("x", {4, 6}, Role::in), buffer("w", {3}, Role::in),
                 buffer("s", {}, Role::in), buffer("y", {24}, Role::out)};
  all.body = Body{{"x", "w", "s"}, {"y"}, {{"T", "half"}, {"N", "4"}}, size % 2 == 0, {}};
  all.body->header = text.substr(end);
  all.launches.resize(1);
  all.launches[0].group_size = {8, 1, 1};
  all.launches[0].threads = {24, 1, 1};
  (void)msl::with_body_buffers(all);
  (void)msl::lint(all, all.source);
  if (const auto source = msl::source_of_body(all))
    (void)msl::rewrite(*source, {{std::string(msl::kBodyKernel)}, {}});
  return 0;
}
