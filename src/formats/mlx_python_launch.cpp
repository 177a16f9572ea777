#include "formats/mlx_python_launch.h"

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

std::string MlxPythonLaunches::declarations() const {
  std::string code;
  for (const auto& [tensor, conditions] : writers_)
    if (conditions > 0) code += fmt::format("    {} = None\n", expr_.tensor(tensor));
  return code;
}

std::string MlxPythonLaunches::read(const std::string& tensor) const {
  const std::string& variable = expr_.tensor(tensor);
  const auto writer = writers_.find(tensor);
  if (writer == writers_.end() || writer->second == 0) return variable;
  return fmt::format("_written(\"{}\", {})", tensor, variable);
}

std::string MlxPythonLaunches::input(
    const std::variant<std::string, const kernel::ScalarArg*>& input,
    const kernel::Launch& launch) const {
  if (const auto* number = std::get_if<const kernel::ScalarArg*>(&input))
    return fmt::format("mx.array({}, dtype={})", expr_.code((*number)->value),
                       dtype_of((*number)->kind));
  const std::string& tensor = std::get<std::string>(input);
  if (may_be_absent(definition_, tensor) && !is_guarded(launch, tensor))
    return fmt::format("_given(\"{}\", {})", tensor, expr_.tensor(tensor));
  return read(tensor);
}

std::string MlxPythonLaunches::grid(const kernel::Launch& launch) const {
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < 3; ++d) {
    const MlxGridSize size = mlx_grid(launch, d);
    const std::string count = size.count ? expr_.code(*size.count) : "1";
    const std::string threads = size.times ? expr_.code(*size.times) : "1";
    sizes.push_back(threads == "1" ? count
                    : count == "1" ? threads
                                   : fmt::format("({}) * ({})", count, threads));
  }
  return joined(sizes);
}

std::string MlxPythonLaunches::macros(const kernel::Launch& launch) const {
  std::string text;
  for (const auto* list : {&program_.defines, &launch.defines})
    for (const auto& [name, value] : *list)
      text += fmt::format("(\"{}\", _macro({})), ", name, expr_.code(value));
  return text;
}

std::string MlxPythonLaunches::call(const kernel::Launch& launch, const MlxCall& all) const {
  std::string code;
  const auto line = [&](int depth, const std::string& text) {
    code += std::string(static_cast<std::size_t>(4 * depth), ' ') + text + "\n";
  };
  std::vector<std::string> variables, inputs, shapes, dtypes, sizes;
  for (const auto& one : all.inputs) inputs.push_back(input(one, launch));
  for (const MlxCall::Output& output : all.outputs) {
    variables.push_back(expr_.tensor(output.tensor));
    shapes.push_back(expr_.tuple(*output.shape));
    dtypes.push_back(expr_.code(*output.dtype));
  }
  for (const MlxCall::Output& output : all.outputs)
    if (writers_.find(output.tensor)->second > 1)
      line(0, fmt::format("_unwritten(\"{}\", {})", output.tensor, expr_.tensor(output.tensor)));
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
    sizes.push_back(d < launch.group_size.size() ? expr_.code(launch.group_size[d]) : "1");
  line(1, fmt::format("threadgroup=({}),", joined(sizes)));
  if (!launch.instantiate.empty()) {
    std::vector<std::string> values;
    for (const auto& [name, value] : launch.instantiate)
      values.push_back(fmt::format("(\"{}\", {})", name, expr_.code(value)));
    line(1, fmt::format("template=[{}],", joined(values)));
  }
  if (all.init) line(1, fmt::format("init_value={},", *all.init));
  line(1, "stream=stream,");
  line(0, ")");
  return code;
}

base::Result<std::string> MlxPythonLaunches::code(const kernel::Launch& launch) {
  KS_TRY(const MlxCall all, mlx_call(program_, definition_, launch));
  kernels_.insert(launch.kernel);
  int depth = 1;
  std::string code;
  if (launch.when) {
    code += fmt::format("    if {}:\n", expr_.code(*launch.when));
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

base::Result<std::string> MlxPythonLaunches::sources() const {
  std::string bodies = "_BODIES = {\n", headers = "_HEADERS = {\n";
  for (const std::string& kernel : kernels_) {
    KS_TRY(const std::string* body, mlx_body(program_, kernel));
    const std::string* header = mlx_source(program_, kernel + ".h");
    bodies += fmt::format("    \"{}\": {},\n", kernel, python_text(*body));
    headers += fmt::format("    \"{}\": {},\n", kernel, python_text(header ? *header : ""));
  }
  return headers + "}\n" + bodies + "}\n";
}

}  // namespace ksearch::formats
