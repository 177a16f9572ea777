// The built-in engineer: proven steps as data, no key, no network. A step is a complete program
// with what it builds on and where it pays: catalog/TASK/DIALECT/STEP/{step.json, program.json,
// sources}.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engineer/engineer.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::engineer {

/// step.json: `ksearch.step/1`.
struct Step {
  std::string name;                  ///< of its folder, and the id of its node
  std::vector<std::string> parents;  ///< steps, or "naive"
  tree::Action action;
  tree::Impacts impacts;
  double rating = 0;
  double confidence = 0;
  std::optional<kernel::Expr> needs;    ///< over device.*
  std::map<std::string, double> helps;  ///< trait -> 0..1; see traits.h
  std::map<std::string, std::map<std::string, std::int64_t>>
      leave_out;                      ///< step -> define overrides
  std::vector<std::string> rests_on;  ///< knowledge rules and assertions
  kernel::Program program;
};

struct Catalog {
  std::vector<Step> steps;  ///< by name
  const Step* find(std::string_view name) const;
};

/// Without the steps that rest on translation knowledge (any rule), for an ablation; those that
/// build on them alone go with them.
Catalog without_knowledge(const Catalog& catalog);

/// Reads every step of a task and dialect, strictly: unknown keys and traits, unknown parents,
/// cycles and steps that hang on nothing are errors. An absent folder is an empty catalog.
base::Result<Catalog> load_catalog(const std::filesystem::path& folder,
                                   const kernel::Definition& definition);
base::Result<Step> parse_step(const base::Json& json, std::string_view name,
                              std::string_view where);

/// What the catalog planner ranks by. Borrowed pointers live as long as the engineer.
struct CatalogContext {
  const Catalog* catalog = nullptr;
  const kernel::Definition* definition = nullptr;
  std::vector<kernel::Workload> workloads;  ///< feedback ones
  kernel::HardwareProfile device;
  std::optional<kernel::Program> naive;  ///< its groups tell how parallel the task is
};

/// Proposes steps whose needs hold and one of whose parents is closed (under the one with the best
/// program), best fit first; after a cycle, moves the ratings of what is open by predicted against
/// measured gain, more for steps that help by the same traits. A pure function of tree and request.
class CatalogPlanner final : public Planner {
 public:
  explicit CatalogPlanner(CatalogContext context);
  std::string name() const override { return "catalog"; }
  PlanReply plan(const PlanRequest& request, const tree::Tree& tree) override;

 private:
  tree::EditScript proposals(const tree::Tree& tree, int limit) const;
  tree::EditScript revisions(const tree::Tree& tree) const;

  CatalogContext context_;
  std::map<std::string, double> traits_;
};

/// Supplies the program of the node's step once, then says Exhausted.
class CatalogCoder final : public Coder {
 public:
  explicit CatalogCoder(const Catalog* catalog) : catalog_(catalog) {}
  std::string name() const override { return "catalog"; }
  CodeReply code(const CodeRequest& request) override;

 private:
  const Catalog* catalog_;  // borrowed
};

}  // namespace ksearch::engineer
