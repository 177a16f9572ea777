// Planner and coder that answer in writing: builds the question, reads the answer, and asks again,
// with the reason, where it cannot be used. Bounded and counted; what still cannot be used is
// Refused, which costs the node an attempt and never ends the run.
#pragma once

#include <memory>

#include "engineer/correspondent.h"
#include "engineer/prompts.h"

namespace ksearch::engineer {

struct Manners {
  int unreadable = 2;     ///< times one question is asked again because the answer cannot be read
  int refused_edits = 1;  ///< times because the tree refuses some of its operations
};

class WrittenPlanner final : public Planner {
 public:
  /// Both are borrowed.
  WrittenPlanner(const Prompts* prompts, Correspondent* correspondent, Manners manners = {})
      : prompts_(prompts), correspondent_(correspondent), manners_(manners) {}
  std::string name() const override { return correspondent_->name(); }
  PlanReply plan(const PlanRequest& request, const tree::Tree& tree) override;

 private:
  const Prompts* prompts_;
  Correspondent* correspondent_;
  Manners manners_;
};

class WrittenCoder final : public Coder {
 public:
  /// All are borrowed.
  WrittenCoder(const Prompts* prompts, const kernel::Definition* definition,
               Correspondent* correspondent, Manners manners = {})
      : prompts_(prompts),
        definition_(definition),
        correspondent_(correspondent),
        manners_(manners) {}
  std::string name() const override { return correspondent_->name(); }
  CodeReply code(const CodeRequest& request) override;

 private:
  const Prompts* prompts_;
  const kernel::Definition* definition_;
  Correspondent* correspondent_;
  Manners manners_;
};

}  // namespace ksearch::engineer
