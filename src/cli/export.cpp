// ksearch export: a winner, or any program, as files that need no ksearch.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "formats/export_cpp.h"
#include "formats/export_mlx_cpp.h"
#include "formats/export_mlx_python.h"
#include "kernel/names.h"
#include "report/summary.h"
#include "search/recorder.h"
#include "target/cpu/profile.h"
#include "target/metal/gpu_profile.h"

namespace ksearch::cli {
namespace {

namespace fs = std::filesystem;

/// What `device.*` means in a plan of dialect mlx that was not measured.
constexpr std::string_view kAppleGpu = "apple-m1-max";

/// What is exported, whichever way it was named.
struct Subject {
  task::Task task;
  kernel::Program program;
  kernel::HardwareProfile device;
  std::vector<std::string> credit;
  std::string doubt = "it was not measured";  ///< why its speed is not certified, or empty
};

std::string ratio_line(const char* to, const std::optional<kernel::Ratio>& ratio,
                       const std::string& who) {
  if (!ratio) return "";
  return fmt::format("  {:.2f} times {}{}{} [{:.2f}, {:.2f}]", ratio->value, to,
                     who.empty() ? "" : ": ", who, ratio->low, ratio->high);
}

std::string why_not_certified(const evaluate::Certificate* certificate) {
  if (!certificate) return "the search did not come to it";
  return certificate->passed ? "" : certificate->summary();
}

base::Result<Subject> from_run(const fs::path& folder) {
  KS_TRY(const store::RunData data, store::read_run(folder));
  KS_TRY(task::Task task, task::load_task(data.info.task_folder, data.info.target));
  if (!data.info.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, data.info.where));
  KS_TRY(const search::Resumed resumed, search::reconstruct(data, task.definition));
  const search::Engine& engine = resumed.engine;
  const search::ProgramRecord* record = engine.winner() ? engine.winner() : engine.best();
  if (!record)
    return base::usage_error(folder.string(), "nothing passed in this run",
                             "there is nothing to export");
  KS_TRY(const kernel::HardwareProfile device,
         kernel::parse_hardware(data.info.device, "run.json: device"));
  Subject subject{std::move(task), record->program, device, {}, {}};
  if (record->outcome) subject.program.select = record->outcome->select;

  const report::RunSummary summary = report::summarise(data.info, engine);
  subject.credit = {
      fmt::format("Found by ksearch {}: run {}, step {}, program {}.", data.info.ksearch_version,
                  data.info.run, record->node_id, record->hash),
      summary.best && summary.best->modelled
          ? fmt::format("By a model of {}'s time, which is no measurement:", device.name)
          : fmt::format("Measured on {}:", device.name)};
  const evaluate::Certificate* certificate = report::certificate_of(engine, record->hash);
  if (summary.best) {
    for (const std::string& line :
         {ratio_line("the naive program", summary.best->naive, ""),
          ratio_line("the best library", summary.best->expert, summary.best->expert_name)})
      if (!line.empty()) subject.credit.push_back(line);
    subject.doubt = why_not_certified(certificate);
    subject.credit.push_back(subject.doubt.empty() ? "Certificate: passed."
                                                   : "NOT CERTIFIED: " + subject.doubt);
  }
  if (certificate && certificate->passed)
    subject.credit.push_back(fmt::format(
        "  held-out workloads: {:.2f} times {} [{:.2f}, {:.2f}]", certificate->heldout_ratio.value,
        certificate->baseline, certificate->heldout_ratio.low, certificate->heldout_ratio.high));
  return subject;
}

base::Result<Subject> from_program(const Context& context, const fs::path& path,
                                   const std::string& task_name, std::string_view target) {
  std::string name = task_name;
  if (name.empty()) {
    KS_TRY(const std::string text, os::read_file(path));
    KS_TRY(const base::Json json, base::parse_json(text, path.string()));
    if (json.is_object() && json.contains("task") && json["task"].is_string()) name = json["task"];
    if (name.empty())
      return base::usage_error(path.string(), "names no task: is it a program.json?",
                               "--task NAME says which operation the program computes");
  }
  KS_TRY(task::Task task, open_task(context.home, name, target));
  KS_TRY(const kernel::Program program, kernel::load_program(path, task.definition));
  kernel::HardwareProfile device = target::describe_cpu(1);
  if (program.dialect == kernel::Dialect::mlx) {
    KS_TRY(const target::GpuProfile gpu,
           target::load_gpu_profile(context.home.hardware_folder(), kAppleGpu));
    device = target::as_hardware(gpu);
  }
  return Subject{std::move(task),
                 program,
                 device,
                 {fmt::format("Program {} of task {}, exported by ksearch {}; not measured.",
                              program.hash(), name, KSEARCH_VERSION)},
                 "it was not measured"};
}

std::vector<kernel::Workload> workloads_of(const Subject& subject) {
  std::vector<kernel::Workload> all;
  for (const kernel::Role role : {kernel::Role::feedback, kernel::Role::heldout})
    for (kernel::Workload& workload : subject.task.with_role(role))
      all.push_back(std::move(workload));
  return all;
}

base::Result<void> write_cpp(const Subject& subject, const std::string& name, const fs::path& out) {
  formats::CppExportRequest request;
  request.program = &subject.program;
  request.definition = &subject.task.definition;
  request.workloads = workloads_of(subject);
  request.device = subject.device;
  request.name = name;
  request.credit = subject.credit;
  KS_TRY(const formats::CppExport exported, formats::export_cpp(request));
  KS_RETURN_IF_ERROR(os::write_file(out / (name + ".h"), exported.header));
  KS_RETURN_IF_ERROR(os::write_file(out / (name + ".cpp"), exported.source));
  fmt::print("{}\n{}\n", (out / (name + ".h")).string(), (out / (name + ".cpp")).string());
  for (const std::string& function : exported.functions) fmt::print("  {}\n", function);
  fmt::print("Compile with: {}\n", exported.compile_command);
  return {};
}

/// The task's own words for what it computes, in MLX's operations; empty where it has none.
base::Result<std::string> mlx_reference(const task::Task& task, const char* file) {
  const fs::path path = task.folder / file;
  std::error_code error;
  if (!fs::exists(path, error)) return std::string();
  return os::read_file(path);
}

base::Result<void> write_mlx(const Subject& subject, const std::string& name, const fs::path& out,
                             bool python) {
  formats::MlxExportRequest request;
  request.program = &subject.program;
  request.definition = &subject.task.definition;
  request.workloads = workloads_of(subject);
  request.device = subject.device;
  request.name = name;
  request.credit = subject.credit;
  KS_TRY(request.reference,
         mlx_reference(subject.task, python ? "reference_mlx.py" : "reference_mlx.h"));
  KS_TRY(const std::string text,
         python ? formats::export_mlx_python(request) : formats::export_mlx_cpp(request));
  const fs::path file = out / (name + (python ? ".py" : ".h"));
  KS_RETURN_IF_ERROR(os::write_file(file, text));
  fmt::print("{}\n", file.string());
  if (!python)
    fmt::print("  {0}_mlx::{0}\nCompile with: c++ -std=c++20 -I MLX/include ... -L MLX/lib -lmlx\n",
               name);
  return {};
}

}  // namespace

base::Result<int> export_files(const Context& context, const ExportOptions& options) {
  fs::path program = options.what;
  if (fs::is_directory(program) && fs::exists(program / "program.json")) program /= "program.json";
  const bool is_program = fs::is_regular_file(program);
  if (!is_program && !fs::exists(program) && program.has_parent_path())
    return base::usage_error(options.what, "is not there",
                             "name a run, a program.json, or a folder that holds one");
  Subject subject;
  if (is_program) {
    const std::string_view target = options.as == "cpp" ? "cpu" : "metal";
    KS_TRY(subject, from_program(context, program, options.task, target));
  } else {
    KS_TRY(const fs::path folder, find_run(options.what));
    KS_TRY(subject, from_run(folder));
  }
  if (!options.name.empty() && !kernel::is_name(options.name))
    return base::usage_error("--name " + options.name,
                             "letters, digits and _ make a name, and it begins with no digit");
  const std::string& name = options.name.empty() ? subject.task.definition.name : options.name;
  const fs::path out = options.out.empty() ? fs::path("export-" + name) : fs::path(options.out);
  KS_RETURN_IF_ERROR(options.as == "cpp"
                         ? write_cpp(subject, name, out)
                         : write_mlx(subject, name, out, options.as == "mlx-python"));
  if (!subject.doubt.empty()) fmt::print(stderr, "No certificate: {}\n", subject.doubt);
  return kDone;
}

}  // namespace ksearch::cli
