// ksearch check: a Metal or CUDA kernel, run here, and everything that is wrong with it.
#include "simt/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>

#include "cli/check_program.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/trace_text.h"
#include "report/columns.h"
#include "simt/headers.h"
#include "simt/object.h"
#include "simt/schedules.h"
#include "simt/stages.h"

namespace ksearch::cli {
namespace {
namespace fs = std::filesystem;

std::array<std::uint32_t, 3> triple(const std::vector<std::uint32_t>& numbers) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  std::copy_n(numbers.begin(), std::min<std::size_t>(numbers.size(), 3), result.begin());
  return result;
}

/// --constant 3=true
base::Result<std::map<int, std::string>> parse_constants(const std::vector<std::string>& texts) {
  std::map<int, std::string> constants;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool number =
        equals != std::string::npos && equals > 0 && text.find_first_not_of("0123456789") == equals;
    const std::string value = number ? text.substr(equals + 1) : "";
    if (value.empty() || (value != "true" && value != "false" &&
                          value.find_first_not_of("0123456789.+-eE") != std::string::npos))
      return base::usage_error("--constant " + text, "it is no INDEX=VALUE",
                               "--constant 3=true, --constant 0=64");
    constants[std::stoi(text.substr(0, equals))] = value;
  }
  return constants;
}

/// Buffers with start contents are its inputs, the others its outputs.
base::Result<simt::Body> body_of(const simt::Case& all, const CheckOptions& options) {
  simt::Body body;
  body.atomic_outputs = options.atomic_outputs;
  for (const simt::Buffer& buffer : all.buffers)
    (buffer.role == simt::Role::in ? body.inputs : body.outputs).push_back(buffer.name);
  if (body.outputs.empty()) return base::usage_error("--buffer", "a body has an output at least");
  for (const std::string& text : options.arguments) {
    const std::size_t equals = text.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : simt::template_argument(text.substr(equals + 1));
    if (!value || equals == 0)
      return base::usage_error("--template " + text, "it is no NAME=VALUE",
                               "--template T=float32, --template N=64, --template FAST=true");
    body.arguments.emplace_back(text.substr(0, equals), *value);
  }
  return body;
}

base::Result<std::vector<std::pair<std::string, std::string>>> headers_of(
    const CheckOptions& options) {
  const fs::path beside = fs::path(options.file).parent_path();
  KS_TRY(auto headers, simt::read_headers(beside.empty() ? "." : beside, false));
  for (const std::string& folder : options.include) {
    KS_TRY(const auto more, simt::read_headers(folder, true));
    // One of this name beside the source, or in a folder named before, comes first.
    for (const auto& header : more)
      if (std::none_of(headers.begin(), headers.end(),
                       [&](const auto& known) { return known.first == header.first; }))
        headers.push_back(header);
  }
  return headers;
}

/// An option that describes a launch, where one was given.
const char* launch_option(const CheckOptions& o) {
  const std::vector<std::uint32_t> one{1};
  const std::pair<const char*, bool> given[] = {{"--kernel", !o.kernel.empty()},
                                                {"--groups", o.groups != one},
                                                {"--group-size", o.group_size != one},
                                                {"--threads", !o.threads.empty()},
                                                {"--group-memory", !o.group_memory.empty()},
                                                {"--buffer", !o.buffers.empty()},
                                                {"--constant", !o.constants.empty()},
                                                {"--param", !o.params.empty()},
                                                {"--symbol", !o.symbols.empty()},
                                                {"--define", !o.defines.empty()},
                                                {"--template", !o.arguments.empty()},
                                                {"--body", o.body},
                                                {"--atomic-outputs", o.atomic_outputs}};
  for (const auto& [name, is] : given)
    if (is) return name;
  return nullptr;
}

base::Result<simt::Case> case_of(const CheckOptions& options) {
  simt::Case all;
  if (fs::path(options.file).extension() == ".json") {
    if (const char* option = launch_option(options))
      return base::usage_error(option, "a case file says this itself", "change it there");
    KS_TRY(all, simt::load_case(options.file));
    KS_TRY(all.headers, headers_of(options));
    return all;
  }
  all.file = fs::path(options.file).filename();
  all.dialect = simt::dialect_of(options.file);
  KS_TRY(all.source, os::read_file(options.file));
  if (options.kernel.empty() && !options.body)
    return base::usage_error("--kernel", "which kernel of the file is meant?",
                             "--kernel NAME --groups N --group-size N --buffer ...");
  simt::Launch launch;
  launch.kernel = options.kernel;
  launch.group_size = triple(options.group_size);
  launch.groups = triple(options.groups);
  if (!options.threads.empty()) launch.threads = triple(options.threads);
  launch.group_memory = options.group_memory;
  KS_TRY(launch.constants, parse_constants(options.constants));
  for (const std::string& text : options.params) {
    KS_TRY(launch.values.emplace_back(), simt::parse_value(text));
  }
  all.launches.push_back(std::move(launch));
  for (const std::string& text : options.buffers) {
    KS_TRY(simt::Buffer buffer, simt::parse_buffer(text));
    buffer.index = static_cast<int>(all.buffers.size());
    all.buffers.push_back(std::move(buffer));
  }
  for (const std::string& text : options.symbols) {
    KS_TRY(simt::Buffer buffer, simt::parse_buffer(text));
    buffer.symbol = true;
    all.buffers.push_back(std::move(buffer));
  }
  for (const std::string& text : options.defines) {
    const std::size_t equals = text.find('=');
    all.defines.emplace_back(text.substr(0, equals),
                             equals == std::string::npos ? "1" : text.substr(equals + 1));
  }
  if (options.body) {
    KS_TRY(all.body, body_of(all, options));
  }
  KS_TRY(all.headers, headers_of(options));
  return all;
}

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
  const toolchain::Builder builder(clang, sandbox, os::cache_folder(context.environment));
  simt::CheckOptions how;
  KS_TRY(const auto schedules, simt::parse_schedules(options.schedule));
  how.time = std::chrono::seconds(options.seconds);
  how.optimize = options.optimize;
  KS_TRY(how.trace_groups, simt::parse_trace_groups(options.trace_groups));
  how.watch = !options.no_trace;
  if (options.no_trace) how.trace_groups = 0;
  how.jobs = options.jobs > 0 ? options.jobs : std::max<std::size_t>(os::allowed_cpus().size(), 1);
  how.memory_bytes = static_cast<std::uint64_t>(options.memory_gib * (1 << 30));
  how.worker = {os::executable_path().string(), "worker", "simt"};
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
    fmt::print("{}", base::to_text(simt::to_json(report)));
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
  fmt::print("{}\n", report.clean()
                         ? report::paint(style, report::Paint::good, "clean")
                         : report::paint(style, report::Paint::bad,
                                         fmt::format("{} finding{}", report.findings.size(),
                                                     report.findings.size() == 1 ? "" : "s")));
  if (report.trace.contains("stages"))
    for (const base::Json& stage : report.trace["stages"]) fmt::print("{}", trace_text(stage));
  else
    fmt::print("{}", trace_text(report.trace));
  return code;
}

}  // namespace ksearch::cli
