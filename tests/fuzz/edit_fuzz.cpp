// Any text is an edit script or an error; whatever is applied leaves a tree: parents known, closed
// nodes and their solutions untouched, at most three nodes more.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tree/edit.h"
#include "unit/tree/trees.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch;
  const auto json = base::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!json) return 0;
  const auto script = tree::parse_edit_script(*json, "fuzz");
  if (!script) return 0;
  tree::Tree tree = tree::reply_tree();
  const std::size_t before = tree.size();
  (void)tree::apply(tree, *script, {});
  if (tree.size() > before + 3) std::abort();
  for (const tree::Node* node : tree.nodes()) {
    if (!node->is_root() && !tree.contains(node->parent)) std::abort();
    if (node->action.score < 0 || node->action.score > 1) std::abort();
    if (node->action.difficulty < 1 || node->action.difficulty > 5) std::abort();
  }
  for (const char* id : {"n1", "n3"}) {
    if (tree.at(id).solution.solution_id != std::string("sol_") + id) std::abort();
  }
  return 0;
}
