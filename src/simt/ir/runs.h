// The blocks of a function as a GPU would have them: what our code does where lanes meet splits
// blocks that are one there.
#pragma once

#include "simt/ir/liveness.h"

namespace ksearch::simt::ir {

/// Blocks that always run one after another, and with them those that only our code needs.
struct Run {
  std::vector<std::size_t> blocks;  ///< in order
  /// Of all of them, but for the phis of the first.
  std::vector<const Instruction*> instructions;
  std::vector<std::size_t> next;  ///< runs
  int before = 0;                 ///< blocks that lead to it
};

class RunGraph {
 public:
  RunGraph(const Module& module, const Function& function, const Liveness& liveness);

  const std::vector<Run>& runs() const { return runs_; }
  /// Whether one can come after the other, by at least one step.
  bool reaches(std::size_t from, std::size_t to) const { return reach_[from][to]; }
  bool leaves_loop(std::size_t from, std::size_t to) const {
    return reaches(from, from) && !reaches(to, from);
  }

 private:
  bool is_detour(std::size_t block) const;
  std::optional<std::size_t> follower(std::size_t block) const;
  void add_block(std::size_t run, std::size_t block);
  void find_runs();
  void find_reach();

  const Module& module_;
  const Function& function_;
  const Liveness& liveness_;
  std::vector<int> before_;  ///< by block, how many lead to it
  std::vector<Run> runs_;
  std::vector<std::vector<bool>> reach_;
};

}  // namespace ksearch::simt::ir
