// The catalog first, then somebody who writes: proven steps seed the tree and stand in prompts as
// examples (they are the best programs elsewhere in the tree); the other goes on from there.
#pragma once

#include "engineer/catalog.h"

namespace ksearch::engineer {

/// Proposes catalog steps while there are any; then asks the other. After a cycle on a catalog step
/// the catalog moves the ratings; after any other the other revises.
class SeededPlanner final : public Planner {
 public:
  /// All are borrowed.
  SeededPlanner(const Catalog* catalog, Planner* first, Planner* then)
      : catalog_(catalog), first_(first), then_(then) {}
  std::string name() const override { return "catalog+" + then_->name(); }
  PlanReply plan(const PlanRequest& request, const tree::Tree& tree) override {
    if (request.kind == PlanRequest::Kind::revise) {
      const bool step = request.cycle && catalog_->find(request.cycle->node_id);
      return (step ? first_ : then_)->plan(request, tree);
    }
    PlanReply reply = first_->plan(request, tree);
    return std::holds_alternative<Nothing>(reply.what) ? then_->plan(request, tree) : reply;
  }

 private:
  const Catalog* catalog_;
  Planner* first_;
  Planner* then_;
};

/// A node that is a catalog step gets the step's program; any other is the other's.
class SeededCoder final : public Coder {
 public:
  SeededCoder(const Catalog* catalog, Coder* first, Coder* then)
      : catalog_(catalog), first_(first), then_(then) {}
  std::string name() const override { return "catalog+" + then_->name(); }
  CodeReply code(const CodeRequest& request) override {
    return (catalog_->find(request.node_id) ? first_ : then_)->code(request);
  }

 private:
  const Catalog* catalog_;
  Coder* first_;
  Coder* then_;
};

}  // namespace ksearch::engineer
