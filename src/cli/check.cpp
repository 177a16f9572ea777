// ksearch check: a Metal or CUDA kernel, run here, and everything that is wrong with it.
#include "simt/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>

#include "cli/check_case.h"
#include "cli/check_program.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/trace_text.h"
#include "report/columns.h"
#include "simt/object.h"
#include "simt/schedules.h"
#include "simt/stages.h"
#include "target/metal/gpu_profile.h"

namespace ksearch::cli {
namespace {
namespace fs = std::filesystem;

/// The sources of a program, where the lines of findings are looked up.
simt::Case shown(const simt::ProgramCases& program) {
  simt::Case all;
  for (const simt::Case& one : program.cases) {
    all.headers.emplace_back(one.file, one.source);
    all.headers.insert(all.headers.end(), one.headers.begin(), one.headers.end());
  }
  return all;
}

std::vector<std::string> lines_of(const std::string& source) {
  std::vector<std::string> lines;
  std::istringstream stream(source);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The text of a line, or nothing where its file is not at hand.
std::string text_of(const simt::Case& all, const simt::SourceLine& line) {
  const std::string* text = line.file == all.file ? &all.source : nullptr;
  for (const auto& [path, header] : all.headers)
    if (!text && fs::path(path).filename() == line.file) text = &header;
  if (!text) return {};
  const std::vector<std::string> lines = lines_of(*text);
  const auto i = static_cast<std::size_t>(line.line) - 1;
  return i < lines.size() ? lines[i] : std::string();
}

void print_finding(const report::Style& style, const simt::Case& all,
                   const simt::Finding& finding) {
  fmt::print("{}{}", report::paint(style, report::Paint::bad, finding.kind),
             finding.buffer.empty() ? "" : "  " + finding.buffer);
  if (finding.offset) fmt::print(" + {}", *finding.offset);
  fmt::print("\n");
  for (const simt::SourceLine& line : finding.where)
    fmt::print("  {}:{}: {}\n", line.file, line.line, report::printable(style, text_of(all, line)));
  if (!finding.threads.empty())
    fmt::print("  thread{} {} of group ({}), launch {}\n", finding.threads.size() > 1 ? "s" : "",
               fmt::join(finding.threads, " and "), fmt::join(finding.group, ", "), finding.launch);
  fmt::print("  {}\n  {}\n", report::printable(style, finding.message), finding.fix);
  if (finding.count > 1) fmt::print("  seen {} times\n", finding.count);
}

void print_verdict(const report::Style& style, const simt::Report& report, bool watched) {
  const std::size_t count = report.findings.size();
  if (count > 0)
    fmt::print("{}\n", report::paint(style, report::Paint::bad,
                                     fmt::format("{} finding{}", count, count == 1 ? "" : "s")));
  else if (watched)
    fmt::print("{}\n", report::paint(style, report::Paint::good, "clean"));
  else
    fmt::print("nothing found\n");
  if (!watched)
    fmt::print(
        "looked at      barriers, limits, loops without end, stack, system calls\n"
        "not looked at  bounds, races, alignment, undefined values, outputs that nobody wrote\n");
}

/// What a group may be on the device that was named.
base::Result<simt::GroupLimits> limits_of(const Context& context, const CheckOptions& options,
                                          simt::Dialect dialect) {
  if (options.device.empty()) return simt::GroupLimits{};
  if (dialect == simt::Dialect::cuda)
    return base::usage_error("--device", "known devices are Apple GPUs, the kernel is CUDA");
  KS_TRY(const target::GpuProfile gpu,
         target::load_gpu_profile(context.home.hardware_folder(), options.device));
  return simt::GroupLimits{
      .threads = static_cast<std::uint32_t>(gpu.at("max_group_size")),
      .group_memory_bytes = static_cast<std::uint32_t>(gpu.at("group_memory_limit_bytes")),
      .by_registers = gpu.thread_limits.size() > 1};
}

base::Result<simt::CheckOptions> how_of(const Context& context, const CheckOptions& options,
                                        simt::Dialect dialect) {
  simt::CheckOptions how;
  how.time = std::chrono::seconds(options.seconds);
  how.optimize = options.optimize;
  KS_TRY(how.trace_groups, simt::parse_trace_groups(options.trace_groups));
  how.watch = !options.no_trace;
  if (options.no_trace) how.trace_groups = 0;
  how.jobs = options.jobs > 0 ? options.jobs : std::max<std::size_t>(os::allowed_cpus().size(), 1);
  how.memory_bytes = static_cast<std::uint64_t>(options.memory_gib * (1 << 30));
  how.worker = {os::executable_path().string(), "worker", "simt"};
  KS_TRY(how.limits, limits_of(context, options, dialect));
  return how;
}

std::map<std::string, kernel::DType> output_types(std::span<const simt::Case> cases) {
  std::map<std::string, kernel::DType> types;
  for (const simt::Case& one : cases)
    for (const simt::Buffer& buffer : one.buffers)
      if (buffer.role != simt::Role::in) types[buffer.name] = buffer.dtype;
  return types;
}

}  // namespace

base::Result<int> check(const Context& context, const CheckOptions& options) {
  std::error_code error;
  if (!fs::exists(options.file, error)) return base::usage_error(options.file, "is not there");
  if (!options.metal_files.empty()) {
    KS_RETURN_IF_ERROR(write_metal_files(context, options));
    return kDone;
  }
  KS_TRY(const auto program, program_cases(context, options));
  simt::Case all;
  if (program) {
    all = shown(*program);
  } else {
    KS_TRY(all, case_of(options));
  }
  KS_TRY(const toolchain::Compiler clang, simt::find_clang(context.environment));
  os::SandboxOptions confinement;
  confinement.allow_none = options.no_sandbox;
  confinement.remember = os::cache_folder(context.environment) / "sandbox";
  KS_TRY(const os::Sandbox sandbox, os::Sandbox::find(confinement));
  const fs::path cache = os::cache_folder(context.environment);
  KS_RETURN_IF_ERROR(os::make_cache(cache));
  const toolchain::Builder builder(clang, sandbox, cache);
  KS_TRY(const auto schedules, simt::parse_schedules(options.schedule));
  KS_TRY(const simt::CheckOptions how, how_of(context, options, all.dialect));
  const auto run = [&](const simt::CheckOptions& one) {
    return program ? simt::check_sequence(builder, program->cases, program->scratch, one)
                   : simt::check(builder, all, one);
  };
  const auto types =
      output_types(program ? std::span<const simt::Case>(program->cases) : std::span(&all, 1));
  KS_TRY(const simt::Report report, simt::check_schedules(schedules, how, types, run));
  if (!options.dump.empty())
    for (const auto& [name, bytes] : report.outputs)
      KS_RETURN_IF_ERROR(os::write_file(fs::path(options.dump) / (name + ".bin"), bytes));
  const int code = report.clean() ? kDone : kNothingPassed;
  if (options.json) {
    base::Json json = simt::to_json(report);
    json["watched"] = how.watch;
    fmt::print("{}", base::to_text(json));
    return code;
  }
  const report::Style style = style_of(context.environment, isatty(STDOUT_FILENO) == 1);
  for (const simt::Finding& finding : report.findings) {
    print_finding(style, all, finding);
    fmt::print("\n");
  }
  for (const std::string& warning : report.warnings)
    fmt::print("warning  {}\n", report::printable(style, warning));
  for (const simt::Difference& difference : report.differences)
    fmt::print("warning  {}\n", simt::in_words(difference));
  print_verdict(style, report, how.watch);
  if (report.trace.contains("stages"))
    for (const base::Json& stage : report.trace["stages"]) fmt::print("{}", trace_text(stage));
  else
    fmt::print("{}", trace_text(report.trace));
  return code;
}

}  // namespace ksearch::cli
