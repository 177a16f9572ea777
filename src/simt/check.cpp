#include "simt/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>

#include "os/refused_call.h"
#include "os/shared_memory.h"
#include "simt/engine/finding.h"
#include "simt/engine/worker.h"
#include "simt/explain.h"
#include "simt/fill.h"
#include "simt/msl/body.h"
#include "simt/object.h"
#include "simt/stages.h"
#include "simt/traced.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;
using base::Json;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostThreads = 1024;  // Metal feature tables, CUDA's compute capabilities
constexpr std::uint32_t kCudaGroupMemory = 227 << 10;  // compute capability 9.0
constexpr std::size_t kSharedAlignment = 16 << 10;     // a page of any system
constexpr std::size_t kReportBytes = 8 << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t threads_of(const Launch& launch) {
  return launch.group_size[0] * launch.group_size[1] * launch.group_size[2];
}

std::optional<Finding> too_large(const Launch& launch, int number, Dialect dialect) {
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
  if (threads <= kMostThreads) return std::nullopt;
  finding.kind = kind::kGroupSizeLimit;
  finding.launch = number;
  finding.message = fmt::format("launch {} of {} has groups of {} threads. {}", number,
                                launch.kernel, threads, explain(finding.kind, dialect).why);
  finding.fix = explain(finding.kind, dialect).fix;
  return finding;
}

/// Buffers in memory that the worker maps too.
struct Shared {
  os::SharedMemory memory;
  std::vector<std::size_t> at;
};

base::Result<void> refill(const Case& all, const Shared& shared, std::size_t i) {
  return fill(all.buffers[i], shared.memory.bytes().subspan(shared.at[i], all.buffers[i].bytes()));
}

base::Result<Shared> share(const Case& all) {
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch-check"));
  Shared shared{std::move(memory), {}};
  std::size_t end = 0;
  for (const Buffer& buffer : all.buffers) {
    shared.at.push_back(end);
    end += (buffer.bytes() + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  }
  if (end > 0) KS_RETURN_IF_ERROR(shared.memory.resize(end));
  for (std::size_t i = 0; i < all.buffers.size(); ++i) KS_RETURN_IF_ERROR(refill(all, shared, i));
  return shared;
}

Json bind_json(const Case& all, const Launch& launch) {
  Json bind = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    if (launch.bind.empty() && !all.buffers[i].symbol) bind.push_back({all.buffers[i].index, i});
    for (const auto& [index, name] : launch.bind)
      if (name == all.buffers[i].name) bind.push_back({index, i});
  }
  return bind;
}

Json values_json(const Case& all, const Launch& launch) {
  Json values = Json::array();
  for (const Value& value : launch.values) {
    if (value.integer) {
      values.push_back({{"integer", *value.integer}});
    } else if (value.number) {
      values.push_back({{"number", *value.number}});
    } else {
      Json fields = Json::array();
      for (const Value::Field& field : value.fields) {
        for (std::size_t i = 0; i < all.buffers.size(); ++i)
          if (!field.buffer.empty() && all.buffers[i].name == field.buffer)
            fields.push_back({{"buffer", i}});
        if (field.buffer.empty())
          fields.push_back({{"align", field.bytes.size()},
                            {"bytes", std::vector<int>(field.bytes.begin(), field.bytes.end())}});
      }
      values.push_back({{"fields", std::move(fields)}});
    }
  }
  return values;
}

Json job_json(const Case& all, const fs::path& object, const Shared& shared, bool locked,
              const CheckOptions& options, const Json& trace) {
  Json buffers = Json::array(), launches = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    buffers.push_back({{"name", all.buffers[i].name},
                       {"role", name(all.buffers[i].role)},
                       {"bytes", all.buffers[i].bytes()},
                       {"symbol", all.buffers[i].symbol},
                       {"null", all.buffers[i].null},
                       {"at", shared.at[i]}});
  for (const Launch& launch : all.launches) {
    std::array<std::uint32_t, 3> groups = launch.groups;
    if (launch.threads)
      for (std::size_t d = 0; d < 3; ++d)
        groups[d] = ((*launch.threads)[d] + launch.group_size[d] - 1) / launch.group_size[d];
    Json json{{"kernel", launch.kernel},
              {"number", launches.size()},
              {"groups", groups},
              {"group_size", launch.group_size},
              {"group_memory", launch.group_memory},
              {"values", values_json(all, launch)},
              {"bind", bind_json(all, launch)}};
    if (launch.threads) json["threads"] = *launch.threads;
    launches.push_back(std::move(json));
  }
  Json job{{"object", object.string()},
           {"buffers", std::move(buffers)},
           {"watch", options.watch},
           {"jobs", options.jobs},
           {"memory_bytes", options.memory_bytes},
           {"locked", locked},
           {"patience", options.patience.count()},
           {"schedule", options.schedule.name},
           {"seed", options.schedule.seed},
           {"dialect", all.dialect == Dialect::cuda ? "cuda" : "metal"},
           {"launches", std::move(launches)}};
  if (!trace.is_null()) job["trace"] = trace;
  return job;
}

/// What a worker that gave no report says about the kernel.
std::unexpected<base::Error> explain_end(const os::Finished& finished, std::string_view text) {
  const int signal = finished.status.killed_by();
  if (signal == SIGSYS)  // refused with all signals blocked, as when a thread is started
    return base::usage_error("the kernel", "it starts a thread or a process",
                             "a kernel computes, and nothing else");
  if (signal == SIGXCPU || signal == SIGKILL)
    return base::usage_error("the kernel", "it used up its time or the machine's memory",
                             "check a smaller launch");
  return base::internal_error(
      "the checking process",
      fmt::format("left with {} {}: {}", signal ? "signal" : "status",
                  signal ? signal : finished.status.code, text.substr(0, 500)));
}

std::unexpected<base::Error> explain_failure(const Json& report) {
  if (report.contains("refused"))
    return base::usage_error("the kernel",
                             os::describe_refused_call(report.value("refused", 0l),
                                                       report.value("first", std::uint64_t{0}), {}),
                             "a kernel computes, and nothing else");
  const std::string why = report.value("failed", ""), where = report.value("where", "");
  return report.value("usage", false) ? base::usage_error(where, why, report.value("todo", ""))
                                      : base::internal_error(where, why);
}

/// Runs the worker; its last line is the report.
base::Result<Json> run_worker(const toolchain::Builder& builder, const fs::path& object,
                              const Json& job, const Shared& shared, const CheckOptions& options) {
  KS_TRY(const os::TempFolder folder, os::TempFolder::create("ksearch-check"));
  const fs::path file = folder.path() / "job.json";
  KS_RETURN_IF_ERROR(os::write_file(file, base::to_line(job)));
  os::Command command;
  command.argv = options.worker;
  command.argv.push_back(file.string());
  command.descriptors = {{shared.memory.descriptor(), kMemoryDescriptor}};
  command.limits = {.file_bytes = 0,
                    .open_files = 64,
                    .cpu_seconds = static_cast<std::uint64_t>(options.time.count()) * options.jobs};
  os::Policy policy;
  policy.read = {command.argv.front(), folder.path(), object};
  KS_TRY(command, builder.sandbox().confine(command, policy));
  KS_TRY(const os::Finished finished, os::run(command, options.time, kReportBytes));
  if (finished.timed_out)
    return base::usage_error("the kernel",
                             fmt::format("did not end within {} s", options.time.count()),
                             "check a smaller launch");
  std::string_view text = finished.output;
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t line = text.rfind('\n');
  const auto report =
      base::parse_json(line == std::string_view::npos ? text : text.substr(line + 1), "report");
  if (!report || !report->is_object()) return explain_end(finished, text);
  if (report->contains("failed") || report->contains("refused")) return explain_failure(*report);
  return *report;
}

/// On several threads first; on one where groups turn out to need an order (see engine/crew.h).
base::Result<Json> run_job(const toolchain::Builder& builder, const Case& all,
                           const fs::path& object, const Shared& shared, CheckOptions options,
                           const Json& trace = {}) {
  const bool locked = builder.sandbox().way() != os::SandboxWay::none;
  KS_TRY(Json report,
         run_worker(builder, object, job_json(all, object, shared, locked, options, trace), shared,
                    options));
  if (!report.contains("again")) return report;
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    if (all.buffers[i].role == Role::inout) KS_RETURN_IF_ERROR(refill(all, shared, i));
  options.jobs = 1;
  return run_worker(builder, object, job_json(all, object, shared, locked, options, trace), shared,
                    options);
}

/// What the buffers need of this machine's memory; checked before any of it is touched.
base::Result<void> check_size(const Case& all) {
  std::uint64_t bytes = 0;
  for (const Buffer& buffer : all.buffers) bytes += buffer.bytes();
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

std::string sentence(const Finding& finding, const std::string& detail, Dialect dialect) {
  std::string text = in_words_of(dialect, detail);
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return fmt::format("{}. {}", text, explain(finding.kind, dialect).why);
}

/// What the worker said, with lines. It ran foreign code: a report that does not have the form is
/// an error, never an exception.
base::Result<void> read_findings(const toolchain::Builder& builder, const fs::path& object,
                                 const Json& report, Dialect dialect, Report& result) {
  const Json& findings = report.value("findings", Json::array());
  std::vector<std::uint64_t> places;
  try {
    for (const Json& finding : findings)
      for (const Json& place : finding.at("places")) places.push_back(place.get<std::uint64_t>());
    KS_TRY(const auto lines, locate(builder.sandbox(), object, places));
    for (const Json& json : findings) {
      Finding finding;
      finding.kind = json.at("kind");
      for (const Json& place : json.at("places")) {
        const auto line = lines.find(place.get<std::uint64_t>());
        if (line == lines.end()) continue;
        finding.where.push_back(line->second);
      }
      finding.buffer = in_words_of(dialect, json.at("buffer"));
      if (const auto offset = json.at("offset").get<std::int64_t>(); !finding.buffer.empty())
        finding.offset = offset;
      finding.threads = json.at("threads").get<std::vector<std::uint32_t>>();
      finding.group = json.at("group").get<std::array<std::uint32_t, 3>>();
      finding.count = json.at("count");
      finding.launch = json.at("launch");
      finding.message = sentence(finding, json.at("detail"), dialect);
      finding.fix = explain(finding.kind, dialect).fix;
      // Several instructions of one line say the same thing.
      const auto same =
          std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& f) {
            return f.kind == finding.kind && f.where == finding.where && f.buffer == finding.buffer;
          });
      if (same == result.findings.end())
        result.findings.push_back(std::move(finding));
      else
        same->count += finding.count;
    }
  } catch (const Json::exception& error) {
    return base::internal_error("report of the checking process", error.what());
  }
  return {};
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
                          const base::Result<TracedObject>& object, const Shared& shared,
                          CheckOptions options, Report& result) {
  if (!object) return std::unexpected(object.error());
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    if (all.buffers[i].role == Role::inout) KS_RETURN_IF_ERROR(refill(all, shared, i));
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

void take_outputs(const Case& all, const Shared& shared, Report& result) {
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    if (all.buffers[i].role == Role::in) continue;
    const auto bytes = shared.memory.bytes().subspan(shared.at[i], all.buffers[i].bytes());
    result.outputs[all.buffers[i].name].assign(reinterpret_cast<const char*>(bytes.data()),
                                               bytes.size());
  }
}

base::Result<Report> trace_alone(const toolchain::Builder& builder, const Case& all,
                                 const CheckOptions& options) {
  Report result;
  const auto start = Clock::now();
  KS_TRY(const Prepared prepared, prepare(builder, all));
  const base::Result<TracedObject> object = build_traced(builder, prepared);
  result.compile_seconds = seconds_since(start);
  KS_TRY(const Shared shared, share(all));
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
  for (std::size_t i = 0; i < all.launches.size(); ++i)
    if (auto finding = too_large(all.launches[i], static_cast<int>(i), all.dialect)) {
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
  KS_TRY(const Prepared prepared, prepare(builder, all));
  std::future<base::Result<TracedObject>> traced_object;
  if (options.trace_groups > 0 && options.watch)
    traced_object = std::async(std::launch::async, [&] { return build_traced(builder, prepared); });
  KS_TRY(const fs::path object,
         build_object(builder, prepared, {.optimize = options.optimize, .watch = options.watch}));
  result.warnings = prepared.warnings;
  result.compile_seconds = seconds_since(start);
  KS_TRY(const Shared shared, share(all));
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
      warn_of_thread_limit(all, result);
    } else {
      result.trace["not_traced"] = trace.error().text();
    }
  }
  return result;
}

base::Json to_json(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    Json where = Json::array();
    for (const SourceLine& line : finding.where)
      where.push_back({{"file", line.file}, {"line", line.line}});
    Json json{
        {"kind", finding.kind},       {"where", std::move(where)},
        {"buffer", finding.buffer},   {"offset", finding.offset ? Json(*finding.offset) : Json()},
        {"threads", finding.threads}, {"group", finding.group},
        {"message", finding.message}, {"fix", finding.fix},
        {"count", finding.count},     {"launch", finding.launch}};
    findings.push_back(std::move(json));
  }
  Json json{{"verdict", report.clean() ? "clean" : "findings"},
            {"warnings", report.warnings},
            {"findings", std::move(findings)},
            {"trace", report.trace}};
  for (const Difference& d : report.differences)
    json["differences"].push_back({{"schedule", d.schedule},
                                   {"buffer", d.buffer},
                                   {"elements", d.elements},
                                   {"of", d.of},
                                   {"largest", d.largest},  // null: infinite
                                   {"largest_value", d.largest_value}});
  return json;
}

}  // namespace ksearch::simt
