// Any text is a reply or a fault with a message; no path leaves the folder, no file is empty.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "llm/blocks.h"
#include "llm/reply.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const llm::RawReply reply{{reinterpret_cast<const char*>(data), size}};
  if (const auto program = llm::read_program(reply); !program) {
    if (program.error().message.empty()) std::abort();
  } else if (!program->exhausted) {
    if (program->files.empty() || !program->plan.is_object()) std::abort();
    for (const kernel::Source& file : program->files)
      if (!llm::is_safe_path(file.path) || file.text.empty()) std::abort();
  }
  if (const auto edits = llm::read_edits(reply); !edits && edits.error().message.empty())
    std::abort();
  if (const auto model = llm::read_world_model(reply); !model && model.error().message.empty())
    std::abort();
  return 0;
}
