// Inside a CPU worker: the plan of one job, ready to be called again and again. Every pointer that
// does not change between calls is worked out before the clock runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "target/cpu/ksearch_kernel.h"
#include "target/cpu/thread_pool.h"

namespace ksearch::target {

/// What the generated wrapper of a kernel looks like (entry_points.h).
using EntryPoint = void (*)(const void* const* arguments, const ks_group* group);

/// A pattern repeated over a range: `init` of an argument or of scratch.
struct Fill {
  bool shared = true;  ///< of the tensors' memory, else of the plan's own
  std::size_t offset = 0;
  std::size_t elements = 0;
  std::vector<std::byte> element;
};

struct RunnableArgument {
  enum class Kind { shared, own, null, value };
  Kind kind = Kind::null;
  std::size_t offset = 0;  ///< into its memory, or into the values
};

struct RunnableLaunch {
  EntryPoint entry = nullptr;
  std::int64_t groups[3] = {1, 1, 1};
  std::size_t group_memory = 0;  ///< offset of worker 0's block in the plan's own memory
  std::size_t group_memory_stride = 0;
  bool has_group_memory = false;
  std::vector<RunnableArgument> arguments;
  std::vector<Fill> fills;
};

/// Memory of the job as mapped in this process.
struct Mapping {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
};

class PlanRunner {
 public:
  /// Reads the `prepare` message (the parent's, trusted). `entries[object][kernel]`. A text says
  /// what is missing.
  static std::string read(const base::Json& message,
                          const std::vector<std::vector<EntryPoint>>& entries, PlanRunner& out);

  /// Calls the program once on set number `set`.
  void call(ThreadPool& pool, Mapping shared, Mapping own, int set) const;
  /// Fills scratch that has no `init` with NaN bytes.
  void poison(ThreadPool& pool, Mapping own) const;

 private:
  std::size_t set_stride_ = 0;
  std::vector<std::byte> values_;
  std::vector<RunnableLaunch> launches_;
  std::vector<Fill> scratch_fills_;  // before each call
  std::vector<Fill> poison_;
};

}  // namespace ksearch::target
