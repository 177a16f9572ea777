// Any text is a journal or an error; its whole lines are its good bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto contents = store::parse_journal(text, "fuzz");
  if (!contents) return 0;
  const auto again = store::parse_journal(text.substr(0, contents->good_bytes), "again");
  if (!again || !again->notes.empty() || again->lines.size() != contents->lines.size()) {
    std::abort();
  }
  return 0;
}
