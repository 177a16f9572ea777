#include "formats/mlx_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string MlxLaunches::python(const kernel::Expr& expr) const {
  return to_python(expr, [this](std::string_view name) {
    const DeviceFigure figure = device_figure(device_, name);
    if (!figure.boolean) return std::to_string(figure.value);
    return std::string(figure.value ? "True" : "False");
  });
}

std::string MlxLaunches::tuple(const std::vector<kernel::Expr>& list) const {
  std::vector<std::string> parts;
  for (const kernel::Expr& expr : list) parts.push_back(python(expr));
  return parts.size() == 1 ? fmt::format("({},)", parts[0]) : fmt::format("({})", joined(parts));
}

std::string MlxLaunches::scalar(const kernel::ScalarArg& scalar) const {
  return fmt::format("mx.array({}, dtype={})", python(scalar.value), dtype_of(scalar.kind));
}

std::string MlxLaunches::grid(const kernel::Launch& launch) const {
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < 3; ++d) {
    const MlxGridSize size = mlx_grid(launch, d);
    const std::string count = size.count ? python(*size.count) : "1";
    const std::string threads = size.times ? python(*size.times) : "1";
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

std::string MlxLaunches::call(const kernel::Launch& launch, const MlxCall& all) const {
  std::string code;
  const auto line = [&](int depth, const std::string& text) {
    code += std::string(static_cast<std::size_t>(4 * depth), ' ') + text + "\n";
  };
  std::vector<std::string> variables, inputs, shapes, dtypes, sizes;
  for (const auto& input : all.inputs)
    inputs.push_back(std::holds_alternative<std::string>(input)
                         ? python_name(std::get<std::string>(input))
                         : scalar(*std::get<const kernel::ScalarArg*>(input)));
  for (const MlxCall::Output& output : all.outputs) {
    variables.push_back(python_name(output.tensor));
    shapes.push_back(tuple(*output.shape));
    dtypes.push_back(python(*output.dtype));
  }
  const std::string targets = joined(variables);
  line(0, fmt::format("{} = _kernel(", variables.size() == 1 ? "(" + targets + ",)" : targets));
  line(1, fmt::format("\"{}\",", launch.kernel));
  line(1, quoted_tuple(all.input_names()) + ",");
  line(1, quoted_tuple(all.output_names()) + ",");
  if (const std::string text = macros(launch); !text.empty())
    line(1, fmt::format("macros=({}),", text.substr(0, text.size() - 1)));
  if (all.atomic) line(1, "atomic=True,");
  line(0, ")(");
  line(1, fmt::format("inputs=[{}],", joined(inputs)));
  line(1, fmt::format("output_shapes=[{}],", joined(shapes)));
  line(1, fmt::format("output_dtypes=[{}],", joined(dtypes)));
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
  KS_TRY(const MlxCall all, mlx_call(program_, definition_, launch));
  kernels_.insert(launch.kernel);
  int depth = 1;
  std::string code;
  if (launch.when) {
    code += fmt::format("    if {}:\n", python(*launch.when));
    ++depth;
  }
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
