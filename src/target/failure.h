// What a worker's last words mean: from its message or its end to a verdict. Hostile code may have
// written the message, so it can only ever speak against its own program.
#pragma once

#include "kernel/outcome.h"
#include "target/arena.h"
#include "target/worker_process.h"

namespace ksearch::target {

/// What is known when a message is explained. `base`: first byte of the set's arena in the memory.
struct FaultContext {
  const Arena* set = nullptr;  ///< tensors, as laid out in each set
  const Arena* own = nullptr;  ///< scratch and group memory
  std::uint64_t memory_limit_bytes = 0;
};

/// {"refused":57,..}, {"signal":11,..}, {"failed":"exception",..}; anything else is spoken out of
/// turn.
kernel::Verdict explain_message(const base::Json& message, const FaultContext& context);

/// `limit` is the time it had.
kernel::Verdict explain_end(const WorkerEnd& end, std::chrono::milliseconds limit);

}  // namespace ksearch::target
