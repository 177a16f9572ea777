// The two functions that are called from outside, and the workspace that they share.
#include <fmt/format.h>

#include "formats/cpp_function.h"

namespace ksearch::formats {

std::string CppFunction::entry_text() {
  // Locals end in "_": the parameters beside them have the user's names.
  std::string set_sizes;
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) set_sizes += fmt::format("  p_.{0} = {0};\n", local_.value(axis.name));
  for (const auto& param : in_.definition->params)
    set_sizes += fmt::format("  p_.{0} = {0};\n", local_.value(param.name));
  set_sizes += "  p_.device_cores = worker_count(threads);\n";
  std::string set_tensors, missing, has;
  for (const auto* t : tensors()) {
    set_tensors += fmt::format("  p_.{0} = {0};\n", local_.tensor(t->name));
    if (t->optional) {
      set_tensors += fmt::format("  p_.has_{} = {} != nullptr;\n", t->name, local_.tensor(t->name));
      has += fmt::format("  p_.has_{0} = has_{0};\n", t->name);
    } else {
      missing += (missing.empty() ? "!" : " || !") + local_.tensor(t->name);
    }
  }
  std::string inits;
  for (const auto& s : in_.program->scratch)
    if (s.init)
      inits += fmt::format("    team_.fill(worker_, p_.scratch_{0}, p_.elements_{0}, {1:#}f);\n",
                           s.name, static_cast<float>(*s.init));
  const std::string ns = in_.name + "_plan";
  const std::string& status = in_.status_prefix;
  std::string out = fmt::format("extern \"C\" {} {{\n  using namespace {};\n  Plan p_;\n{}{}",
                                workspace_declaration(), ns, set_sizes, has);
  out += "  return choose(p_) ? lay_out(p_, nullptr) : 0;\n}\n\n";
  out += fmt::format("extern \"C\" {} {{\n  using namespace {};\n", declaration(), ns);
  if (!missing.empty()) out += fmt::format("  if ({}) return {}_NULL_POINTER;\n", missing, status);
  out += "  Plan p_;\n" + set_tensors + set_sizes;
  out += fmt::format("  if (!choose(p_)) return {}_UNSUPPORTED;\n", status);
  out +=
      "  void* own_ = nullptr;\n"
      "  const size_t bytes_ = lay_out(p_, workspace);\n"
      "  if (bytes_ > 0 && !workspace) {\n    own_ = std::malloc(bytes_);\n";
  out += fmt::format("    if (!own_) return {}_OUT_OF_MEMORY;\n    lay_out(p_, own_);\n  }}\n",
                     status);
  out += "  run_team(static_cast<int>(p_.device_cores), [&](Team& team_, int worker_) {\n" + inits +
         "    walk(p_, &team_, worker_);\n  });\n  std::free(own_);\n";
  return out + fmt::format("  return {}_OK;\n}}\n\n", status);
}

std::string CppFunction::lay_out_text() {
  std::string cuts;
  for (const auto& s : in_.program->scratch)
    cuts += fmt::format(
        "  p.scratch_{0} = static_cast<{1}*>(pieces.take(p.elements_{0} * "
        "int64_t{{sizeof({1})}}));\n",
        s.name, kernel::cpp_name(dtype_of(s.dtype)));
  return "/// Cuts the workspace; returns how large it must be.\n"
         "size_t lay_out(Plan& p, void* block) {\n  Pieces pieces(block);\n" +
         cuts +
         "  p.group_bytes = (p.group_bytes + 63) / 64 * 64;\n"
         "  p.group_memory = static_cast<char*>(pieces.take(p.group_bytes * p.device_cores));\n"
         "  return pieces.needed();\n}\n\n";
}

}  // namespace ksearch::formats
