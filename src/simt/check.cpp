#include "simt/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <future>

#include "simt/engine/finding.h"
#include "simt/explain.h"
#include "simt/findings.h"
#include "simt/msl/body.h"
#include "simt/object.h"
#include "simt/run_job.h"
#include "simt/shared_buffers.h"
#include "simt/stages.h"
#include "simt/traced.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;
using base::Json;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostThreads = 1024;  // Metal feature tables, CUDA's compute capabilities
constexpr std::uint32_t kCudaGroupMemory = 227 << 10;  // compute capability 9.0
/// Buffers up to so many bytes are filled while the kernel compiles: a fault in its text is told as
/// soon as ever.
constexpr std::uint64_t kFillAhead = 16 << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t threads_of(const Launch& launch) {
  return launch.group_size[0] * launch.group_size[1] * launch.group_size[2];
}

std::uint64_t bytes_of(const Case& all) {
  std::uint64_t bytes = 0;
  for (const Buffer& buffer : all.buffers) bytes += buffer.bytes();
  return bytes;
}

std::optional<Finding> too_large(const Launch& launch, int number, Dialect dialect,
                                 const GroupLimits& limits) {
  const std::uint32_t threads = threads_of(launch);
  Finding finding;
  if (dialect == Dialect::cuda && !launch.group_memory.empty() &&
      launch.group_memory[0] > kCudaGroupMemory) {
    finding.kind = kind::kGroupMemoryLimit;
    finding.launch = number;
    finding.message =
        fmt::format("launch {} of {} asks for {} bytes of shared memory. {}", number, launch.kernel,
                    launch.group_memory[0], explain(finding.kind, dialect).why);
    finding.fix = explain(finding.kind, dialect).fix;
    return finding;
  }
  if (threads <= (limits.threads > 0 ? std::min(limits.threads, kMostThreads) : kMostThreads))
    return std::nullopt;
  finding.kind = kind::kGroupSizeLimit;
  finding.launch = number;
  finding.message = fmt::format("launch {} of {} has groups of {} threads. {}", number,
                                launch.kernel, threads, explain(finding.kind, dialect).why);
  finding.fix = explain(finding.kind, dialect).fix;
  return finding;
}

std::optional<Finding> first_too_large(const Case& all, const GroupLimits& limits) {
  for (std::size_t i = 0; i < all.launches.size(); ++i)
    if (auto finding = too_large(all.launches[i], static_cast<int>(i), all.dialect, limits))
      return finding;
  return std::nullopt;
}

/// What the buffers need of this machine's memory; checked before any of it is touched.
base::Result<void> check_size(const Case& all) {
  const std::uint64_t bytes = bytes_of(all);
  const auto here = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes <= here) return {};
  constexpr double kGiB = 1 << 30;
  return base::usage_error(
      "the buffers",
      fmt::format("need {:.1f} GiB, this machine has {:.1f} GiB", static_cast<double>(bytes) / kGiB,
                  static_cast<double>(here) / kGiB),
      "check a smaller launch");
}

void take_outputs(const Case& all, const SharedBuffers& shared, Report& result) {
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    const Buffer& buffer = all.buffers[i];
    if (buffer.role == Role::in) continue;
    result.outputs[buffer.name] = shared.contents(i);
    if (shared.written_at(i)) result.written[buffer.name] = shared.written(i);
  }
}

/// Whether a kernel that was found to do this can be run without a check of what it does.
bool can_trace(const Report& report) {
  return std::none_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return finding.kind == kind::kLivelock || finding.kind == kind::kStackOverflow ||
           finding.kind == kind::kCrash;
  });
}

void warn_of_thread_limit(const Case& all, Report& report) {
  const Json& pipeline = report.trace.at("pipeline");
  const auto limit = pipeline.at("thread_limit").get<std::uint32_t>();
  for (const Launch& launch : all.launches)
    if (threads_of(launch) > limit) {
      report.warnings.push_back(fmt::format(
          "{} is launched in groups of {} threads; for about {} registers of 16 bits a thread, M1 "
          "and M2 have room for {} (an estimate)",
          launch.kernel, threads_of(launch), pipeline.at("half_registers").get<int>(), limit));
      return;
    }
}

/// What a trace starts from where nothing was watched.
Json unwatched_trace(const Case& all) {
  Json buffers = Json::array();
  for (const Buffer& buffer : all.buffers)
    buffers.push_back({{"name", buffer.name}, {"bytes", buffer.bytes()}});
  return {{"buffers", std::move(buffers)}};
}

/// Runs the launches again, uninstrumented but for counts; what they say becomes part of the trace.
base::Result<Json> traced(const toolchain::Builder& builder, const Case& all,
                          const base::Result<TracedObject>& object, const SharedBuffers& shared,
                          CheckOptions options, Report& result) {
  if (!object) return std::unexpected(object.error());
  KS_RETURN_IF_ERROR(shared.refill(all));
  options.watch = false;
  const Json trace{{"blocks", object->program.blocks.size()},
                   {"sites", object->program.sites.size()},
                   {"most_groups", options.trace_groups},
                   {"seed", options.schedule.seed},
                   {"whole", options.trace_whole}};
  KS_TRY(const Json counted, run_job(builder, all, object->file, shared, options, trace));
  result.trace_cpu_seconds = counted.value("cpu_seconds", 0.0);
  result.trace["group_memory_bytes"] = counted.value("group_memory_bytes", 0);
  return trace_report(object->program, counted, result.trace);
}

base::Result<Report> trace_alone(const toolchain::Builder& builder, const Case& all,
                                 const CheckOptions& options) {
  Report result;
  const auto start = Clock::now();
  KS_TRY(const Prepared prepared, prepare(builder, all));
  const base::Result<TracedObject> object = build_traced(builder, prepared);
  result.compile_seconds = seconds_since(start);
  KS_TRY(const SharedBuffers shared, SharedBuffers::create(all));
  result.trace = unwatched_trace(all);
  const auto tracing = Clock::now();
  KS_TRY(result.trace, traced(builder, all, object, shared, options, result));
  result.trace_seconds = seconds_since(tracing);
  if (options.trace_whole) take_outputs(all, shared, result);
  return result;
}

}  // namespace

base::Result<std::uint32_t> parse_trace_groups(std::string_view text) {
  if (text == "all") return kAllGroups;
  std::uint32_t count = 0;
  const auto end = text.data() + text.size();
  if (!text.empty() && std::from_chars(text.data(), end, count).ptr == end) return count;
  return base::usage_error("--trace-groups", fmt::format("\"{}\" is no number of groups", text),
                           "a number, 0 for no trace, all");
}

base::Result<ScheduleChoice> parse_schedule(std::string_view text) {
  if (text == "default" || text == "reversed") return ScheduleChoice{std::string(text), 0};
  constexpr std::string_view kRandom = "random:";
  ScheduleChoice choice{"random", 0};
  if (text.starts_with(kRandom)) {
    const std::string_view seed = text.substr(kRandom.size());
    const auto end = seed.data() + seed.size();
    if (!seed.empty() && std::from_chars(seed.data(), end, choice.seed).ptr == end) return choice;
  }
  return base::usage_error("--schedule", fmt::format("\"{}\" is unknown", text),
                           "default, reversed, random:SEED");
}

base::Result<Report> check(const toolchain::Builder& builder, const Case& given,
                           const CheckOptions& options) {
  Report result;
  Case all = given;
  if (given.body) {
    KS_TRY(all, msl::with_body_buffers(given));
  }
  if (auto finding = first_too_large(all, options.limits)) {
    result.findings.push_back(std::move(*finding));
    result.trace = Json::object();
    return result;
  }
  for (const Launch& launch : all.launches)
    if (all.dialect == Dialect::cuda && launch.threads)
      return base::usage_error("--threads", "CUDA launches whole blocks", "give --groups");
  for (const Launch& launch : all.launches)
    if (launch.constants != all.launches.front().constants)
      return check_stages(builder, all, options);
  KS_RETURN_IF_ERROR(check_size(all));
  if (options.trace_only) return trace_alone(builder, all, options);
  const auto start = Clock::now();
  auto filled = std::async(bytes_of(all) <= kFillAhead ? std::launch::async : std::launch::deferred,
                           [&all] { return SharedBuffers::create(all); });
  KS_TRY(const Prepared prepared, prepare(builder, all));
  std::future<base::Result<TracedObject>> traced_object;
  if (options.trace_groups > 0 && options.watch)
    traced_object = std::async(std::launch::async, [&] { return build_traced(builder, prepared); });
  KS_TRY(const fs::path object,
         build_object(builder, prepared, {.optimize = options.optimize, .watch = options.watch}));
  result.warnings = prepared.warnings;
  result.compile_seconds = seconds_since(start);
  KS_TRY(const SharedBuffers shared, filled.get());
  const auto started = Clock::now();
  KS_TRY(const Json report, run_job(builder, all, object, shared, options));
  result.run_seconds = seconds_since(started);
  result.kernel_seconds = report.value("seconds", 0.0);
  result.kernel_cpu_seconds = report.value("cpu_seconds", 0.0);
  KS_RETURN_IF_ERROR(read_findings(builder, object, report, all.dialect, result));
  result.trace = report.value("trace", Json::object());
  take_outputs(all, shared, result);
  if (traced_object.valid() && can_trace(result)) {
    const auto tracing = Clock::now();
    auto trace = traced(builder, all, traced_object.get(), shared, options, result);
    result.trace_seconds = seconds_since(tracing);
    // What is wrong with the kernel is known; how much it does is not then.
    if (trace) {
      result.trace = std::move(*trace);
      if (options.limits.by_registers) warn_of_thread_limit(all, result);
    } else {
      result.trace["not_traced"] = trace.error().text();
    }
  }
  return result;
}

}  // namespace ksearch::simt
