// Float64 truth of the workloads, made once and kept: for each workload and content the reference's
// outputs, computed in a worker process of its own from exact copies of the inputs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "evaluate/rig.h"
#include "task/reference.h"
#include "task/task.h"

namespace ksearch::evaluate {

/// Starts a script: experts in Python, and references in Python.
using StartScript =
    std::function<base::Result<std::unique_ptr<target::Worker>>(const task::Expert& expert)>;

/// How the library of an expert that is a program is linked, and the environment of its worker.
using TrustExpert = std::function<base::Result<target::Trust>(const task::Expert& expert)>;

class Truth {
 public:
  /// Builds the reference. An error says what the task needs.
  static base::Result<std::unique_ptr<Truth>> open(const task::Task& task, target::Target& cpu,
                                                   const StartScript& start_script,
                                                   std::uint64_t seed);

  const task::InputMaker& maker(const kernel::Workload& workload);

  /// The reference's outputs for one content. Kept until the session ends where `keep`, else until
  /// the next call. Lost where the reference's worker failed; it is then started anew at the next
  /// call.
  std::expected<const Outputs*, kernel::Lost> of(const kernel::Workload& workload,
                                                 const task::Content& content, bool keep = true);

  /// Truth with one input taken from another content: what a program's output must change by.
  std::expected<const Outputs*, kernel::Lost> perturbed(const kernel::Workload& workload,
                                                        const task::Content& content,
                                                        const std::string& input,
                                                        const task::Content& from);

  const std::shared_ptr<const task::NoisePool>& pool() const { return pool_; }
  std::uint64_t seed() const { return seed_; }
  /// Checks every maker once, so that a bad rule is an error at the start.
  base::Result<void> make_makers();
  /// What computes it: "reference.cpp" or "reference.py".
  std::string_view source() const {
    return task_->reference_cpp.empty() ? "reference.py" : "reference.cpp";
  }

 private:
  Truth() = default;
  std::expected<void, kernel::Lost> start();
  std::expected<Outputs, kernel::Lost> compute(const kernel::Workload& workload,
                                               const task::Content& content,
                                               const std::string* perturbed,
                                               const task::Content& from);

  const task::Task* task_ = nullptr;
  target::Target* cpu_ = nullptr;
  StartScript start_script_;
  std::uint64_t seed_ = 0;
  std::shared_ptr<const task::NoisePool> pool_;
  std::map<std::string, task::InputMaker> makers_;
  std::map<std::tuple<std::string, std::uint64_t, int>, Outputs> known_;
  Outputs last_;
  std::optional<target::Executable> executable_;  // none: a script
  std::unique_ptr<target::Worker> worker_;
  std::string prepared_;  // workload the worker is laid out for
  kernel::BoundProgram plan_;
};

}  // namespace ksearch::evaluate
