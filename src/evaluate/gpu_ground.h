// What both sessions on an Apple GPU stand on: the task's workloads for it, clang for the engine,
// the sandbox, the CPU target that computes the reference.
#pragma once

#include "evaluate/engine_runner.h"
#include "evaluate/engine_session.h"
#include "target/cpu/cpu_target.h"

namespace ksearch::evaluate {

class GpuGround {
 public:
  /// Loads the task into `task`, kept by `where`.
  static base::Result<std::unique_ptr<GpuGround>> lay(const EngineSessionOptions& options,
                                                      task::Task& task);

  const toolchain::Compiler& clang() const { return clang_; }
  const os::Sandbox& sandbox() const { return sandbox_; }
  target::Target& reference() { return *reference_; }
  /// `gpu` is borrowed.
  EngineRunner runner(const target::GpuProfile& gpu) const;

 private:
  GpuGround(toolchain::Compiler clang, os::Sandbox sandbox)
      : clang_(std::move(clang)), sandbox_(std::move(sandbox)) {}

  toolchain::Compiler clang_;
  os::Sandbox sandbox_;
  std::filesystem::path cache_;
  std::vector<std::string> engine_worker_;
  std::size_t jobs_ = 1;
  std::unique_ptr<target::CpuTarget> reference_;
};

}  // namespace ksearch::evaluate
