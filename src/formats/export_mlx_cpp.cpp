#include "formats/export_mlx_cpp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "formats/embedded_text.h"
#include "formats/expr_python.h"
#include "formats/mlx_check.h"
#include "formats/mlx_cpp_expr.h"
#include "formats/mlx_cpp_launch.h"
#include "formats/mlx_cpp_plan.h"

namespace ksearch::formats {
namespace {

using kernel::TensorSpec;

std::string mlx_param_type(kernel::ParamKind kind) {
  if (kind == kernel::ParamKind::integer) return "int64_t";
  return kind == kernel::ParamKind::boolean ? "bool" : "float";
}

class MlxCppFunction {
 public:
  MlxCppFunction(const MlxExportRequest& request, std::string name, const MlxWriters& writers)
      : request_(request),
        definition_(*request.definition),
        name_(std::move(name)),
        asked_(asked_axes(definition_)),
        expr_(request),
        launches_(*request.program, definition_, expr_, writers) {}

  base::Result<std::string> text() {
    std::string launches;
    for (const kernel::Launch& launch : request_.program->launches) {
      KS_TRY(const std::string code, launches_.code(launch));
      launches += code;
    }
    KS_TRY(const std::string plan, mlx_cpp_plan(request_, expr_, name_));
    std::vector<std::string> outputs;
    for (const TensorSpec& t : definition_.outputs) outputs.push_back(launches_.read(t.name));
    const bool one = outputs.size() == 1;
    return comment() + signature() +
           "  using detail::ceil_div, detail::floor_div, detail::floor_mod;\n"
           "  [[maybe_unused]] bool bad = false;  // a division by zero\n" +
           bind_types() + bind_axes() + check_tensors() + plan + launches_.declarations() +
           launches +
           fmt::format("  if (bad) throw std::invalid_argument({});\n",
                       line_literal(name_ + ": the plan divides by zero")) +
           fmt::format("  return {}{}{};\n}}\n", one ? "" : "{", fmt::join(outputs, ", "),
                       one ? "" : "}");
  }

  base::Result<std::string> sources() const { return launches_.sources(); }

 private:
  std::string signature() const {
    std::vector<std::string> parameters;
    for (const TensorSpec& t : definition_.inputs)
      if (!t.optional) parameters.push_back("const mx::array& " + expr_.tensor(t.name));
    for (const std::string& axis : asked_)
      parameters.push_back("[[maybe_unused]] int64_t " + expr_.value(axis));
    for (const kernel::Param& param : definition_.params)
      parameters.push_back(fmt::format("[[maybe_unused]] {} {}", mlx_param_type(param.kind),
                                       expr_.value(param.name)));
    for (const TensorSpec& t : definition_.inputs)
      if (t.optional)
        parameters.push_back(
            fmt::format("const std::optional<mx::array>& {} = std::nullopt", expr_.tensor(t.name)));
    parameters.push_back("mx::StreamOrDevice stream = {}");
    const char* result = definition_.outputs.size() == 1 ? "mx::array" : "std::vector<mx::array>";
    return fmt::format("inline {} {}({}) {{\n", result, name_, fmt::join(parameters, ",\n    "));
  }

  /// What it computes, its shapes and dtypes a line a tensor, what it throws.
  std::string comment() const {
    std::string text = mlx_cpp_comment(definition_.description);
    const auto describe = [&](const TensorSpec& t, const char* what) {
      std::vector<std::string> shape;
      for (const kernel::Expr& size : t.shape) shape.push_back(size.text());
      text += mlx_cpp_comment(fmt::format(
          "  {}{} [{}] {}{}{}", what, expr_.tensor(t.name), fmt::join(shape, ", "), t.dtype.text(),
          t.optional ? ", optional" : "", t.description.empty() ? "" : ": " + t.description));
    };
    for (const TensorSpec& t : definition_.inputs) describe(t, "");
    for (const kernel::Param& param : definition_.params)
      if (!param.description.empty())
        text += mlx_cpp_comment("  " + expr_.value(param.name) + ": " + param.description);
    for (const TensorSpec& t : definition_.outputs) describe(t, "returns ");
    for (const auto& [variable, dtypes] : definition_.types) {
      std::vector<std::string_view> names;
      for (const kernel::DType type : dtypes) names.push_back(kernel::name(type));
      text += mlx_cpp_comment(fmt::format("  {}: {}", variable, fmt::join(names, ", ")));
    }
    return text + "// Throws std::invalid_argument for other shapes and dtypes.\n";
  }

  /// T = the dtype of the first input that has it.
  std::string bind_types() const {
    std::string code;
    for (const auto& [variable, dtypes] : definition_.types) {
      std::vector<std::string> types;
      for (const kernel::DType type : dtypes) types.push_back(mlx_cpp_dtype(type));
      const TensorSpec* first = input_of_type(definition_, variable);
      code +=
          fmt::format("  [[maybe_unused]] const mx::Dtype {} =\n      {};\n", expr_.value(variable),
                      fmt::format("detail::one_of(\"{}\", {}, {{{}}})", first->name,
                                  expr_.tensor(first->name), fmt::join(types, ", ")));
    }
    return code;
  }

  std::string bind_axes() const {
    std::string code;
    std::set<std::string> bound(asked_.begin(), asked_.end());
    for (const kernel::Axis& axis : definition_.axes)
      if (axis.constant) {
        code += fmt::format("  [[maybe_unused]] const int64_t {} = {};\n", expr_.value(axis.name),
                            *axis.constant);
        bound.insert(axis.name);
      }
    for (const TensorSpec& t : definition_.inputs)
      for (std::size_t d = 0; !t.optional && d < t.shape.size(); ++d) {
        const std::string axis = t.shape[d].text();
        const bool is_axis = std::ranges::find(definition_.axes, axis, &kernel::Axis::name) !=
                             definition_.axes.end();
        if (is_axis && bound.insert(axis).second)
          code += fmt::format(
              "  [[maybe_unused]] const int64_t {} = detail::size(\"{}\", {}, {}, {});\n",
              expr_.value(axis), t.name, expr_.tensor(t.name), t.shape.size(), d);
      }
    return code;
  }

  std::string check_tensors() const {
    std::string code;
    for (const TensorSpec& t : definition_.inputs) {
      const std::string name = expr_.tensor(t.name);
      code += fmt::format("  {}detail::expect(\"{}\", {}{}, {}, {});\n",
                          t.optional ? fmt::format("if ({}) ", name) : "", t.name,
                          t.optional ? "*" : "", name, expr_.list(t.shape), expr_.code(t.dtype));
    }
    for (const kernel::Derived& derived : definition_.derived)
      code += fmt::format(
          "  [[maybe_unused]] const int64_t {} = detail::{}_of(detail::values({}, stream));\n",
          expr_.value(derived.name), derived.function, expr_.tensor(derived.tensor));
    for (const kernel::Constraint& constraint : definition_.constraints)
      if (constraint.expr)
        code += fmt::format("  if (!({})) throw std::invalid_argument({});\n",
                            expr_.code(*constraint.expr),
                            line_literal(constraint.text + " does not hold"));
    return code;
  }

  const MlxExportRequest& request_;
  const kernel::Definition& definition_;
  std::string name_;
  std::vector<std::string> asked_;
  MlxCppExpr expr_;
  MlxCppLaunches launches_;
};

}  // namespace

base::Result<std::string> export_mlx_cpp(const MlxExportRequest& request) {
  KS_RETURN_IF_ERROR(check_mlx_request(request, "mlx-cpp"));
  const std::string name = request.name.empty() ? request.definition->name : request.name;
  if (const std::string_view why = mlx_cpp_refuses(name); !why.empty())
    return base::usage_error(name, std::string(why), "give another with --name");
  KS_TRY(const MlxWriters writers, mlx_writers(*request.program, *request.definition));
  MlxCppFunction function(request, name, writers);
  KS_TRY(const std::string body, function.text());
  KS_TRY(const std::string sources, function.sources());
  std::string head = mlx_cpp_comment(request.definition->description) + "//\n";
  for (const std::string& line : request.credit) head += mlx_cpp_comment(line);
  head += fmt::format(
      "// Sizes that depend on the device are those of {}.\n"
      "// {}\n// Needs MLX's headers and library (mlx/mlx.h, 0.32 is known to fit) and C++20.\n"
      "#pragma once\n\n",
      request.device.name,
      request.reference.empty() ? "There is no reference in MLX's operations for this task."
                                : "`reference` is the same in MLX's operations.");
  // The runtime's includes stand outside of its namespace.
  const std::string_view runtime = kMlxCppRuntime;
  constexpr std::string_view kBegin = "// begin\n";
  const std::size_t includes = runtime.find("#include"), begin = runtime.find(kBegin);
  std::string out =
      head + std::string(runtime.substr(includes, begin - includes)) +
      fmt::format("namespace {}_mlx {{\nnamespace mx = mlx::core;\n\nnamespace detail {{\n", name) +
      std::string(runtime.substr(begin + kBegin.size())) + "\n" + sources +
      "}  // namespace detail\n\n" + body;
  if (!request.reference.empty()) out += "\n" + request.reference;
  return out + fmt::format("\n}}  // namespace {}_mlx\n", name);
}

}  // namespace ksearch::formats
