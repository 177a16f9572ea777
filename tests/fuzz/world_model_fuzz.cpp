// Any text is a world model or an error; what was read writes itself back the same, and selecting
// in it and listing what is unreachable come to an end.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tree/frontier.h"
#include "tree/world_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const auto loaded = tree::load_world_model({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!loaded) return 0;
  const base::Json json = tree::world_model_json(loaded->tree);
  const auto again = tree::read_world_model(json, "again");
  if (!again || !again->refused.empty()) std::abort();
  if (tree::world_model_json(again->tree) != json) std::abort();
  (void)tree::ksearch_pick(tree::frontier(loaded->tree));
  (void)tree::unreachable(loaded->tree);
  return 0;
}
