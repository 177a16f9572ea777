#include "formats/cpp_variants.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::formats {

base::Result<void> CppVariants::add(const kernel::Workload& workload) {
  const kernel::Program& program = *request_.program;
  auto failed = [&](base::Error e) {
    e.where = fmt::format("{}: {}", workload.name, e.where);
    return std::unexpected(std::move(e));
  };
  auto choice =
      kernel::choose(program, *request_.definition, workload, request_.device, program.select);
  if (!choice) return failed(choice.error());
  auto bound = kernel::bind(program, *request_.definition, workload, request_.device, *choice);
  if (!bound) return failed(bound.error());
  auto group = std::ranges::find(groups_, workload.types, &OfTypes::types);
  if (group == groups_.end())
    group = groups_.insert(groups_.end(), OfTypes{workload.types, {}, {}});
  if (std::ranges::find(group->choices, *choice) == group->choices.end())
    group->choices.push_back(*choice);
  for (const kernel::BoundLaunch& launch : bound->launches) {
    const auto defines = with_device_macros(launch.defines);
    if (std::ranges::find(group->variants, defines, &CppVariant::defines) != group->variants.end())
      continue;
    group->variants.push_back({name_of(defines), defines});
  }
  return {};
}

/// Values that hang on the compiler's target alone become its macros, so that the copy fits
/// whatever machine it is compiled for.
kernel::BoundDefines CppVariants::with_device_macros(kernel::BoundDefines defines) {
  CodeNames names;
  names.preprocessor = true;
  names.value = [&](std::string_view name) { return device_macro(name, device_macros_); };
  names.type = [](std::string_view) { return std::optional<kernel::DType>{}; };
  names.present = [](std::string_view) { return std::string{}; };
  for (auto& [macro, value] : defines)
    if (const kernel::Expr* e = only_device(macro)) value = "(" + to_cpp(*e, names) + ")";
  return defines;
}

const kernel::Expr* CppVariants::only_device(const std::string& macro) const {
  const auto fits = [](const kernel::Expr& e) {
    return !e.names().empty() && e.tensors().empty() &&
           std::ranges::all_of(e.names(), [](const std::string& n) {
             return n.starts_with("device.") && n != "device.cores";
           });
  };
  for (const auto& [name, e] : request_.program->defines)
    if (name == macro) return fits(e) ? &e : nullptr;
  for (const auto& launch : request_.program->launches)
    for (const auto& [name, e] : launch.defines)
      if (name == macro) return fits(e) ? &e : nullptr;
  return nullptr;
}

std::string CppVariants::name_of(const kernel::BoundDefines& defines) {
  const auto found = std::ranges::find(all_, defines, &CppVariant::defines);
  if (found != all_.end()) return found->name;
  all_.push_back({fmt::format("copy{}", all_.size()), defines});
  return all_.back().name;
}

}  // namespace ksearch::formats
