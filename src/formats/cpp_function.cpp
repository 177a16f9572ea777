#include "formats/cpp_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "formats/cpp_names.h"

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

}  // namespace

std::string cpp_word(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "Pieces",   "Plan",         "Team",      "bool",      "bytes_",       "ceil_div",
      "choose",   "device_cores", "floor_div", "floor_mod", "group_bytes",  "group_memory",
      "int16_t",  "int32_t",      "int64_t",   "int8_t",    "ks_bf16",      "ks_group",
      "ks_half",  "lay_out",      "own_",      "p_",        "run_team",     "size_t",
      "std",      "team_",        "threads",   "tunable",   "uint16_t",     "uint32_t",
      "uint64_t", "uint8_t",      "walk",      "worker_",   "worker_count", "workspace"};
  for (const std::string_view mark : {"has_", "let_", "scratch_", "elements_"})
    if (name.starts_with(mark)) return fmt::format("n_{}", name);  // members of the plan
  return cpp_local(name, kTaken);
}

std::string_view cpp_function_refuses(std::string_view name) {
  static const std::set<std::string_view> kOwn = {
      "Pieces",   "Team",    "ceil_div", "floor_div", "floor_mod", "int64_t",     "ks_bf16",
      "ks_group", "ks_half", "run_team", "size_t",    "std",       "worker_count"};
  return cpp_refuses(name, kOwn);
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

CppFunction::CppFunction(const CppFunctionInput& input)
    : in_(input), local_(*input.definition, *input.program, cpp_word) {
  names_.value = [this](std::string_view name) { return value_name(name); };
  names_.type = [this](std::string_view name) -> std::optional<DType> {
    const auto found = in_.types.find(std::string(name));
    return found == in_.types.end() ? std::nullopt : std::optional(found->second);
  };
  names_.present = [](std::string_view tensor) { return fmt::format("p.has_{}", tensor); };
}

std::string CppFunction::value_name(std::string_view name) {
  if (name == loop_variable_) return fmt::format("loop_{}", name);
  if (name == "device.cores") return "p.device_cores";
  if (name.starts_with("device.")) return device_macro(name, device_macros_);
  for (const auto& axis : in_.definition->axes)
    if (axis.name == name && axis.constant) return std::to_string(*axis.constant);
  for (const auto& [tunable, values] : in_.program->tunables)
    if (tunable == name) return fmt::format("p.tunable.{}", local_.value(name));
  for (const auto& [let, e] : in_.program->let)
    if (let == name) return fmt::format("p.let_{}", name);
  return "p." + local_.value(name);
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

std::vector<const kernel::TensorSpec*> CppFunction::tensors() const {
  std::vector<const kernel::TensorSpec*> all;
  for (const auto& t : in_.definition->inputs) all.push_back(&t);
  for (const auto& t : in_.definition->outputs) all.push_back(&t);
  return all;
}

std::string CppFunction::size_parameters() const {
  std::string out;
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("int64_t {}, ", local_.value(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("{} {}, ", param_type(param.kind), local_.value(param.name));
  return out;
}

std::string CppFunction::declaration() const {
  std::string out = fmt::format("int {}(", in_.name);
  for (const auto* t : tensors()) {
    const bool reads = t->access == kernel::Access::in;
    out += fmt::format("{}{}* {}, ", reads ? "const " : "", c_type(dtype_of(t->dtype)),
                       local_.tensor(t->name));
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
  for (const auto* t : tensors()) {
    const bool reads = t->access == kernel::Access::in;
    out += fmt::format("  {}{}* {} = nullptr;\n", reads ? "const " : "", c_type(dtype_of(t->dtype)),
                       local_.tensor(t->name));
    if (t->optional) out += fmt::format("  bool has_{} = false;\n", t->name);
  }
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("  int64_t {} = 0;\n", local_.value(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("  {} {}{{}};\n", param_type(param.kind), local_.value(param.name));
  out += "  int64_t device_cores = 1;\n";
  if (!in_.program->tunables.empty()) {
    out += "  struct Tunables {\n    int64_t ";
    for (std::size_t i = 0; i < in_.program->tunables.size(); ++i)
      out += (i ? ", " : "") + local_.value(in_.program->tunables[i].first);
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
    if (!axis.constant)
      out += fmt::format("  if (p.{} < 1) return false;\n", local_.value(axis.name));
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

std::string CppFunction::definition_text() {
  std::string out = fmt::format("namespace {{\nnamespace {}_plan {{\n\n", in_.name);
  out += plan_struct() + walk_text() + bind_text() + choose_text() + lay_out_text();
  out += fmt::format("}}  // namespace {}_plan\n}}  // namespace\n\n", in_.name);
  return out + entry_text();
}

}  // namespace ksearch::formats
