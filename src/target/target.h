// A device that programs are built for and run on. The parent (evaluate) sees only this interface:
// candidate code lives in the worker's process.
//
//   evaluate ── check ──> target          static rules of the dialect
//            ── build ──> Executable      compiled, cached by content
//            ── start ──> Worker          a sandboxed process
//                           prepare: tensors of one workload, some sets of them
//                           bytes:   the parent writes inputs, reads outputs, in shared memory
//                           run:     go .. done, by the parent's clock
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernel/bind.h"
#include "kernel/outcome.h"

namespace ksearch::target {

/// A built program: opaque to everybody but the target that made it. Cheap to copy.
struct Executable {
  std::string id;        ///< content hash of sources, flags and compiler
  std::string path;      ///< folder of its artefacts
  base::Json resources;  ///< what the compiler said: code bytes, spills, ...
};

/// One tensor of a set, as the plan names it; scratch is the plan's own and not listed.
using kernel::TensorShape;

/// What a worker is to run. `plan` is null for a script (an expert in Python).
struct Job {
  const kernel::Workload* workload = nullptr;
  const kernel::BoundProgram* plan = nullptr;
  std::vector<TensorShape> tensors;
  int sets = 1;  ///< distinct copies of all tensors
  /// Each buffer's end touches an inaccessible page (or canary bytes up to its alignment).
  bool guard = true;
};

/// Every call of the batch finished. The time of a call is (bracket_ns - signal_ns) / calls: the
/// bracket is the parent's own clock. `call_ns` is how the worker divides it, scaled to it: a
/// program may have forged the division, so it is for looking at, not for a median.
struct Done {
  double bracket_ns = 0;
  std::vector<double> call_ns;
  double signal_ns = 0;  ///< measured cost of an empty go..done
  double stop_ns = 0;  ///< until the worker stood still after `done`: the most a forged `done` wins
};

/// Done, or how it failed: Crashed, TimedOut, Rejected{sandbox|timing}, Unsafe, LimitExceeded.
/// After a failure the worker is dead. Lost: the environment failed, not the program.
using RunReply = std::variant<Done, kernel::Verdict, kernel::Lost>;

class Worker {
 public:
  virtual ~Worker() = default;
  /// Lays out the tensors and readies the plan. May be called again for another job.
  virtual std::variant<std::monostate, kernel::Verdict, kernel::Lost> prepare(const Job& job) = 0;
  /// The parent's view of a tensor of a set; valid until the next prepare. Between runs the worker
  /// stands still: it neither changes these bytes nor uses a CPU.
  virtual std::span<std::byte> bytes(int set, std::string_view tensor) = 0;
  /// Calls the program once for each entry of `order` (indices of sets), in that order. Scratch is
  /// poisoned or initialised as the plan says, by the worker, outside no clock the parent trusts:
  /// poisoning happens only where `poison_scratch`, which a timed batch leaves off.
  virtual RunReply run(std::span<const int> order, bool poison_scratch,
                       std::chrono::milliseconds limit) = 0;
  /// Canaries around every buffer of a set: findings name the buffer and the side.
  virtual std::vector<kernel::Finding> canaries(int set) = 0;
  /// What it says of itself once prepared: {"versions": {"torch": "2.1"}} of a script.
  virtual const base::Json& about() const = 0;
};

/// An expert that links a library. It is the user's own code: no sandbox, no system call filter.
struct Trust {
  std::vector<std::string> compile_flags;          ///< -I...
  std::vector<std::string> link_flags;             ///< library files, -Wl,-rpath,...
  std::vector<std::string> folders;                ///< that the compiler must see for those
  std::map<std::string, std::string> environment;  ///< of its worker: OPENBLAS_CORETYPE, ...
};

struct BuildRequest {
  const kernel::Program* program = nullptr;
  const std::vector<kernel::BoundProgram>* plans = nullptr;  ///< all that will be run
  const Trust* trust = nullptr;
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;
  virtual const kernel::HardwareProfile& device() const = 0;
  /// Rules that need no compiler; nothing where the program keeps them.
  virtual std::optional<kernel::Verdict> check(const kernel::Program& program) = 0;
  /// Compiles what the plans need. The failure is CompileFailed, Rejected or Unsupported.
  virtual std::variant<Executable, kernel::Verdict, kernel::Lost> build(
      const BuildRequest& request) = 0;
  /// Loading goes on after it returns; the first prepare says how it went.
  virtual base::Result<std::unique_ptr<Worker>> start(const Executable& executable,
                                                      const Trust* trust = nullptr) = 0;
};

}  // namespace ksearch::target
