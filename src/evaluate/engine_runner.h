// Runs bound programs in the SIMT engine: watched, for their outputs alone, or traced for the time
// model. Several at a time; each in a confined process of its own.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "evaluate/attempt.h"
#include "kernel/bind.h"
#include "simt/check.h"
#include "simt/program_case.h"
#include "target/metal/time_model.h"
#include "task/inputs.h"
#include "toolchain/builder.h"

namespace ksearch::evaluate {

enum class Look {
  watched,         ///< races, bounds, everything
  outputs,         ///< alone, several times as fast
  traced_outputs,  ///< by the build that a model needs anyway: no compile, but slower to run
};

struct EngineJob {
  const kernel::Program* program = nullptr;
  const kernel::BoundProgram* plan = nullptr;
  const task::InputMaker* maker = nullptr;  ///< of the workload's tensors
  task::Content content;
  Look look = Look::watched;
  simt::ScheduleChoice schedule;
};

/// The tensors of a workload as the engine takes them: inputs with their contents.
std::vector<simt::ProgramTensor> program_tensors(const task::InputMaker& maker,
                                                 const task::Content& content);

class EngineRunner {
 public:
  /// `worker`: command of the engine's process. `gpu` is borrowed.
  EngineRunner(toolchain::Builder builder, std::vector<std::string> worker,
               const target::GpuProfile& gpu, std::size_t jobs)
      : builder_(std::move(builder)), worker_(std::move(worker)), gpu_(&gpu), jobs_(jobs) {}

  /// A program of more launches is modelled by those that differ, and its outputs are not made.
  static constexpr std::size_t kMostLaunches = 256;

  using Outputs = std::map<std::string, std::string>;  ///< bytes of each output
  struct Results {
    std::vector<Tried<target::ModelledProgram>> modelled;
    std::vector<Tried<Outputs>> outputs;
  };
  /// What each job left, in their order; findings are Unsafe, an error of the source CompileFailed.
  std::vector<Tried<Outputs>> run(std::span<const EngineJob> jobs) const;
  /// The modelled time of each of `models`, from a sample of its groups, and what each of `runs`
  /// left: at once, as no CPU is to wait for the last of one kind.
  Results model_and_run(std::span<const EngineJob> models, std::span<const EngineJob> runs) const;

  std::size_t jobs() const { return jobs_; }

 private:
  Tried<Outputs> run_one(const EngineJob& job) const;
  Tried<target::ModelledProgram> model_one(const EngineJob& job) const;

  toolchain::Builder builder_;
  std::vector<std::string> worker_;
  const target::GpuProfile* gpu_;
  std::size_t jobs_;
};

}  // namespace ksearch::evaluate
