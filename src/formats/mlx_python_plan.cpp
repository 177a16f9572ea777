#include "formats/mlx_python_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ksearch::formats {
namespace {

class PythonPlan {
 public:
  PythonPlan(const MlxExportRequest& request, const MlxPythonExpr& expr)
      : request_(request), program_(*request.program), expr_(expr) {}

  base::Result<std::string> code(const std::string& function) const {
    std::vector<std::string> conditions;
    for (const kernel::Expr& constraint : program_.constraints)
      conditions.push_back(fmt::format("({})", expr_.code(constraint)));
    const std::string hold = fmt::format("{}", fmt::join(conditions, " and "));
    const std::string refused =
        fmt::format("raise ValueError(\"{}: there is no plan for these sizes\")\n", function);
    if (program_.tunables.empty()) {
      const std::string check = fmt::format("    if not ({}):\n        {}", hold, refused);
      return lets("    ") + (hold.empty() ? "" : check);
    }
    KS_TRY(const std::string choice, choices());
    std::vector<std::string> names;
    for (const auto& [tunable, values] : program_.tunables) names.push_back(expr_.value(tunable));
    const std::string loop =
        choice + fmt::format("    for {} in choices:\n", python_tuple(names)) + lets("        ");
    if (hold.empty()) return loop + "        break\n";
    return loop +
           fmt::format("        if {}:\n            break\n    else:\n        {}", hold, refused);
  }

 private:
  std::string lets(const std::string& indent) const {
    std::string code;
    for (const auto& [name, value] : program_.let)
      code += fmt::format("{}{} = {}\n", indent, expr_.value(name), expr_.code(value));
    return code;
  }

  /// choices = [(BQ, BK), ...]: what was selected for the shape, then what fits some workload.
  base::Result<std::string> choices() const {
    std::string code = "    choices = []\n";
    bool first = true;
    for (const kernel::SelectRule& rule : program_.select) {
      if (rule.when)
        code += fmt::format("    {} {}:\n", first ? "if" : "elif", expr_.code(*rule.when));
      else if (!first)
        code += "    else:\n";
      const char* indent = rule.when || !first ? "        " : "    ";
      code += fmt::format("{}choices.append({})\n", indent, values(rule.tunables));
      first = false;
    }
    std::vector<std::string> rest;
    KS_TRY(const auto fitting, fitting_choices(request_));
    for (const kernel::TunableChoice& choice : fitting) rest.push_back(values(choice));
    return code + fmt::format("    choices += [{}]\n", fmt::join(rest, ", "));
  }

  std::string values(const kernel::TunableChoice& choice) const {
    std::vector<std::string> all;
    for (const auto& [tunable, values] : program_.tunables) {
      const auto found = choice.find(tunable);
      all.push_back(std::to_string(found == choice.end() ? values.front() : found->second));
    }
    return python_tuple(all);
  }

  const MlxExportRequest& request_;
  const kernel::Program& program_;
  const MlxPythonExpr& expr_;
};

}  // namespace

base::Result<std::string> mlx_python_plan(const MlxExportRequest& request,
                                          const MlxPythonExpr& expr, const std::string& function) {
  return PythonPlan(request, expr).code(function);
}

}  // namespace ksearch::formats
