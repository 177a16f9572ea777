#include "simt/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "os/shared_memory.h"
#include "simt/engine/finding.h"
#include "simt/engine/worker.h"
#include "simt/explain.h"
#include "simt/fill.h"
#include "simt/msl/body.h"
#include "simt/object.h"
#include "simt/stages.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;
using base::Json;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostThreads = 1024;  // Metal feature tables
constexpr std::size_t kSharedAlignment = 256;
constexpr std::size_t kReportBytes = 8 << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t threads_of(const Launch& launch) {
  return launch.group_size[0] * launch.group_size[1] * launch.group_size[2];
}

std::optional<Finding> too_large(const Launch& launch, int number) {
  const std::uint32_t threads = threads_of(launch);
  if (threads <= kMostThreads) return std::nullopt;
  Finding finding;
  finding.kind = kind::kGroupSizeLimit;
  finding.launch = number;
  finding.message = fmt::format("launch {} of {} has groups of {} threads. {}", number,
                                launch.kernel, threads, explain(finding.kind).why);
  return finding;
}

/// Buffers in memory that the worker maps too.
struct Shared {
  os::SharedMemory memory;
  std::vector<std::size_t> at;
};

base::Result<Shared> share(const Case& all) {
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch-check"));
  Shared shared{std::move(memory), {}};
  std::size_t end = 0;
  for (const Buffer& buffer : all.buffers) {
    shared.at.push_back(end);
    end += (buffer.bytes() + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  }
  if (end > 0) KS_RETURN_IF_ERROR(shared.memory.resize(end));
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    KS_RETURN_IF_ERROR(
        fill(all.buffers[i], shared.memory.bytes().subspan(shared.at[i], all.buffers[i].bytes())));
  return shared;
}

Json bind_json(const Case& all, const Launch& launch) {
  Json bind = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    if (launch.bind.empty()) bind.push_back({all.buffers[i].index, i});
    for (const auto& [index, name] : launch.bind)
      if (name == all.buffers[i].name) bind.push_back({index, i});
  }
  return bind;
}

Json job_json(const Case& all, const fs::path& object, const Shared& shared,
              const CheckOptions& options) {
  Json buffers = Json::array(), launches = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    buffers.push_back({{"name", all.buffers[i].name},
                       {"role", name(all.buffers[i].role)},
                       {"bytes", all.buffers[i].bytes()},
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
              {"bind", bind_json(all, launch)}};
    if (launch.threads) json["threads"] = *launch.threads;
    launches.push_back(std::move(json));
  }
  return {{"object", object.string()},
          {"buffers", std::move(buffers)},
          {"shared_bytes", shared.memory.bytes().size()},
          {"schedule", options.schedule.name},
          {"seed", options.schedule.seed},
          {"launches", std::move(launches)}};
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
                    .cpu_seconds = static_cast<std::uint64_t>(options.time.count())};
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
  if (!report || !report->is_object()) {
    const int signal = finished.status.killed_by();
    return base::internal_error(
        "the checking process",
        fmt::format("left with {} {}: {}", signal ? "signal" : "status",
                    signal ? signal : finished.status.code, text.substr(0, 500)));
  }
  if (report->contains("failed")) {
    const std::string why = report->value("failed", "");
    return report->value("usage", false)
               ? base::usage_error(report->value("where", ""), why, report->value("todo", ""))
               : base::internal_error(report->value("where", ""), why);
  }
  return *report;
}

std::string sentence(const Finding& finding, const std::string& detail) {
  std::string text = detail;
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const Explanation why = explain(finding.kind);
  return fmt::format("{}. {}", text, why.why);
}

/// What the worker said, with lines. It ran foreign code: a report that does not have the form is
/// an error, never an exception.
base::Result<void> read_findings(const toolchain::Builder& builder, const fs::path& object,
                                 const Json& report, Report& result) {
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
      finding.buffer = json.at("buffer");
      if (const auto offset = json.at("offset").get<std::int64_t>(); !finding.buffer.empty())
        finding.offset = offset;
      finding.threads = json.at("threads").get<std::vector<std::uint32_t>>();
      finding.group = json.at("group").get<std::array<std::uint32_t, 3>>();
      finding.count = json.at("count");
      finding.launch = json.at("launch");
      finding.message = sentence(finding, json.at("detail"));
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

}  // namespace

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
    if (auto finding = too_large(all.launches[i], static_cast<int>(i))) {
      result.findings.push_back(std::move(*finding));
      result.trace = Json::object();
      return result;
    }
  for (const Launch& launch : all.launches)
    if (launch.constants != all.launches.front().constants)
      return check_stages(builder, all, options);
  const auto start = Clock::now();
  KS_TRY(Object built, build_object(builder, all, options.optimize));
  const fs::path& object = built.file;
  result.warnings = std::move(built.warnings);
  result.compile_seconds = seconds_since(start);
  KS_TRY(const Shared shared, share(all));
  const auto started = Clock::now();
  KS_TRY(const Json report,
         run_worker(builder, object, job_json(all, object, shared, options), shared, options));
  result.run_seconds = seconds_since(started);
  KS_RETURN_IF_ERROR(read_findings(builder, object, report, result));
  result.trace = report.value("trace", Json::object());
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    if (all.buffers[i].role == Role::in) continue;
    const auto bytes = shared.memory.bytes().subspan(shared.at[i], all.buffers[i].bytes());
    result.outputs[all.buffers[i].name].assign(reinterpret_cast<const char*>(bytes.data()),
                                               bytes.size());
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
        {"message", finding.message}, {"count", finding.count},
        {"launch", finding.launch}};
    findings.push_back(std::move(json));
  }
  return {{"verdict", report.clean() ? "clean" : "findings"},
          {"warnings", report.warnings},
          {"findings", std::move(findings)},
          {"trace", report.trace}};
}

}  // namespace ksearch::simt
