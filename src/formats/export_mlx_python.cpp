#include "formats/export_mlx_python.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "formats/embedded_text.h"
#include "formats/expr_python.h"
#include "formats/mlx_check.h"
#include "formats/mlx_python_expr.h"
#include "formats/mlx_python_launch.h"
#include "formats/mlx_python_plan.h"

namespace ksearch::formats {
namespace {

using kernel::TensorSpec;

class PythonFunction {
 public:
  PythonFunction(const MlxExportRequest& request, std::string name, const MlxWriters& writers)
      : request_(request),
        definition_(*request.definition),
        name_(std::move(name)),
        expr_(request),
        launches_(*request.program, definition_, expr_, writers),
        asked_(asked_axes(definition_)) {}

  base::Result<std::string> text() {
    std::string body = signature() + docstring() + bind_types() + bind_axes() + check_tensors();
    KS_TRY(const std::string plan, mlx_python_plan(request_, expr_, name_));
    body += plan + launches_.declarations();
    for (const kernel::Launch& launch : request_.program->launches) {
      KS_TRY(const std::string code, launches_.code(launch));
      body += code;
    }
    std::vector<std::string> outputs;
    for (const TensorSpec& t : definition_.outputs) outputs.push_back(launches_.read(t.name));
    return body + fmt::format("    return {}\n", fmt::join(outputs, ", "));
  }

  base::Result<std::string> sources() const { return launches_.sources(); }

 private:
  std::string signature() const {
    std::vector<std::string> inputs, optional;
    for (const TensorSpec& t : definition_.inputs)
      (t.optional ? optional : inputs)
          .push_back(expr_.tensor(t.name) + (t.optional ? "=None" : ""));
    inputs.push_back("*");
    for (const std::string& axis : asked_) inputs.push_back(expr_.value(axis));
    for (const kernel::Param& param : definition_.params) inputs.push_back(expr_.value(param.name));
    inputs.insert(inputs.end(), optional.begin(), optional.end());
    inputs.push_back("stream=None");
    return fmt::format("def {}({}):\n", name_, fmt::join(inputs, ", "));
  }

  std::string docstring() const {
    std::string text = definition_.description + "\n\n";
    const auto describe = [&](const TensorSpec& t, const char* what) {
      std::vector<std::string> shape;
      for (const kernel::Expr& size : t.shape) shape.push_back(size.text());
      text += fmt::format("    {}{} [{}] {}{}{}\n", what, expr_.tensor(t.name),
                          fmt::join(shape, ", "), t.dtype.text(), t.optional ? ", or None" : "",
                          t.description.empty() ? "" : ": " + t.description);
    };
    for (const TensorSpec& t : definition_.inputs) describe(t, "");
    for (const kernel::Param& param : definition_.params)
      text += fmt::format("    {}{}\n", expr_.value(param.name),
                          param.description.empty() ? "" : ": " + param.description);
    for (const TensorSpec& t : definition_.outputs) describe(t, "returns ");
    return "    " + python_text(text + "    ") + "\n";
  }

  /// T = the dtype of the first input that has it.
  std::string bind_types() const {
    std::string code;
    for (const auto& [variable, dtypes] : definition_.types) {
      std::vector<std::string> names;
      for (const kernel::DType type : dtypes) names.push_back(mlx_dtype(type));
      const TensorSpec* first = input_of_type(definition_, variable);
      code += fmt::format("    {} = _one_of(\"{}\", {}, {})\n", expr_.value(variable), first->name,
                          expr_.tensor(first->name), python_tuple(names));
    }
    return code;
  }

  std::string bind_axes() const {
    std::string code;
    std::set<std::string> bound(asked_.begin(), asked_.end());
    for (const kernel::Axis& axis : definition_.axes)
      if (axis.constant) {
        code += fmt::format("    {} = {}\n", expr_.value(axis.name), *axis.constant);
        bound.insert(axis.name);
      }
    for (const TensorSpec& t : definition_.inputs) {
      if (t.optional) continue;
      std::vector<std::string> targets;
      for (const kernel::Expr& size : t.shape) {
        const bool is_new = is_axis(size.text()) && bound.insert(size.text()).second;
        targets.push_back(is_new ? expr_.value(size.text()) : "_");
      }
      if (std::ranges::all_of(targets, [](const std::string& s) { return s == "_"; })) continue;
      const std::string left =
          fmt::format("{}{}", fmt::join(targets, ", "), targets.size() == 1 ? "," : "");
      code += fmt::format("    {} = _sizes(\"{}\", {}, {})\n", left, t.name, expr_.tensor(t.name),
                          t.shape.size());
    }
    return code;
  }

  std::string check_tensors() const {
    std::string code;
    for (const TensorSpec& t : definition_.inputs) {
      const std::string name = expr_.tensor(t.name);
      const std::string check = fmt::format("_expect(\"{}\", {}, {}, {})\n", t.name, name,
                                            expr_.tuple(t.shape), expr_.code(t.dtype));
      code += t.optional ? fmt::format("    if {} is not None:\n        {}", name, check)
                         : "    " + check;
    }
    for (const kernel::Derived& derived : definition_.derived) {
      const std::string array = expr_.tensor(derived.tensor);
      code += fmt::format("    {} = int({})\n", expr_.value(derived.name),
                          derived.function == "last" ? array + "[-1]"
                          : derived.function == "sum"
                              ? array + ".sum()"
                              : fmt::format("({0}[1:] - {0}[:-1]).max()", array));
    }
    for (const kernel::Constraint& constraint : definition_.constraints)
      if (constraint.expr)
        code += fmt::format("    if not ({}):\n        raise ValueError({})\n",
                            expr_.code(*constraint.expr),
                            line_literal(constraint.text + " does not hold"));
    return code;
  }

  bool is_axis(const std::string& name) const {
    return std::ranges::any_of(definition_.axes,
                               [&](const kernel::Axis& axis) { return axis.name == name; });
  }

  const MlxExportRequest& request_;
  const kernel::Definition& definition_;
  std::string name_;
  MlxPythonExpr expr_;
  MlxPythonLaunches launches_;
  std::vector<std::string> asked_;  ///< axes that no input has
};

}  // namespace

base::Result<std::string> export_mlx_python(const MlxExportRequest& request) {
  KS_RETURN_IF_ERROR(check_mlx_request(request, "mlx-python"));
  const std::string name = request.name.empty() ? request.definition->name : request.name;
  if (const std::string_view why = python_refuses(name); !why.empty())
    return base::usage_error(name, std::string(why), "give another with --name");
  KS_TRY(const MlxWriters writers, mlx_writers(*request.program, *request.definition));
  PythonFunction function(request, name, writers);
  KS_TRY(const std::string body, function.text());
  KS_TRY(const std::string texts, function.sources());
  std::string head = request.definition->description + "\n\n";
  for (const std::string& line : request.credit) head += line + "\n";
  head += fmt::format("Sizes that depend on the device are those of {}.\n", request.device.name);
  head += request.reference.empty() ? "There is no reference in MLX's operations for this task.\n"
                                    : "`reference` is the same in MLX's operations.\n";
  std::string out = python_text(head) +
                    "\n\nimport functools\nimport hashlib\n\nimport mlx.core as mx\n\n" + texts +
                    "\n\n" + kMlxRuntime + "\n\n" + body;
  if (!request.reference.empty()) out += "\n\n" + request.reference;
  return out;
}

}  // namespace ksearch::formats
