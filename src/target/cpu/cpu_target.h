// The CPU target: programs of dialect `cpp`, compiled by the machine's compiler, run in a sandboxed
// worker of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "target/target.h"
#include "toolchain/builder.h"

namespace ksearch::target {

struct CpuTargetOptions {
  kernel::HardwareProfile device;   ///< `cores` is the number of threads
  std::vector<int> cpus;            ///< one for each thread, pinned; empty: not pinned
  std::vector<std::string> worker;  ///< command of the worker: {this executable, "worker", "cpu"}
  std::uint64_t memory_limit_bytes =
      0;                     ///< private memory of a worker; 0: a quarter of the machine's
  std::uint64_t seed = 0;    ///< of batch tokens; any value that a program cannot know
  bool static_check = true;  ///< off only in tests: the sandbox must hold without it
};

class CpuTarget final : public Target {
 public:
  CpuTarget(toolchain::Builder builder, CpuTargetOptions options);

  std::string_view name() const override { return "cpu"; }
  const kernel::HardwareProfile& device() const override { return options_.device; }
  std::optional<kernel::Verdict> check(const kernel::Program& program) override;
  std::variant<Executable, kernel::Verdict, kernel::Lost> build(
      const BuildRequest& request) override;
  base::Result<std::unique_ptr<Worker>> start(const Executable& executable,
                                              const Trust* trust = nullptr) override;

  const toolchain::Builder& builder() const { return builder_; }
  const CpuTargetOptions& options() const { return options_; }

 private:
  toolchain::Builder builder_;
  CpuTargetOptions options_;
  base::Random seeds_;
};

/// A quarter of the machine's memory, 1 GiB at least.
std::uint64_t default_memory_limit();

}  // namespace ksearch::target
