#include "evaluate/empty_program.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace ksearch::evaluate {
namespace {

std::string argument(const kernel::BoundArg& arg) {
  if (const auto* t = std::get_if<kernel::BoundTensor>(&arg))
    return fmt::format("{}{}*", t->writes ? "" : "const ", kernel::cpp_name(t->dtype));
  if (const auto* s = std::get_if<kernel::BoundScalar>(&arg))
    return std::string(kernel::cpp_name(s->kind));
  return "";
}

/// MLX writes the functions; the sources are their bodies.
kernel::Program with_empty_bodies(const kernel::Program& program,
                                  const std::vector<kernel::BoundProgram>& plans) {
  std::set<std::string> kernels;
  for (const kernel::BoundProgram& plan : plans)
    for (const kernel::BoundLaunch& launch : plan.launches) kernels.insert(launch.kernel);
  kernel::Program empty = program;
  empty.sources.clear();
  for (const std::string& kernel : kernels)
    empty.sources.push_back({kernel + ".metal", std::string(kEmptyBody)});
  return empty;
}

}  // namespace

std::optional<kernel::Program> empty_program(const kernel::Program& program,
                                             const std::vector<kernel::BoundProgram>& plans) {
  if (program.dialect == kernel::Dialect::mlx) return with_empty_bodies(program, plans);
  if (program.dialect != kernel::Dialect::cpp) return std::nullopt;
  // C linkage: one definition a name. Where launches of a kernel differ in types, `void*` serves
  // all.
  std::map<std::string, std::vector<std::string>> arguments;
  for (const kernel::BoundProgram& plan : plans)
    for (const kernel::BoundLaunch& launch : plan.launches) {
      std::vector<std::string> types;
      for (const kernel::BoundArg& arg : launch.args) {
        types.push_back(argument(arg));
        if (types.back().empty()) return std::nullopt;  // a struct argument
      }
      const auto [at, fresh] = arguments.try_emplace(launch.kernel, types);
      if (fresh) continue;
      if (at->second.size() != types.size()) return std::nullopt;
      for (std::size_t i = 0; i < types.size(); ++i)
        if (at->second[i] != types[i]) at->second[i] = "const void*";
    }
  std::string text = "// Every kernel of the plan, empty.\n";
  for (const auto& [name, types] : arguments) {
    text += fmt::format("extern \"C\" void {}(", name);
    for (const std::string& type : types) text += type + ", ";
    text += "const ks_group*) {}\n";
  }
  kernel::Program empty = program;
  empty.sources = {{"empty.cpp", std::move(text)}};
  return empty;
}

}  // namespace ksearch::evaluate
