#include "formats/mlx_export.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/expr_python.h"
#include "kernel/bind.h"
#include "kernel/expr_node.h"

namespace ksearch::formats {
namespace {

using kernel::TensorSpec;

const kernel::Scratch* scratch_of(const kernel::Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.scratch, name, &kernel::Scratch::name);
  return found == program.scratch.end() ? nullptr : &*found;
}

bool asks_for(const kernel::Expr::Node& node, std::string_view tensor) {
  if (node.op == kernel::Op::present) return node.name == tensor;
  return node.op == kernel::Op::logical_and &&
         (asks_for(node.children[0], tensor) || asks_for(node.children[1], tensor));
}

}  // namespace

bool may_be_absent(const kernel::Definition& definition, std::string_view tensor) {
  const TensorSpec* spec = definition.tensor(tensor);
  return spec && spec->optional;
}

bool is_guarded(const kernel::Launch& launch, std::string_view tensor) {
  return launch.when && asks_for(launch.when->root(), tensor);
}

base::Result<MlxWriters> mlx_writers(const kernel::Program& program,
                                     const kernel::Definition& definition) {
  MlxWriters writers;
  for (const kernel::Launch& launch : program.launches) {
    if (launch.loop)
      return base::usage_error(launch.kernel, "is launched in a loop",
                               "MLX gives every call outputs of its own: a turn of the loop would "
                               "not find what the turns before it wrote");
    KS_TRY(const MlxCall call, mlx_call(program, definition, launch));
    for (const std::string& name : call.output_names()) {
      const auto [before, first] = writers.emplace(name, launch.when ? 1 : 0);
      if (first) continue;
      if (before->second == 0 || !launch.when)
        return base::usage_error(name, "is written by several launches",
                                 "MLX gives every call outputs of its own; only launches of which "
                                 "one runs, each with its `when`, can write the same tensor");
      ++before->second;
    }
  }
  return writers;
}

const TensorSpec* input_of_type(const kernel::Definition& definition, std::string_view variable) {
  const auto found = std::ranges::find_if(definition.inputs, [&](const TensorSpec& t) {
    return !t.optional && t.dtype.text() == variable;
  });
  return found == definition.inputs.end() ? nullptr : &*found;
}

const std::string* mlx_source(const kernel::Program& program, const std::string& path) {
  const auto found = std::ranges::find(program.sources, path, &kernel::Source::path);
  return found == program.sources.end() ? nullptr : &found->text;
}

base::Result<const std::string*> mlx_body(const kernel::Program& program,
                                          const std::string& kernel) {
  if (const std::string* body = mlx_source(program, kernel + ".metal")) return body;
  return base::usage_error("kernel " + kernel, "no source has it", kernel + ".metal is its body");
}

std::vector<std::string> asked_axes(const kernel::Definition& definition) {
  std::vector<std::string> asked;
  for (const kernel::Axis& axis : definition.axes) {
    if (axis.constant) continue;
    const bool sized = std::ranges::any_of(definition.inputs, [&](const TensorSpec& t) {
      return !t.optional && std::ranges::any_of(t.shape, [&](const kernel::Expr& e) {
        return e.text() == axis.name;
      });
    });
    if (!sized) asked.push_back(axis.name);
  }
  return asked;
}

base::Result<std::vector<kernel::TunableChoice>> fitting_choices(const MlxExportRequest& request) {
  std::vector<kernel::TunableChoice> choices;
  for (const kernel::Workload& workload : request.workloads) {
    KS_TRY(const auto choice, kernel::choose(*request.program, *request.definition, workload,
                                             request.device, request.program->select));
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  return choices;
}

DeviceFigure device_figure(const kernel::HardwareProfile& device, std::string_view name) {
  if (name == "device.cores") return {device.cores};
  if (name == "device.simd_width") return {device.simd_width};
  if (name == "device.group_memory") return {device.group_memory};
  if (name == "device.max_group_size") return {device.max_group_size};
  if (name == "device.l1_bytes") return {device.l1_bytes};
  if (name == "device.l2_bytes") return {device.l2_bytes};
  const std::string feature(name.substr(std::string_view("device.has_").size()));
  return {device.features.contains(feature) ? 1 : 0, true};
}

std::vector<std::string> MlxCall::input_names() const {
  std::vector<std::string> names;
  for (const auto& input : inputs)
    names.push_back(std::holds_alternative<std::string>(input)
                        ? std::get<std::string>(input)
                        : std::get<const kernel::ScalarArg*>(input)->name);
  return names;
}

std::vector<std::string> MlxCall::output_names() const {
  std::vector<std::string> names;
  for (const Output& output : outputs) names.push_back(output.tensor);
  return names;
}

base::Result<MlxCall> mlx_call(const kernel::Program& program, const kernel::Definition& definition,
                               const kernel::Launch& launch) {
  MlxCall call;
  for (const kernel::Arg& arg : launch.args) {
    if (std::holds_alternative<kernel::StructArg>(arg))
      return base::usage_error(launch.kernel, "MLX takes no parameter structs");
    if (const auto* number = std::get_if<kernel::ScalarArg>(&arg)) {
      call.inputs.emplace_back(number);
      continue;
    }
    const auto& tensor = std::get<kernel::TensorArg>(arg);
    if (tensor.offset) return base::usage_error(tensor.tensor, "MLX takes no offset of a tensor");
    const TensorSpec* spec = definition.tensor(tensor.tensor);
    const bool natural_output =
        tensor.access == kernel::ArgAccess::natural && spec && spec->access != kernel::Access::in;
    if (!natural_output && tensor.access != kernel::ArgAccess::write &&
        tensor.access != kernel::ArgAccess::atomic) {
      const auto names = call.input_names();
      if (std::ranges::find(names, tensor.tensor) == names.end())
        call.inputs.emplace_back(tensor.tensor);
      continue;
    }
    const kernel::Scratch* own = scratch_of(program, tensor.tensor);
    const auto init = tensor.init ? tensor.init : own ? own->init : std::nullopt;
    if (!call.outputs.empty() && init != call.init)
      return base::usage_error(tensor.tensor, "starts otherwise than the launch's other outputs",
                               "MLX has one init_value for all");
    call.init = init;
    call.atomic |= tensor.access == kernel::ArgAccess::atomic;
    call.outputs.push_back(
        {tensor.tensor, own ? &own->shape : &spec->shape, own ? &own->dtype : &spec->dtype});
  }
  return call;
}

MlxGridSize mlx_grid(const kernel::Launch& launch, std::size_t dimension) {
  const bool in_groups = !launch.groups.empty();
  const auto& counts = in_groups ? launch.groups : launch.threads;
  MlxGridSize size;
  if (dimension < counts.size()) size.count = &counts[dimension];
  // MLX counts the grid in threads.
  if (in_groups && dimension < launch.group_size.size()) size.times = &launch.group_size[dimension];
  return size;
}

}  // namespace ksearch::formats
