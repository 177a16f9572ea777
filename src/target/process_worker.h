// A Worker that is a process: shared memory, the go .. done bracket, and what every way of failing
// means. What differs between targets (a plan, a script) is the `prepare` message; they pass it in.
//
// Why a batch's time and outputs can be believed although the worker runs hostile code:
//  - The clock is ours: from just before `go` is sent to the moment `done` arrives.
//  - `done` says a token that is new for each batch, so it cannot be sent ahead of `go`.
//  - A kernel may still find that token in its process and send `done` while it goes on computing.
//  So
//    the moment `done` arrives every thread of the worker is stopped (SIGSTOP, confirmed), before
//    an output is looked at, and stays stopped until the next batch. What was not written by then
//    is not there when the parent compares. The real `done` then arrives as a second one: Rejected.
//  - A kernel may take the whole protocol over and compute between `arm` and `go`, when the inputs
//  are
//    there and our clock is not running. So the CPU time that the worker uses outside the bracket,
//    from the resumption to the next stop, is read from the system and, where it exceeds what empty
//    batches use, is added to the bracket. What is left to win is tens of microseconds a batch.
//  - A stopped worker cannot disturb whatever is measured next, nor prepare answers.
//  - The worker's own times only divide the bracket; they are scaled to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "os/shared_memory.h"
#include "target/arena.h"
#include "target/target.h"
#include "target/worker_process.h"

namespace ksearch::target {

/// The `prepare` message of a job, given where its tensors lie in one set; and the plan's own
/// memory, for explaining faults.
struct Preparation {
  base::Json message;
  Arena own;
};
using MakePreparation =
    std::function<std::variant<Preparation, kernel::Verdict>(const Job& job, const Arena& set)>;

struct ProcessWorkerOptions {
  MakePreparation prepare;
  std::chrono::milliseconds load_limit{60000};  ///< for the reply to what was sent before `prepare`
  std::chrono::milliseconds prepare_limit{60000};
  std::uint64_t memory_limit_bytes = 0;  ///< told in LimitExceeded
  std::uint64_t seed = 0;                ///< of the tokens
  bool script = false;                   ///< an expert in Python: trusted, and it says why it fails
  /// The process moves tensors between batches and runs no code of a program's on the CPU: what it
  /// uses of it outside the bracket is its own.
  bool moves_tensors = false;
};

class ProcessWorker final : public Worker {
 public:
  /// `loaded` is awaited by the first prepare.
  ProcessWorker(std::unique_ptr<WorkerProcess> process, os::SharedMemory memory,
                ProcessWorkerOptions options);

  std::variant<std::monostate, kernel::Verdict, kernel::Lost> prepare(const Job& job) override;
  std::span<std::byte> bytes(int set, std::string_view tensor) override;
  RunReply run(std::span<const int> order, bool poison_scratch,
               std::chrono::milliseconds limit) override;
  std::vector<kernel::Finding> canaries(int set) override;
  const base::Json& about() const override { return about_; }

 private:
  using Failure = std::variant<kernel::Verdict, kernel::Lost>;
  struct Batch {
    double bracket_ns = 0;
    double outside_cpu_ns = 0;  ///< used by the worker while our clock did not run
    double stop_ns = 0;
    std::vector<double> call_ns;
  };

  std::optional<Failure> await_loaded();
  std::variant<base::Json, Failure> expect(std::string_view key, std::chrono::milliseconds limit);
  std::variant<Batch, Failure> batch(std::span<const int> order, bool poison,
                                     std::chrono::milliseconds limit);
  std::variant<base::Json, Failure> read_reply(std::string_view line, std::string_view key);
  Failure fail(Failure failure);
  Failure explain_stop_failure();
  std::optional<Failure> measure_signal();
  void settle_time(Batch& batch);
  bool times_agree(const Batch& batch);

  std::unique_ptr<WorkerProcess> process_;
  os::SharedMemory memory_;
  ProcessWorkerOptions options_;
  base::Random tokens_;
  Arena set_, own_;
  int sets_ = 0;
  bool loaded_ = false;
  bool measured_signal_ = false;
  double signal_ns_ = 0, signal_worst_ns_ = 0;
  double outside_allowed_ns_ = 0;
  int disagreements_ = 0;
  base::Json about_;
  std::optional<Failure> failed_;
};

}  // namespace ksearch::target
