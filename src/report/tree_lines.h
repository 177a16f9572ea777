// A search tree as lines of text: for the live view and for reports. A pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/columns.h"

namespace ksearch::report {

/// thrown_out: it passed in the search, and its certificate found it wrong.
enum class NodeStatus { root, open, working, passed, failed, thrown_out };

struct TreeRow {
  std::string id, parent;  ///< parent is empty for the root
  std::string title;
  NodeStatus status = NodeStatus::open;
  std::optional<double> score;                ///< baseline / program
  std::optional<double> predicted, measured;  ///< gain over the parent
  std::string remark;  ///< of a failed node: "WrongResult"; the title gives way to it
};

struct TreeLook {
  int width = 80;
  int height = 0;        ///< most lines, heading included; 0: no limit
  std::string best;      ///< node with the best program, or empty
  std::string baseline;  ///< of the scores, for the heading: "naive", "expert"
};

/// A heading and one line a node, children below their parent in the order of `rows`. Where not all
/// fit, what is being worked on and the way to the best stay, and the last line says how many are
/// missing. Columns give way as the width shrinks: predicted gain, measured gain, marks of depth.
std::vector<std::string> tree_lines(const Style& style, const std::vector<TreeRow>& rows,
                                    const TreeLook& look);

}  // namespace ksearch::report
