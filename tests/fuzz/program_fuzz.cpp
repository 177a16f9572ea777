// Any text is a program of a small task or an error; a program writes itself back and binds or says
// why not.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernel/bind.h"

namespace {
using namespace ksearch;

const kernel::Definition& definition() {
  static const kernel::Definition d = *kernel::parse_definition(
      *base::parse_json(
          R"J({"name": "softmax", "axes": {"rows": {"type": "var"}, "cols": {"type": "var"}},
        "types": {"T": ["float32"]}, "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "T"}},
        "outputs": {"out": {"shape": ["rows", "cols"], "dtype": "T"}}})J",
          "d"),
      "d");
  return d;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = base::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!json) return 0;
  const auto program = kernel::parse_program(*json, definition(), "fuzz", [](std::string_view) {
    return base::Result<std::string>("text");
  });
  if (!program) return 0;
  if (!kernel::parse_program(kernel::to_json(*program), definition(), "again", nullptr))
    std::abort();
  kernel::Workload w;
  w.axes = {{"rows", 3}, {"cols", 5}};
  w.types = {{"T", kernel::DType::float32}};
  const auto choice = kernel::choose(*program, definition(), w, {}, program->select);
  if (choice) (void)kernel::bind(*program, definition(), w, {}, *choice);
  return 0;
}
