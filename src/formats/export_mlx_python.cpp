#include "formats/export_mlx_python.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/embedded_text.h"
#include "formats/expr_python.h"
#include "formats/mlx_launch.h"

namespace ksearch::formats {
namespace {

using kernel::TensorSpec;

/// The text as a Python literal of several lines.
std::string python_text(std::string_view text) {
  const bool raw = text.find("\"\"\"") == std::string_view::npos && !text.ends_with('"') &&
                   !text.ends_with('\\');
  if (raw) return fmt::format("r\"\"\"{}\"\"\"", text);
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fmt::format("\"\"\"{}\"\"\"", escaped);
}

std::string tuple_of(const std::vector<std::string>& parts) {
  return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
}

class PythonFunction {
 public:
  PythonFunction(const MlxExportRequest& request, std::string name)
      : request_(request),
        definition_(*request.definition),
        program_(*request.program),
        name_(std::move(name)),
        launches_(program_, definition_, request.device),
        asked_(asked_axes(definition_)) {}

  base::Result<std::string> text() {
    std::string body = signature() + docstring() + bind_types() + bind_axes() + check_tensors();
    KS_TRY(const std::string plan, choose_plan());
    body += plan;
    for (const kernel::Launch& launch : program_.launches) {
      KS_TRY(const std::string code, launches_.code(launch));
      body += code;
    }
    std::vector<std::string> outputs;
    for (const TensorSpec& t : definition_.outputs) outputs.push_back(python_name(t.name));
    return body + fmt::format("    return {}\n", fmt::join(outputs, ", "));
  }

  const std::set<std::string>& kernels() const { return launches_.kernels(); }

 private:
  std::string signature() const {
    std::vector<std::string> inputs, optional;
    for (const TensorSpec& t : definition_.inputs)
      (t.optional ? optional : inputs).push_back(python_name(t.name) + (t.optional ? "=None" : ""));
    inputs.push_back("*");
    for (const std::string& axis : asked_) inputs.push_back(python_name(axis));
    for (const kernel::Param& param : definition_.params) inputs.push_back(python_name(param.name));
    inputs.insert(inputs.end(), optional.begin(), optional.end());
    inputs.push_back("stream=None");
    return fmt::format("def {}({}):\n", name_, fmt::join(inputs, ", "));
  }

  std::string docstring() const {
    std::string text = fmt::format("    \"\"\"{}\n\n", definition_.description);
    const auto describe = [&](const TensorSpec& t, const char* what) {
      std::vector<std::string> shape;
      for (const kernel::Expr& size : t.shape) shape.push_back(size.text());
      text += fmt::format("    {}{} [{}] {}{}{}\n", what, python_name(t.name),
                          fmt::join(shape, ", "), t.dtype.text(), t.optional ? ", or None" : "",
                          t.description.empty() ? "" : ": " + t.description);
    };
    for (const TensorSpec& t : definition_.inputs) describe(t, "");
    for (const kernel::Param& param : definition_.params)
      text += fmt::format("    {}{}\n", python_name(param.name),
                          param.description.empty() ? "" : ": " + param.description);
    for (const TensorSpec& t : definition_.outputs) describe(t, "returns ");
    return text + "    \"\"\"\n";
  }

  /// T = the dtype of the first input that has it.
  std::string bind_types() const {
    std::string code;
    for (const auto& [variable, dtypes] : definition_.types) {
      std::vector<std::string> names;
      for (const kernel::DType type : dtypes) names.push_back(mlx_dtype(type));
      for (const TensorSpec& t : definition_.inputs) {
        if (t.optional || t.dtype.text() != variable) continue;
        code += fmt::format("    {} = _one_of(\"{}\", {}, {})\n", python_name(variable), t.name,
                            python_name(t.name), tuple_of(names));
        break;
      }
    }
    return code;
  }

  std::string bind_axes() const {
    std::string code;
    std::set<std::string> bound(asked_.begin(), asked_.end());
    for (const kernel::Axis& axis : definition_.axes)
      if (axis.constant) {
        code += fmt::format("    {} = {}\n", python_name(axis.name), *axis.constant);
        bound.insert(axis.name);
      }
    for (const TensorSpec& t : definition_.inputs) {
      if (t.optional) continue;
      std::vector<std::string> targets;
      for (const kernel::Expr& size : t.shape) {
        const bool is_new = is_axis(size.text()) && bound.insert(size.text()).second;
        targets.push_back(is_new ? python_name(size.text()) : "_");
      }
      if (std::ranges::all_of(targets, [](const std::string& s) { return s == "_"; })) continue;
      const std::string left =
          fmt::format("{}{}", fmt::join(targets, ", "), targets.size() == 1 ? "," : "");
      code += fmt::format("    {} = _sizes(\"{}\", {}, {})\n", left, t.name, python_name(t.name),
                          t.shape.size());
    }
    return code;
  }

  std::string check_tensors() const {
    std::string code;
    for (const TensorSpec& t : definition_.inputs) {
      const std::string name = python_name(t.name);
      const std::string check = fmt::format("_expect(\"{}\", {}, {}, {})\n", t.name, name,
                                            launches_.tuple(t.shape), launches_.python(t.dtype));
      code += t.optional ? fmt::format("    if {} is not None:\n        {}", name, check)
                         : "    " + check;
    }
    for (const kernel::Constraint& constraint : definition_.constraints)
      if (constraint.expr)
        code += fmt::format("    if not ({}):\n        raise ValueError(\"{} does not hold\")\n",
                            launches_.python(*constraint.expr), constraint.text);
    for (const kernel::Derived& derived : definition_.derived) {
      const std::string array = python_name(derived.tensor);
      code += fmt::format("    {} = int({})\n", python_name(derived.name),
                          derived.function == "last" ? array + "[-1]"
                          : derived.function == "sum"
                              ? array + ".sum()"
                              : fmt::format("({0}[1:] - {0}[:-1]).max()", array));
    }
    return code;
  }

  bool is_axis(const std::string& name) const {
    return std::ranges::any_of(definition_.axes,
                               [&](const kernel::Axis& axis) { return axis.name == name; });
  }

  /// Tunables by shape, what `let` names, the plan's constraints.
  base::Result<std::string> choose_plan() const {
    std::string conditions;
    for (const kernel::Expr& constraint : program_.constraints)
      conditions +=
          fmt::format("{}({})", conditions.empty() ? "" : " and ", launches_.python(constraint));
    const std::string refused =
        fmt::format("raise ValueError(\"{}: there is no plan for these sizes\")\n", name_);
    if (program_.tunables.empty())
      return lets("    ") + (conditions.empty() ? ""
                                                : fmt::format("    if not ({}):\n        {}",
                                                              conditions, refused));
    KS_TRY(std::string code, choices());
    std::vector<std::string> names;
    for (const auto& [tunable, values] : program_.tunables) names.push_back(python_name(tunable));
    code += fmt::format("    for {} in choices:\n", tuple_of(names)) + lets("        ");
    if (conditions.empty()) return code + "        break\n";
    return code + fmt::format("        if {}:\n            break\n    else:\n        {}",
                              conditions, refused);
  }

  std::string lets(const std::string& indent) const {
    std::string code;
    for (const auto& [name, value] : program_.let)
      code += fmt::format("{}{} = {}\n", indent, python_name(name), launches_.python(value));
    return code;
  }

  /// choices = [(BQ, BK), ...]: what was selected for the shape, then what fits some workload.
  base::Result<std::string> choices() const {
    std::string code = "    choices = []\n";
    bool first = true;
    for (const kernel::SelectRule& rule : program_.select) {
      if (rule.when)
        code += fmt::format("    {} {}:\n", first ? "if" : "elif", launches_.python(*rule.when));
      else if (!first)
        code += "    else:\n";
      const char* indent = rule.when || !first ? "        " : "    ";
      code += fmt::format("{}choices.append({})\n", indent, tunable_tuple(rule.tunables));
      first = false;
    }
    std::vector<std::string> rest;
    KS_TRY(const auto fitting, fitting_choices(request_));
    for (const kernel::TunableChoice& choice : fitting) rest.push_back(tunable_tuple(choice));
    return code + fmt::format("    choices += [{}]\n", fmt::join(rest, ", "));
  }

  std::string tunable_tuple(const kernel::TunableChoice& choice) const {
    std::vector<std::string> values;
    for (const auto& [tunable, all] : program_.tunables) {
      const auto found = choice.find(tunable);
      values.push_back(std::to_string(found == choice.end() ? all.front() : found->second));
    }
    return tuple_of(values);
  }

  const MlxExportRequest& request_;
  const kernel::Definition& definition_;
  const kernel::Program& program_;
  std::string name_;
  MlxLaunches launches_;
  std::vector<std::string> asked_;  ///< axes that no input has
};

base::Result<std::string> sources(const kernel::Program& program,
                                  const std::set<std::string>& kernels) {
  std::string bodies = "_BODIES = {\n", headers = "_HEADERS = {\n";
  for (const std::string& kernel : kernels) {
    KS_TRY(const std::string* body, mlx_body(program, kernel));
    const std::string* header = mlx_source(program, kernel + ".h");
    bodies += fmt::format("    \"{}\": {},\n", kernel, python_text(*body));
    headers += fmt::format("    \"{}\": {},\n", kernel, python_text(header ? *header : ""));
  }
  return headers + "}\n" + bodies + "}\n";
}

}  // namespace

base::Result<std::string> export_mlx_python(const MlxExportRequest& request) {
  KS_RETURN_IF_ERROR(check_mlx_request(request, "mlx-python"));
  const std::string name = request.name.empty() ? request.definition->name : request.name;
  PythonFunction function(request, name);
  KS_TRY(const std::string body, function.text());
  KS_TRY(const std::string texts, sources(*request.program, function.kernels()));
  std::string head = fmt::format("\"\"\"{}\n\n", request.definition->description);
  for (const std::string& line : request.credit) head += line + "\n";
  head += fmt::format("Sizes that hang on the device are those of {}.\n", request.device.name);
  head += request.reference.empty()
              ? "There is no reference in MLX's operations for this task.\n\"\"\"\n\n"
              : "`reference` is the same in MLX's operations.\n\"\"\"\n\n";
  std::string out = head + "import functools\nimport hashlib\n\nimport mlx.core as mx\n\n" + texts +
                    "\n\n" + kMlxRuntime + "\n\n" + body;
  if (!request.reference.empty()) out += "\n\n" + request.reference;
  return out;
}

}  // namespace ksearch::formats
