#include "cli/check_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "cli/home.h"
#include "evaluate/engine_runner.h"
#include "kernel/bind.h"
#include "os/files.h"
#include "simt/msl/body.h"
#include "target/metal/gpu_profile.h"
#include "task/inputs.h"

namespace ksearch::cli {
namespace {
namespace fs = std::filesystem;

/// What `device.*` means in a plan that is checked.
constexpr std::string_view kDevice = "apple-m1-max";

base::Result<kernel::Workload> workload_of(const task::Task& task, const std::string& name) {
  std::vector<std::string> names;
  for (const kernel::Workload& workload : task.workloads) {
    if (workload.name == name) return workload;
    names.push_back(workload.name);
  }
  return base::usage_error(
      "--workload",
      name.empty() ? "which workload of the task is meant?"
                   : fmt::format("task {} has none named \"{}\"", task.definition.name, name),
      fmt::format("it has {}", fmt::join(names, ", ")));
}

base::Result<std::vector<simt::ProgramTensor>> tensors_of(const task::Task& task,
                                                          const kernel::Workload& workload) {
  constexpr std::uint64_t kSeed = 1;
  KS_TRY(const task::InputMaker maker,
         task::InputMaker::make(task.definition, workload, kSeed, task::NoisePool::make(kSeed)));
  return evaluate::program_tensors(maker, {});
}

struct OpenProgram {
  task::Task task;
  kernel::Program program;
  kernel::HardwareProfile device;  ///< what `device.*` means in its plan
};

/// Nothing where `options.file` is no program.
base::Result<std::optional<OpenProgram>> open_program(const Context& context,
                                                      const CheckOptions& options) {
  fs::path path = options.file;
  std::error_code code;
  if (fs::is_directory(path, code))
    path /= "program.json";
  else if (path.extension() != ".json")
    return std::nullopt;
  KS_TRY(const std::string text, os::read_file(path));
  KS_TRY(const base::Json json, base::parse_json(text, path.string()));
  if (!json.is_object() || json.value("format", base::Json()) != "ksearch.program/1")
    return std::nullopt;
  if (!json.contains("task") || !json["task"].is_string())
    return base::usage_error(path.string(), "it names no task");
  KS_TRY(task::Task task, open_task(context.home, json["task"].get<std::string>(), "metal"));
  KS_TRY(kernel::Program program, kernel::load_program(path, task.definition));
  KS_TRY(const target::GpuProfile profile,
         target::load_gpu_profile(context.home.hardware_folder(), kDevice));
  return OpenProgram{std::move(task), std::move(program), target::as_hardware(profile)};
}

base::Result<simt::ProgramCases> cases_of(const OpenProgram& open, const kernel::Workload& workload,
                                          const std::vector<simt::ProgramTensor>& tensors) {
  const kernel::Definition& definition = open.task.definition;
  KS_TRY(const kernel::TunableChoice choice,
         kernel::choose(open.program, definition, workload, open.device, open.program.select));
  KS_TRY(const kernel::BoundProgram bound,
         kernel::bind(open.program, definition, workload, open.device, choice));
  return simt::cases_of_program(open.program, bound, tensors);
}

/// The shapes alone: no contents are made.
base::Result<std::vector<simt::ProgramTensor>> empty_tensors(const kernel::Definition& definition,
                                                             const kernel::Workload& workload) {
  KS_TRY(const auto shapes, kernel::shapes_of(definition, workload));
  std::vector<simt::ProgramTensor> tensors;
  for (const kernel::TensorShape& shape : shapes)
    tensors.push_back({shape.name,
                       shape.dtype,
                       shape.shape,
                       shape.access == kernel::Access::in ? simt::Role::in : simt::Role::out,
                       {}});
  return tensors;
}

}  // namespace

base::Result<std::optional<simt::ProgramCases>> program_cases(const Context& context,
                                                              const CheckOptions& options) {
  KS_TRY(const auto open, open_program(context, options));
  if (!open) return std::nullopt;
  KS_TRY(const kernel::Workload workload, workload_of(open->task, options.workload));
  KS_TRY(const auto tensors, tensors_of(open->task, workload));
  KS_TRY(simt::ProgramCases cases, cases_of(*open, workload, tensors));
  return cases;
}

base::Result<void> write_metal_files(const Context& context, const CheckOptions& options) {
  KS_TRY(const auto open, open_program(context, options));
  if (!open || open->program.dialect != kernel::Dialect::mlx)
    return base::usage_error("--metal-files", options.file + " is no program of dialect mlx",
                             "a program.json or its folder");
  std::set<std::string> written;
  for (const kernel::Workload& workload : open->task.workloads) {
    KS_TRY(const auto tensors, empty_tensors(open->task.definition, workload));
    KS_TRY(const simt::ProgramCases all, cases_of(*open, workload, tensors));
    for (const simt::Case& one : all.cases) {
      KS_TRY(const std::string text, simt::msl::source_of_body(one));
      const fs::path path =
          fs::path(options.metal_files) /
          fmt::format("{}_{}.metal", fs::path(one.file).stem().string(), base::short_hash(text));
      if (!written.insert(path.string()).second) continue;
      KS_RETURN_IF_ERROR(os::write_file(path, text));
      fmt::print("{}\n", path.string());
    }
  }
  return {};
}

}  // namespace ksearch::cli
