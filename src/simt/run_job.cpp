#include "simt/run_job.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "os/refused_call.h"
#include "os/shared_memory.h"
#include "simt/engine/worker.h"
#include "simt/job_text.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;
using base::Json;

constexpr std::size_t kReportBytes = 8 << 20;

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
                              const Json& job, const SharedBuffers& shared,
                              const CheckOptions& options) {
  // In memory: whenever either process is ended, nothing is left.
  const std::string text = base::to_line(job);
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch-job"));
  KS_RETURN_IF_ERROR(memory.resize(text.size()));
  std::memcpy(memory.bytes().data(), text.data(), text.size());
  os::Command command;
  command.argv = options.worker;
  command.descriptors = {{shared.descriptor(), kMemoryDescriptor},
                         {memory.descriptor(), kJobDescriptor}};
  command.limits = {.file_bytes = 0,
                    .open_files = 64,
                    .cpu_seconds = static_cast<std::uint64_t>(options.time.count()) * options.jobs};
  os::Policy policy;
  policy.read = {command.argv.front(), object};
  policy.locks_itself = true;
  KS_TRY(command, builder.sandbox().confine(command, policy));
  KS_TRY(const os::Finished finished, os::run(command, options.time, kReportBytes));
  if (finished.timed_out)
    return base::usage_error("the kernel",
                             fmt::format("did not end within {} s", options.time.count()),
                             "check a smaller launch");
  std::string_view said = finished.output;
  while (said.ends_with('\n')) said.remove_suffix(1);
  const std::size_t line = said.rfind('\n');
  const auto report =
      base::parse_json(line == std::string_view::npos ? said : said.substr(line + 1), "report");
  if (!report || !report->is_object()) return explain_end(finished, said);
  if (report->contains("failed") || report->contains("refused")) return explain_failure(*report);
  return *report;
}

}  // namespace

base::Result<Json> run_job(const toolchain::Builder& builder, const Case& all,
                           const fs::path& object, const SharedBuffers& shared,
                           CheckOptions options, const Json& trace) {
  const JobExtras extras{builder.sandbox().way() != os::SandboxWay::none, trace};
  KS_TRY(Json report, run_worker(builder, object, job_json(all, object, shared, options, extras),
                                 shared, options));
  if (!report.contains("again")) return report;
  KS_RETURN_IF_ERROR(shared.refill(all));
  options.jobs = 1;
  return run_worker(builder, object, job_json(all, object, shared, options, extras), shared,
                    options);
}

}  // namespace ksearch::simt
