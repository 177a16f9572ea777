// `check`, whole: a case is compiled, run in a confined process, and what was seen comes back with
// lines of the source.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "simt/case.h"
#include "simt/locate.h"
#include "toolchain/builder.h"

namespace ksearch::simt {

/// The order in which SIMD-groups take turns: a result that depends on it shows.
struct ScheduleChoice {
  std::string name = "default";  ///< default, reversed, random
  std::uint64_t seed = 0;
};
/// "default", "reversed", "random:SEED".
base::Result<ScheduleChoice> parse_schedule(std::string_view text);

struct Finding {
  std::string kind;
  std::vector<SourceLine> where;  ///< the earlier access first
  std::string buffer;
  std::optional<std::int64_t> offset;
  std::vector<std::uint32_t> threads;  ///< index in the group
  std::array<std::uint32_t, 3> group{};
  std::string message;
  std::string fix;          ///< what to do about it
  std::uint64_t count = 1;  ///< how often it was seen
  int launch = 0;
};

/// An output that another schedule left different.
struct Difference {
  std::string schedule, buffer;
  std::int64_t elements = 0, of = 0;
  double largest = 0;        ///< difference; infinite where only one side is finite
  double largest_value = 0;  ///< of the output, to judge it by
};

struct Report {
  std::vector<Finding> findings;
  std::vector<std::string> warnings;
  base::Json trace;
  std::map<std::string, std::string> outputs;  ///< bytes of each out and inout buffer
  /// Of a case in a sequence, for each byte of an output: not 0 where this case or one before it
  /// wrote it.
  std::map<std::string, std::string> written;
  std::vector<Difference> differences;  ///< between schedules (schedules.h)
  double compile_seconds = 0, run_seconds = 0, trace_seconds = 0;
  double trace_cpu_seconds = 0;                       ///< of the traced launches alone
  double kernel_seconds = 0, kernel_cpu_seconds = 0;  ///< of `run_seconds`, the launches alone
  bool clean() const { return findings.empty(); }
};

inline constexpr std::uint32_t kAllGroups = 0xffffffffu;
/// "all", or a number.
base::Result<std::uint32_t> parse_trace_groups(std::string_view text);

/// What a group may be on a device; 0: as large as any of the dialect's takes it.
struct GroupLimits {
  std::uint32_t threads = 0;
  std::uint32_t group_memory_bytes = 0;
  bool by_registers = true;  ///< threads of a group are fewer where one wants many; not from M3 on
};

struct CheckOptions {
  ScheduleChoice schedule;
  int optimize = 2;  ///< 0 or 2
  /// False: outputs alone, as fast as it goes. Nothing is looked at but barriers and limits, and an
  /// access out of bounds may end the run or spoil the outputs.
  bool watch = true;
  std::size_t jobs = 1;                                 ///< OS threads; the report is the same
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  ///< for the buffers and what watches them
  /// Groups of each launch that are traced, a sample where there are more; 0: none.
  std::uint32_t trace_groups = 0;
  GroupLimits limits;
  /// Nothing but the trace: the sampled groups of the last launch are all that runs of it, so
  /// outputs are in part, and nothing is checked.
  bool trace_only = false;
  /// With trace_only: all groups run, so that outputs are whole. Slower than without a trace, but
  /// of the object that a trace needs anyway.
  bool trace_whole = false;
  std::vector<std::string> worker;    ///< command of the process that runs the kernel
  std::chrono::seconds time{120};     ///< of the run
  std::chrono::seconds patience{10};  ///< CPU time in which a thread must get somewhere
};

/// An error is the case's (usage: it does not compile, nothing is bound) or the environment's.
base::Result<Report> check(const toolchain::Builder& builder, const Case& all,
                           const CheckOptions& options);

/// The object of `check --json`.
base::Json to_json(const Report& report);

}  // namespace ksearch::simt
