// Where tests run kernels: confined, by the worker that was built beside them. Unconfined under an
// emulator, which knows no filter of calls (KSEARCH_TEST_EMULATOR, see scripts/test_arm64.sh), and
// with AddressSanitizer, which needs calls that the filter refuses.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "os/sandbox.h"
#include "simt/engine/sanitizer.h"

namespace ksearch::simt {

inline base::Result<os::Sandbox> test_sandbox() {
  const bool unconfined = std::getenv("KSEARCH_TEST_EMULATOR") != nullptr || kAddressSanitizer;
  return os::Sandbox::find(
      unconfined ? os::SandboxOptions{.force = os::SandboxWay::none, .allow_none = true}
                 : os::SandboxOptions{});
}

inline std::vector<std::string> test_worker() {
  std::vector<std::string> command;
  if (const char* emulator = std::getenv("KSEARCH_TEST_EMULATOR"))
    command.push_back(std::string("/usr/bin/") + emulator);
  command.insert(command.end(), {KSEARCH_SIMT_WORKER, "worker", "simt"});
  return command;
}

}  // namespace ksearch::simt
