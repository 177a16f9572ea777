// A worker with one workload laid out in it: fills its sets, runs them, and looks at what came out.
// Everything that judges happens here, in the parent.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/attempt.h"
#include "evaluate/compare.h"
#include "target/target.h"
#include "task/inputs.h"

namespace ksearch::evaluate {

/// Truth of one content: one array for each output, in the order of `outputs_of`.
using Outputs = std::vector<std::vector<double>>;

class Rig {
 public:
  /// `worker` and `maker` are borrowed.
  Rig(target::Worker& worker, const task::InputMaker& maker, std::vector<OutputSpec> outputs)
      : worker_(&worker), maker_(&maker), outputs_(std::move(outputs)) {}

  /// Lays out `sets` copies of all tensors. `plan` is null for a script; it is borrowed until the
  /// next.
  Tried<void> prepare(const kernel::Workload& workload, const kernel::BoundProgram* plan, int sets);

  /// Fresh inputs and poisoned outputs in one set.
  void fill(int set, const task::Content& content, const Poison& poison);

  /// Makes the system find pages for a part of each tensor.
  void touch(int set, std::size_t from, std::size_t bytes);

  /// One input of a set alone, from another content.
  void fill_input(int set, std::string_view tensor, const task::Content& content) {
    maker_->fill(content, tensor, worker_->bytes(set, tensor));
  }

  Tried<target::Done> run(std::span<const int> order, bool poison_scratch,
                          std::chrono::nanoseconds limit_per_call);

  /// What set `set`, filled with `content`, holds after a run: nothing changed that must not be,
  /// nothing written outside, all outputs written and right. `slack` as in `compare`.
  /// The largest relative rms error of its outputs.
  Tried<double> check(int set, const task::Content& content, const Poison& poison,
                      const Outputs& truth, double slack = 0);
  /// The cheap part of that, for calls that are not compared in full.
  Tried<void> check_written(int set, const Poison& poison);
  Tried<void> check_inputs(int set, const task::Content& content);
  Tried<void> check_canaries(int set);

  std::span<const std::byte> output(int set, std::size_t index);
  /// Outputs as numbers, for comparing another program with.
  void outputs_as_numbers(int set, Outputs& into);
  const std::vector<OutputSpec>& outputs() const { return outputs_; }

 private:
  target::Worker* worker_;
  const task::InputMaker* maker_;
  std::vector<OutputSpec> outputs_;
  std::vector<std::byte> expected_;  // scratch of check_inputs
};

}  // namespace ksearch::evaluate
