#include "formats/cpp_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace ksearch::formats {
namespace {

using kernel::DType;

std::string_view param_type(kernel::ParamKind kind) {
  switch (kind) {
    case kernel::ParamKind::integer:
      return "int64_t";
    case kernel::ParamKind::boolean:
      return "bool";
    case kernel::ParamKind::float32:
      return "float";
  }
  return "";
}

/// All tensors of the definition in its order: inputs, then outputs.
std::vector<const kernel::TensorSpec*> tensors(const kernel::Definition& definition) {
  std::vector<const kernel::TensorSpec*> all;
  for (const auto& t : definition.inputs) all.push_back(&t);
  for (const auto& t : definition.outputs) all.push_back(&t);
  return all;
}

}  // namespace

std::string cpp_word(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "auto",     "bool",    "break",   "case",     "char",     "class",   "const",     "continue",
      "default",  "delete",  "do",      "double",   "else",     "enum",    "extern",    "float",
      "for",      "goto",    "if",      "inline",   "int",      "long",    "namespace", "new",
      "operator", "private", "public",  "register", "return",   "short",   "signed",    "sizeof",
      "static",   "struct",  "switch",  "template", "this",     "threads", "typename",  "union",
      "unsigned", "using",   "virtual", "void",     "volatile", "while",   "workspace"};
  return std::string(name) + (kTaken.contains(name) ? "_" : "");
}

std::string_view c_type(DType type) {
  switch (type) {
    case DType::float16:
    case DType::bfloat16:
      return "uint16_t";
    case DType::boolean:
      return "bool";
    default:
      return kernel::cpp_name(type);
  }
}

std::string device_macro(std::string_view name, std::set<std::string>& used) {
  std::string macro;
  if (name == "device.simd_width") macro = "KS_SIMD_WIDTH";
  if (name == "device.l1_bytes") macro = "KS_L1_BYTES";
  if (name == "device.l2_bytes") macro = "KS_L2_BYTES";
  if (name == "device.group_memory") macro = "KS_GROUP_MEMORY";
  if (name == "device.max_group_size") macro = "KS_MAX_GROUP_SIZE";
  if (name.starts_with("device.has_")) {
    macro = "KS_HAS_" + std::string(name.substr(std::string_view("device.has_").size()));
    std::ranges::transform(macro, macro.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
  }
  if (!macro.empty()) used.insert(macro);
  return macro;
}

CppFunction::CppFunction(const CppFunctionInput& input) : in_(input) {
  names_.value = [this](std::string_view name) { return value_name(name); };
  names_.type = [this](std::string_view name) -> std::optional<DType> {
    const auto found = in_.types.find(std::string(name));
    return found == in_.types.end() ? std::nullopt : std::optional(found->second);
  };
  names_.present = [](std::string_view tensor) { return fmt::format("p.has_{}", tensor); };
}

std::string CppFunction::value_name(std::string_view name) {
  if (name == loop_variable_) return cpp_word(name);
  if (name == "device.cores") return "p.device_cores";
  if (name.starts_with("device.")) return device_macro(name, device_macros_);
  for (const auto& axis : in_.definition->axes)
    if (axis.name == name && axis.constant) return std::to_string(*axis.constant);
  for (const auto& [tunable, values] : in_.program->tunables)
    if (tunable == name) return fmt::format("p.tunable.{}", cpp_word(name));
  for (const auto& [let, e] : in_.program->let)
    if (let == name) return fmt::format("p.let_{}", name);
  return "p." + cpp_word(name);
}

DType CppFunction::dtype_of(const kernel::Expr& e) const {
  if (const auto known = kernel::parse_dtype(e.text())) return *known;
  const auto found = in_.types.find(e.text());
  KS_CHECK(found != in_.types.end(),
           "an element type of the definition is bound by every workload");
  return found->second;
}

const kernel::Scratch* CppFunction::scratch(std::string_view name) const {
  for (const auto& s : in_.program->scratch)
    if (s.name == name) return &s;
  return nullptr;
}

std::string CppFunction::size_parameters() const {
  std::string out;
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("int64_t {}, ", cpp_word(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("{} {}, ", param_type(param.kind), cpp_word(param.name));
  return out;
}

std::string CppFunction::declaration() const {
  std::string out = fmt::format("int {}(", in_.name);
  for (const auto* t : tensors(*in_.definition)) {
    const bool reads = t->access == kernel::Access::in;
    out += fmt::format("{}{}* {}, ", reads ? "const " : "", c_type(dtype_of(t->dtype)),
                       cpp_word(t->name));
  }
  return out + size_parameters() + "int threads, void* workspace)";
}

std::string CppFunction::workspace_declaration() const {
  std::string out = fmt::format("size_t {}_workspace(", in_.name) + size_parameters();
  for (const auto& t : in_.definition->inputs)
    if (t.optional) out += fmt::format("bool has_{}, ", t.name);
  return out + "int threads)";
}

std::string CppFunction::plan_struct() const {
  std::string out = "struct Plan {\n";
  for (const auto* t : tensors(*in_.definition)) {
    const bool reads = t->access == kernel::Access::in;
    out += fmt::format("  {}{}* {} = nullptr;\n", reads ? "const " : "", c_type(dtype_of(t->dtype)),
                       cpp_word(t->name));
    if (t->optional) out += fmt::format("  bool has_{} = false;\n", t->name);
  }
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("  int64_t {} = 0;\n", cpp_word(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("  {} {}{{}};\n", param_type(param.kind), cpp_word(param.name));
  out += "  int64_t device_cores = 1;\n";
  if (!in_.program->tunables.empty()) {
    out += "  struct Tunables {\n    int64_t ";
    for (std::size_t i = 0; i < in_.program->tunables.size(); ++i)
      out += (i ? ", " : "") + cpp_word(in_.program->tunables[i].first);
    out += ";\n  } tunable{};\n";
  }
  for (const auto& [let, e] : in_.program->let) out += fmt::format("  int64_t let_{} = 0;\n", let);
  for (const auto& s : in_.program->scratch)
    out += fmt::format("  {}* scratch_{} = nullptr;\n  int64_t elements_{} = 0;\n",
                       kernel::cpp_name(dtype_of(s.dtype)), s.name, s.name);
  out += "  int64_t group_bytes = 0;\n  char* group_memory = nullptr;\n};\n\n";
  return out;
}

std::string CppFunction::bind_text() {
  std::string out =
      "/// The sizes that follow from the arguments; false where the plan does not hold for them.\n"
      "bool bind(Plan& p) {\n  bool bad = false;\n  p.group_bytes = 0;\n";
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("  if (p.{} < 1) return false;\n", cpp_word(axis.name));
  for (const auto& constraint : in_.definition->constraints)
    if (constraint.expr) out += fmt::format("  if (!({})) return false;\n", code(*constraint.expr));
  for (const auto& [let, e] : in_.program->let)
    out += fmt::format("  p.let_{} = {};\n", let, code(e));
  for (const auto& constraint : in_.program->constraints)
    out += fmt::format("  if (!({})) return false;\n", code(constraint));
  for (const auto& s : in_.program->scratch) {
    std::string product;
    for (const auto& size : s.shape) {
      out += fmt::format("  if (({}) < 1) return false;\n", code(size));
      product += (product.empty() ? "int64_t{" : " * int64_t{") + code(size) + "}";
    }
    out += fmt::format("  p.elements_{} = {};\n", s.name, product.empty() ? "1" : product);
  }
  return out + "  return !bad && walk(p, nullptr, 0);\n}\n\n";
}

std::string CppFunction::choose_text() {
  std::string out =
      "/// Takes the tunables that were chosen for these sizes, else the first ones that hold.\n"
      "bool choose(Plan& p) {\n";
  if (in_.program->tunables.empty()) return out + "  return bind(p);\n}\n\n";
  const auto list = [&](const kernel::TunableChoice& choice) {
    std::string values;
    for (const auto& [tunable, all] : in_.program->tunables) {
      const auto found = choice.find(tunable);
      values += (values.empty() ? "" : ", ") +
                std::to_string(found == choice.end() ? all.front() : found->second);
    }
    return "{" + values + "}";
  };
  out += "  [[maybe_unused]] bool bad = false;\n";
  for (std::size_t i = 0; i < in_.program->select.size(); ++i) {
    const auto& rule = in_.program->select[i];
    out += i == 0 ? "  " : "  else ";
    if (rule.when) out += fmt::format("if ({}) ", code(*rule.when));
    out += fmt::format("p.tunable = {};\n", list(rule.tunables));
    if (!rule.when) break;
  }
  if (!in_.program->select.empty()) out += "  if (bind(p)) return true;\n";
  out += "  static constexpr Plan::Tunables kChoices[] = {";
  for (std::size_t i = 0; i < in_.choices.size(); ++i)
    out += (i ? ", " : "") + list(in_.choices[i]);
  out +=
      "};\n  for (const auto& choice : kChoices) {\n    p.tunable = choice;\n"
      "    if (bind(p)) return true;\n  }\n  return false;\n}\n\n";
  return out;
}

std::string CppFunction::entry_text() {
  // Locals end in "_": the parameters beside them have the user's names.
  std::string set_sizes;
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) set_sizes += fmt::format("  p_.{0} = {0};\n", cpp_word(axis.name));
  for (const auto& param : in_.definition->params)
    set_sizes += fmt::format("  p_.{0} = {0};\n", cpp_word(param.name));
  set_sizes += "  p_.device_cores = worker_count(threads);\n";
  std::string set_tensors, missing, has;
  for (const auto* t : tensors(*in_.definition)) {
    set_tensors += fmt::format("  p_.{0} = {0};\n", cpp_word(t->name));
    if (t->optional) {
      set_tensors += fmt::format("  p_.has_{} = {} != nullptr;\n", t->name, cpp_word(t->name));
      has += fmt::format("  p_.has_{0} = has_{0};\n", t->name);
    } else {
      missing += (missing.empty() ? "!" : " || !") + cpp_word(t->name);
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

std::string CppFunction::definition_text() {
  std::string out = fmt::format("namespace {{\nnamespace {}_plan {{\n\n", in_.name);
  out += plan_struct() + walk_text() + bind_text() + choose_text() + lay_out_text();
  out += fmt::format("}}  // namespace {}_plan\n}}  // namespace\n\n", in_.name);
  return out + entry_text();
}

}  // namespace ksearch::formats
