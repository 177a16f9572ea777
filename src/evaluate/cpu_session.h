// A session on this machine's CPU, put together from its parts: compiler, sandbox, device profile,
// targets, Python for experts, task. What `cli` and end-to-end tests open.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/opened_session.h"
#include "os/files.h"
#include "os/sandbox.h"
#include "target/cpu/cpu_target.h"

namespace ksearch::evaluate {

struct CpuSessionOptions {
  std::filesystem::path task;  ///< its folder (task::find_task)
  std::string where;           ///< keeps workloads; empty: all
  int threads = 0;             ///< of programs and experts; 0: one for each CPU allowed
  std::uint64_t seed = 1;
  std::filesystem::path python;            ///< for experts and references in Python; empty: none
  std::chrono::milliseconds timing{3000};  ///< as in SessionOptions
  double ratio_width = 0.02;
  std::vector<std::string> worker;  ///< command of the CPU worker: {ksearch, "worker", "cpu"}
  std::filesystem::path cache;      ///< built kernels and the profile; empty: os::cache_folder
  os::Environment environment;      ///< for finding compiler and cache
  os::SandboxOptions sandbox;
  std::uint64_t memory_limit_bytes =
      0;                     ///< private memory of a worker; 0: a quarter of the machine's
  bool measure = true;       ///< false, in tests: sizes and features only, no ceilings
  bool static_check = true;  ///< false, in tests: the sandbox must hold without it
  const base::Clock* clock = nullptr;
};

class CpuSession final : public OpenedSession {
 public:
  static base::Result<std::unique_ptr<CpuSession>> open(const CpuSessionOptions& options,
                                                        const Progress& progress);
  ~CpuSession() override { session_.reset(); }  // before what it borrows

 private:
  CpuSession() = default;
  std::unique_ptr<target::CpuTarget> target_, reference_target_;
};

}  // namespace ksearch::evaluate
