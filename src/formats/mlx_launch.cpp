#include "formats/mlx_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "formats/expr_python.h"

namespace ksearch::formats {
namespace {

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ", "));
}

/// ("a",), ("a", "b"): names as a tuple of strings.
std::string quoted_tuple(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("\"{}\", ", name);
  if (names.size() > 1) text.resize(text.size() - 2);
  if (names.size() == 1) text.resize(text.size() - 1);
  return "(" + text + ")";
}

std::string_view dtype_of(kernel::ScalarKind kind) {
  switch (kind) {
    case kernel::ScalarKind::i32:
      return "mx.int32";
    case kernel::ScalarKind::u32:
      return "mx.uint32";
    case kernel::ScalarKind::i64:
      return "mx.int64";
    case kernel::ScalarKind::f32:
      return "mx.float32";
    case kernel::ScalarKind::boolean:
      return "mx.bool_";
  }
  return "";
}

}  // namespace

/// Of one launch, as text.
struct MlxLaunches::Arguments {
  std::vector<std::string> input_names, inputs;
  std::vector<std::string> outputs, shapes, dtypes;
  std::optional<double> init;
  bool atomic = false;
};

std::string MlxLaunches::python(const kernel::Expr& expr) const {
  return to_python(expr, [this](std::string_view name) {
    if (name == "device.cores") return std::to_string(device_.cores);
    if (name == "device.simd_width") return std::to_string(device_.simd_width);
    if (name == "device.group_memory") return std::to_string(device_.group_memory);
    if (name == "device.max_group_size") return std::to_string(device_.max_group_size);
    if (name == "device.l1_bytes") return std::to_string(device_.l1_bytes);
    if (name == "device.l2_bytes") return std::to_string(device_.l2_bytes);
    const std::string feature(name.substr(std::string_view("device.has_").size()));
    return std::string(device_.features.contains(feature) ? "True" : "False");
  });
}

std::string MlxLaunches::tuple(const std::vector<kernel::Expr>& list) const {
  std::vector<std::string> parts;
  for (const kernel::Expr& expr : list) parts.push_back(python(expr));
  return parts.size() == 1 ? fmt::format("({},)", parts[0]) : fmt::format("({})", joined(parts));
}

const kernel::Scratch* MlxLaunches::scratch(const std::string& name) const {
  for (const kernel::Scratch& one : program_.scratch)
    if (one.name == name) return &one;
  return nullptr;
}

std::string MlxLaunches::scalar(const kernel::ScalarArg& scalar) const {
  return fmt::format("mx.array({}, dtype={})", python(scalar.value), dtype_of(scalar.kind));
}

base::Result<void> MlxLaunches::add_output(const kernel::TensorArg& tensor, Arguments& all) const {
  const kernel::TensorSpec* spec = definition_.tensor(tensor.tensor);
  const kernel::Scratch* own = scratch(tensor.tensor);
  const auto init = tensor.init ? tensor.init : own ? own->init : std::nullopt;
  if (!all.outputs.empty() && init != all.init)
    return base::usage_error(tensor.tensor, "starts otherwise than the launch's other outputs",
                             "MLX has one init_value for all");
  all.init = init;
  all.atomic |= tensor.access == kernel::ArgAccess::atomic;
  all.outputs.push_back(tensor.tensor);
  all.shapes.push_back(tuple(own ? own->shape : spec->shape));
  all.dtypes.push_back(python(own ? own->dtype : spec->dtype));
  return {};
}

base::Result<MlxLaunches::Arguments> MlxLaunches::arguments(const kernel::Launch& launch) const {
  Arguments all;
  for (const kernel::Arg& arg : launch.args) {
    if (std::holds_alternative<kernel::StructArg>(arg))
      return base::usage_error(launch.kernel, "MLX takes no parameter structs");
    if (const auto* number = std::get_if<kernel::ScalarArg>(&arg)) {
      all.input_names.push_back(number->name);
      all.inputs.push_back(scalar(*number));
      continue;
    }
    const auto& tensor = std::get<kernel::TensorArg>(arg);
    if (tensor.offset) return base::usage_error(tensor.tensor, "MLX takes no offset of a tensor");
    const kernel::TensorSpec* spec = definition_.tensor(tensor.tensor);
    const bool natural_output =
        tensor.access == kernel::ArgAccess::natural && spec && spec->access != kernel::Access::in;
    if (natural_output || tensor.access == kernel::ArgAccess::write ||
        tensor.access == kernel::ArgAccess::atomic) {
      KS_RETURN_IF_ERROR(add_output(tensor, all));
    } else if (std::ranges::find(all.input_names, tensor.tensor) == all.input_names.end()) {
      all.input_names.push_back(tensor.tensor);
      all.inputs.push_back(python_name(tensor.tensor));
    }
  }
  return all;
}

std::string MlxLaunches::grid(const kernel::Launch& launch) const {
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& list = launch.groups.empty() ? launch.threads : launch.groups;
    const std::string count = d < list.size() ? python(list[d]) : "1";
    // MLX counts the grid in threads.
    const bool in_groups = !launch.groups.empty() && d < launch.group_size.size();
    const std::string threads = in_groups ? python(launch.group_size[d]) : "1";
    sizes.push_back(threads == "1" ? count
                    : count == "1" ? threads
                                   : fmt::format("({}) * ({})", count, threads));
  }
  return joined(sizes);
}

std::string MlxLaunches::macros(const kernel::Launch& launch) const {
  std::string text;
  for (const auto* list : {&program_.defines, &launch.defines})
    for (const auto& [name, value] : *list)
      text += fmt::format("(\"{}\", _macro({})), ", name, python(value));
  return text;
}

std::string MlxLaunches::call(const kernel::Launch& launch, const Arguments& all) const {
  std::string code;
  const auto line = [&](int depth, const std::string& text) {
    code += std::string(static_cast<std::size_t>(4 * depth), ' ') + text + "\n";
  };
  std::vector<std::string> variables, sizes;
  for (const std::string& output : all.outputs) variables.push_back(python_name(output));
  const std::string targets = joined(variables);
  line(0, fmt::format("{} = _kernel(", variables.size() == 1 ? "(" + targets + ",)" : targets));
  line(1, fmt::format("\"{}\",", launch.kernel));
  line(1, quoted_tuple(all.input_names) + ",");
  line(1, quoted_tuple(all.outputs) + ",");
  if (const std::string text = macros(launch); !text.empty())
    line(1, fmt::format("macros=({}),", text.substr(0, text.size() - 1)));
  if (all.atomic) line(1, "atomic=True,");
  line(0, ")(");
  line(1, fmt::format("inputs=[{}],", joined(all.inputs)));
  line(1, fmt::format("output_shapes=[{}],", joined(all.shapes)));
  line(1, fmt::format("output_dtypes=[{}],", joined(all.dtypes)));
  line(1, fmt::format("grid=({}),", grid(launch)));
  for (std::size_t d = 0; d < 3; ++d)
    sizes.push_back(d < launch.group_size.size() ? python(launch.group_size[d]) : "1");
  line(1, fmt::format("threadgroup=({}),", joined(sizes)));
  if (!launch.instantiate.empty()) {
    std::vector<std::string> values;
    for (const auto& [name, value] : launch.instantiate)
      values.push_back(fmt::format("(\"{}\", {})", name, python(value)));
    line(1, fmt::format("template=[{}],", joined(values)));
  }
  if (all.init) line(1, fmt::format("init_value={},", *all.init));
  line(1, "stream=stream,");
  line(0, ")");
  return code;
}

base::Result<std::string> MlxLaunches::code(const kernel::Launch& launch) {
  KS_TRY(const Arguments all, arguments(launch));
  kernels_.insert(launch.kernel);
  int depth = 1;
  std::string code;
  const auto head = [&](const std::string& text) {
    code += std::string(static_cast<std::size_t>(4 * depth++), ' ') + text + "\n";
  };
  if (launch.loop)
    head(fmt::format("for {} in range({}, {}):", python_name(launch.loop->variable),
                     python(launch.loop->from), python(launch.loop->to)));
  if (launch.when) head(fmt::format("if {}:", python(*launch.when)));
  const std::string indent(static_cast<std::size_t>(4 * depth), ' ');
  std::string body = call(launch, all);
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find('\n', at);
    code += indent + body.substr(at, end + 1 - at);
    at = end + 1;
  }
  return code;
}

}  // namespace ksearch::formats
