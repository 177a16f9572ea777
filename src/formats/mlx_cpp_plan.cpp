#include "formats/mlx_cpp_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ksearch::formats {
namespace {

class CppPlan {
 public:
  CppPlan(const MlxExportRequest& request, const MlxCppExpr& expr)
      : request_(request), program_(*request.program), expr_(expr) {}

  base::Result<std::string> code(const std::string& function) const {
    const bool free = program_.tunables.empty() && program_.let.empty();
    if (free && program_.constraints.empty()) return std::string();
    KS_TRY(const std::string choice, choices());
    return declarations() + fits() +
           fmt::format(
               "  if (!({}))\n"
               "    throw std::invalid_argument(\"{}: there is no plan for these sizes\");\n",
               choice, function);
  }

 private:
  std::string declarations() const {
    std::string code;
    for (const auto& [tunable, values] : program_.tunables)
      code += fmt::format("  [[maybe_unused]] int64_t {} = 0;\n", expr_.value(tunable));
    for (const auto& [name, value] : program_.let)
      code += fmt::format("  [[maybe_unused]] int64_t {} = 0;\n", expr_.value(name));
    return code;
  }

  /// Takes a choice of tunables and says whether the plan holds with it.
  std::string fits() const {
    std::string code = fmt::format(
        "  const auto fits = [&]({}) {{\n    bad = false;\n",
        program_.tunables.empty()
            ? ""
            : fmt::format("const std::array<int64_t, {}>& choice", program_.tunables.size()));
    std::size_t i = 0;
    for (const auto& [tunable, values] : program_.tunables)
      code += fmt::format("    {} = choice[{}];\n", expr_.value(tunable), i++);
    for (const auto& [name, value] : program_.let)
      code += fmt::format("    {} = {};\n", expr_.value(name), expr_.code(value));
    std::string conditions;
    for (const kernel::Expr& constraint : program_.constraints)
      conditions += fmt::format("({}) && ", expr_.code(constraint));
    return code + fmt::format("    return {}!bad;\n  }};\n", conditions);
  }

  /// (cols > 200 ? fits({64}) : fits({256})) || fits({256})
  base::Result<std::string> choices() const {
    if (program_.tunables.empty()) return std::string("fits()");
    std::vector<std::string> all;
    std::string selected;
    bool settled = false;  // by a rule without a condition
    for (const kernel::SelectRule& rule : program_.select) {
      selected += rule.when
                      ? fmt::format("{} ? {} : ", expr_.code(*rule.when), tried(rule.tunables))
                      : tried(rule.tunables);
      settled = !rule.when;
      if (settled) break;
    }
    if (!selected.empty()) all.push_back(fmt::format("({}{})", selected, settled ? "" : "false"));
    KS_TRY(const auto fitting, fitting_choices(request_));
    for (const kernel::TunableChoice& choice : fitting)
      if (const std::string one = tried(choice); std::ranges::find(all, one) == all.end())
        all.push_back(one);
    return fmt::format("{}", fmt::join(all, " ||\n        "));
  }

  std::string tried(const kernel::TunableChoice& choice) const {
    std::vector<std::int64_t> values;
    for (const auto& [tunable, all] : program_.tunables) {
      const auto found = choice.find(tunable);
      values.push_back(found == choice.end() ? all.front() : found->second);
    }
    return fmt::format("fits({{{}}})", fmt::join(values, ", "));
  }

  const MlxExportRequest& request_;
  const kernel::Program& program_;
  const MlxCppExpr& expr_;
};

}  // namespace

base::Result<std::string> mlx_cpp_plan(const MlxExportRequest& request, const MlxCppExpr& expr,
                                       const std::string& function) {
  return CppPlan(request, expr).code(function);
}

}  // namespace ksearch::formats
