// What became of an evaluated program: a sum type, never a sentinel number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kernel/program.h"

namespace ksearch::kernel {

/// How far an evaluation came, in order.
enum class Stage { parse, check, compile, tiny, feedback, timing, assertions, certify };
std::string_view name(Stage stage);

struct Finding {
  std::string kind;    ///< "out_of_bounds", "data_race", "uninitialised", "divergence", ...
  std::string buffer;  ///< or empty
  std::string message;
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Unparsable {
  std::string why;
};
struct Duplicate {
  std::string of;
};  ///< hash of the program it repeats
struct Unsupported {
  std::string why;
};
struct Rejected {
  std::string by;
  std::string why;
};  ///< by: "static", "sandbox", "timing"
struct CompileFailed {
  std::string log;
};  ///< at most 4 KiB, the first errors
struct LimitExceeded {
  std::string what;
  double value = 0;
  double limit = 0;
};
struct Crashed {
  std::string why;
};  ///< "segmentation fault at ...", "left with status 0"
struct TimedOut {
  double limit_seconds = 0;
};
struct Unsafe {
  std::vector<Finding> findings;
};
struct InputChanged {
  std::string tensor;
};
struct WrongResult {
  std::string output;
  std::string why;   ///< one sentence for the engineer: where, wanted, got
  double error = 0;  ///< relative rms error; NaN where the output holds a NaN
  double tolerance = 0;
};
struct AssertionFailed {
  std::string assertion;
  std::string why;
};

/// Right, not timed: what the compiler said of its resources.
struct Verified {
  base::Json resources;
};

/// A ratio of times, over 1 is faster, with a 95% confidence interval.
struct Ratio {
  double value = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;  ///< interleaved pairs it rests on
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

struct WorkloadTiming {
  std::string workload;
  std::vector<double> samples_ns;  ///< time of one call, a batch's mean each
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;       ///< 95% confidence interval of the median
  std::map<std::string, Ratio> ratios;  ///< to "naive", "expert", "parent"
  std::string expert;                   ///< name of the best expert on this workload, or empty
  double roofline_fraction = 0;         ///< of the ceiling that binds, by the fastest batch
  std::string bound_by;                 ///< "compute", "bandwidth", or empty
  TunableChoice tunables;
};

struct Measured {
  std::vector<WorkloadTiming> workloads;
  std::string baseline;                 ///< "expert" where every workload has one, else "naive"
  Ratio score;                          ///< geometric mean over workloads of baseline / program
  std::map<std::string, Ratio> ratios;  ///< geometric means to "naive", "expert", "parent"
};

/// Times from a model of a device. A type of its own: never becomes Measured.
struct Modelled {
  std::string profile;
  std::string model_version;
  std::vector<WorkloadTiming> workloads;
  std::string baseline;
  Ratio score;
  std::map<std::string, Ratio> ratios;
};

using Verdict = std::variant<Unparsable, Duplicate, Unsupported, Rejected, CompileFailed,
                             LimitExceeded, Crashed, TimedOut, Unsafe, InputChanged, WrongResult,
                             AssertionFailed, Verified, Modelled, Measured>;

struct Outcome {
  Verdict verdict = Unsupported{};
  Stage stage = Stage::parse;  ///< the last stage it entered
  std::string workload;        ///< where it failed, or empty
  Select select;               ///< tunables chosen, with Measured, Modelled and Verified
  int measurements = 0;        ///< timed batches it took
  std::vector<std::string> notes;

  /// Passed: a closed node may hold it.
  bool passed() const;
  /// The score, where there is one: ratio to the baseline.
  std::optional<Ratio> score() const;
};

/// "Measured", "WrongResult", ...
std::string_view kind(const Outcome& outcome);
/// One line for a person: "WrongResult on tiny_1x7: out[0, 3] is nan, wanted 0.25".
std::string summary(const Outcome& outcome);

base::Json to_json(const Ratio& ratio);
base::Result<Ratio> parse_ratio(const base::Json& json, std::string_view where);
base::Json to_json(const WorkloadTiming& timing);
base::Result<WorkloadTiming> parse_timing(const base::Json& json, std::string_view where);

base::Json to_json(const Outcome& outcome);
base::Result<Outcome> parse_outcome(const base::Json& json, std::string_view where);

/// The environment failed: no outcome, no node is blamed, the request is tried again.
struct Lost {
  std::string reason;
};
using EvaluateReply = std::variant<Outcome, Lost>;

}  // namespace ksearch::kernel
