#include "report/ablation.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::report {
namespace {

bool override_define(kernel::Defines& defines, const std::string& name, std::int64_t value) {
  bool found = false;
  for (auto& [define, expr] : defines) {
    if (define != name) continue;
    expr = kernel::Expr::constant(value);
    found = true;
  }
  return found;
}

}  // namespace

base::Result<std::vector<Variant>> leave_one_out(const engineer::Catalog& catalog,
                                                 const std::vector<std::string>& path,
                                                 const kernel::Program& winner) {
  std::vector<Variant> variants;
  const engineer::Step* step = path.empty() ? nullptr : catalog.find(path.back());
  if (!step) return variants;
  for (const std::string& left_out : path) {
    const auto overrides = step->leave_out.find(left_out);
    if (overrides == step->leave_out.end()) continue;
    Variant variant{left_out, winner};
    for (const auto& [name, value] : overrides->second) {
      bool found = override_define(variant.program.defines, name, value);
      for (kernel::Launch& launch : variant.program.launches) {
        found = override_define(launch.defines, name, value) || found;
      }
      if (!found) {
        return base::usage_error(step->name + "/step.json: leave_out." + left_out,
                                 fmt::format("the program does not define {}", name),
                                 "name a define of program.json");
      }
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace ksearch::report
