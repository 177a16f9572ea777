#include "formats/mlx_cpp_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"

namespace ksearch::formats {
namespace {

constexpr std::size_t kHashDigits = 12;  // as mlx_runtime.py

std::string braced_names(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(fmt::format("\"{}\"", name));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string_view scalar_dtype(kernel::ScalarKind kind) {
  switch (kind) {
    case kernel::ScalarKind::i32:
      return "mx::int32";
    case kernel::ScalarKind::u32:
      return "mx::uint32";
    case kernel::ScalarKind::i64:
      return "mx::int64";
    case kernel::ScalarKind::f32:
      return "mx::float32";
    case kernel::ScalarKind::boolean:
      return "mx::bool_";
  }
  return "";
}

}  // namespace

std::string MlxCppLaunches::declarations() const {
  std::string code;
  for (const auto& [tensor, conditions] : writers_)
    code += fmt::format("  std::optional<mx::array> {};\n", expr_.tensor(tensor));
  return code;
}

std::string MlxCppLaunches::read(const std::string& tensor) const {
  const std::string& variable = expr_.tensor(tensor);
  const auto writer = writers_.find(tensor);
  if (writer == writers_.end())
    return may_be_absent(definition_, tensor) ? variable + ".value()" : variable;
  if (writer->second == 0) return variable + ".value()";
  return fmt::format("detail::written(\"{}\", {})", tensor, variable);
}

std::string MlxCppLaunches::input(const std::variant<std::string, const kernel::ScalarArg*>& input,
                                  const kernel::Launch& launch) const {
  if (const auto* number = std::get_if<const kernel::ScalarArg*>(&input)) {
    const kernel::ScalarArg& scalar = **number;
    const bool real = scalar.kind == kernel::ScalarKind::f32;
    return fmt::format("mx::array(static_cast<{}>({}), {})", real ? "float" : "int64_t",
                       expr_.code(scalar.value), scalar_dtype(scalar.kind));
  }
  const std::string& tensor = std::get<std::string>(input);
  if (may_be_absent(definition_, tensor) && !is_guarded(launch, tensor))
    return fmt::format("detail::given(\"{}\", {})", tensor, expr_.tensor(tensor));
  return read(tensor);
}

std::string MlxCppLaunches::threads(const MlxGridSize& size) const {
  if (!size.count)
    return size.times ? fmt::format("detail::whole({})", expr_.code(*size.times)) : "1";
  const std::string count = expr_.code(*size.count);
  return size.times
             ? fmt::format("detail::whole(int64_t{{{}}} * ({}))", count, expr_.code(*size.times))
             : fmt::format("detail::whole({})", count);
}

std::string MlxCppLaunches::macros(const kernel::Launch& launch) const {
  std::vector<std::string> list;
  for (const auto* defines : {&program_.defines, &launch.defines})
    for (const auto& [name, value] : *defines)
      list.push_back(fmt::format("{{\"{}\", detail::word({})}}", name, expr_.code(value)));
  return fmt::format("{{{}}}", fmt::join(list, ", "));
}

/// What the kernel is called with, a line each.
std::string MlxCppLaunches::arguments(const kernel::Launch& launch, const MlxCall& call) const {
  std::vector<std::string> inputs, shapes, dtypes, grid, group, values;
  for (const auto& one : call.inputs) inputs.push_back(input(one, launch));
  for (const MlxCall::Output& output : call.outputs) {
    shapes.push_back(fmt::format("detail::shape({})", expr_.list(*output.shape)));
    dtypes.push_back(expr_.code(*output.dtype));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    grid.push_back(threads(mlx_grid(launch, d)));
    const bool given = d < launch.group_size.size();
    group.push_back(given ? fmt::format("detail::whole({})", expr_.code(launch.group_size[d]))
                          : "1");
  }
  for (const auto& [name, value] : launch.instantiate)
    values.push_back(fmt::format("{{\"{}\", detail::argument({})}}", name, expr_.code(value)));
  const std::string init =
      call.init ? fmt::format("static_cast<float>({})", *call.init) : std::string("std::nullopt");
  std::string code;
  for (const auto* list : {&inputs, &shapes, &dtypes, &grid, &group, &values})
    code += fmt::format("        {{{}}},\n", fmt::join(*list, ", "));
  return code + fmt::format("        {}, /*verbose=*/false, stream", init);
}

base::Result<std::string> MlxCppLaunches::code(const kernel::Launch& launch) {
  KS_TRY(const MlxCall call, mlx_call(program_, definition_, launch));
  const std::vector<std::string> inputs = call.input_names(), outputs = call.output_names();
  KS_TRY(const std::string* body, mlx_body(program_, launch.kernel));
  const std::string* header = mlx_source(program_, launch.kernel + ".h");
  kernels_.insert(launch.kernel);
  std::string text = (header ? *header : "") + '\0' + *body;
  for (const auto* names : {&inputs, &outputs})
    for (const std::string& name : *names) text += '\0' + name;
  std::string code =
      launch.when ? fmt::format("  if ({}) {{\n", expr_.code(*launch.when)) : "  {\n";
  for (const MlxCall::Output& output : call.outputs)
    if (writers_.find(output.tensor)->second > 1)
      code += fmt::format("    detail::unwritten(\"{}\", {});\n", output.tensor,
                          expr_.tensor(output.tensor));
  code += fmt::format(
      "    static detail::Kernel kernel(\"{0}\", \"{1}\", {2}, {3},\n"
      "                                 detail::k_{0}_header, detail::k_{0}_body, {4});\n"
      "    const std::vector<mx::array> made = kernel.with({5})(\n{6});\n",
      launch.kernel, base::sha256(text).substr(0, kHashDigits), braced_names(inputs),
      braced_names(outputs), call.atomic, macros(launch), arguments(launch, call));
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    code += fmt::format("    {} = made[{}];\n", expr_.tensor(call.outputs[i].tensor), i);
  return code + "  }\n";
}

base::Result<std::string> MlxCppLaunches::sources() const {
  std::string code;
  for (const std::string& kernel : kernels_) {
    KS_TRY(const std::string* body, mlx_body(program_, kernel));
    const std::string* header = mlx_source(program_, kernel + ".h");
    for (const auto& [part, text] : {std::pair("header", header), std::pair("body", body)})
      code += fmt::format("inline constexpr const char* k_{}_{} = {};\n", kernel, part,
                          mlx_cpp_text(text ? *text : ""));
  }
  return code;
}

}  // namespace ksearch::formats
