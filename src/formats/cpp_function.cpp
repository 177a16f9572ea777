#include "formats/cpp_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace ksearch::formats {
namespace {

using kernel::DType;

/// Names of the user's that C++ does not take as they are.
std::string safe(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "auto",     "bool",    "break",   "case",     "char",     "class",   "const",     "continue",
      "default",  "delete",  "do",      "double",   "else",     "enum",    "extern",    "float",
      "for",      "goto",    "if",      "inline",   "int",      "long",    "namespace", "new",
      "operator", "private", "public",  "register", "return",   "short",   "signed",    "sizeof",
      "static",   "struct",  "switch",  "template", "this",     "threads", "typename",  "union",
      "unsigned", "using",   "virtual", "void",     "volatile", "while",   "workspace"};
  return std::string(name) + (kTaken.contains(name) ? "_" : "");
}

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
  if (name == loop_variable_) return safe(name);
  if (name == "device.cores") return "p.device_cores";
  if (name.starts_with("device.")) return device_macro(name, device_macros_);
  for (const auto& axis : in_.definition->axes)
    if (axis.name == name && axis.constant) return std::to_string(*axis.constant);
  for (const auto& [tunable, values] : in_.program->tunables)
    if (tunable == name) return fmt::format("p.tunable.{}", safe(name));
  for (const auto& [let, e] : in_.program->let)
    if (let == name) return fmt::format("p.let_{}", name);
  return "p." + safe(name);
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
    if (!axis.constant) out += fmt::format("int64_t {}, ", safe(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("{} {}, ", param_type(param.kind), safe(param.name));
  return out;
}

std::string CppFunction::declaration() const {
  std::string out = fmt::format("int {}(", in_.name);
  for (const auto* t : tensors(*in_.definition)) {
    const bool reads = t->access == kernel::Access::in;
    out +=
        fmt::format("{}{}* {}, ", reads ? "const " : "", c_type(dtype_of(t->dtype)), safe(t->name));
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
                       safe(t->name));
    if (t->optional) out += fmt::format("  bool has_{} = false;\n", t->name);
  }
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) out += fmt::format("  int64_t {} = 0;\n", safe(axis.name));
  for (const auto& param : in_.definition->params)
    out += fmt::format("  {} {}{{}};\n", param_type(param.kind), safe(param.name));
  out += "  int64_t device_cores = 1;\n";
  if (!in_.program->tunables.empty()) {
    out += "  struct Tunables {\n    int64_t ";
    for (std::size_t i = 0; i < in_.program->tunables.size(); ++i)
      out += (i ? ", " : "") + safe(in_.program->tunables[i].first);
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
    if (!axis.constant) out += fmt::format("  if (p.{} < 1) return false;\n", safe(axis.name));
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

std::string CppFunction::walk_text() {
  std::string out =
      "/// Goes through the launches: with a team it runs them; without, it looks whether each can "
      "run\n"
      "/// and how much memory its groups need.\n"
      "bool walk(Plan& p, Team* team, int worker) {\n  bool bad = false;\n";
  const auto& launches = in_.program->launches;
  for (std::size_t i = 0, end; i < launches.size(); i = end) {
    end = kernel::end_of_loop(launches, i);
    out += loop_text(std::span(launches).subspan(i, end - i));
  }
  return out + "  return !bad;\n}\n\n";
}

std::string CppFunction::loop_text(std::span<const kernel::Launch> body) {
  const auto& loop = body.front().loop;
  if (!loop) return launch_text(body.front(), "  ");
  const std::string from = code(loop->from), to = code(loop->to);
  loop_variable_ = loop->variable;
  const std::string v = safe(loop_variable_);
  std::string out =
      fmt::format("  for (int64_t {} = {}, end_ = {}; {} < end_; ++{}) {{\n", v, from, to, v, v);
  for (const auto& launch : body) out += launch_text(launch, "    ");
  loop_variable_.clear();
  return out + "  }\n";
}

std::string CppFunction::launch_text(const kernel::Launch& launch, const std::string& indent) {
  const std::string condition = launch.when ? fmt::format("if ({}) ", code(*launch.when)) : "";
  return indent + condition + "{\n" + call_text(launch, indent + "  ") + indent + "}\n";
}

std::string CppFunction::call_text(const kernel::Launch& launch, const std::string& indent) {
  std::string sizes;
  for (std::size_t i = 0; i < 3; ++i)
    sizes += (i ? ", " : "") + (i < launch.groups.size() ? code(launch.groups[i]) : "1");
  std::string bytes;
  for (const auto& memory : launch.group_memory)
    bytes += (bytes.empty() ? "" : " + ") + code(memory);
  std::string out = fmt::format("{}const int64_t count[3] = {{{}}};\n", indent, sizes);
  const std::vector<Choice> choices = this->choices(launch);
  std::string index;
  for (const Choice& choice : choices)
    index += choice.condition.empty() ? std::to_string(choice.variant)
                                      : fmt::format("{} ? {} : ", choice.condition, choice.variant);
  if (choices.empty() || !choices.back().condition.empty()) index += "-1";
  out += fmt::format("{}const int copy = {};\n", indent, index);
  out += fmt::format(
      "{}if (bad || copy < 0 || count[0] < 1 || count[1] < 1 || count[2] < 1) return false;\n",
      indent);
  if (!bytes.empty())
    out += fmt::format("{}if (!team) p.group_bytes = std::max<int64_t>(p.group_bytes, {});\n",
                       indent, bytes);
  out += indent + "if (team) {\n" + fills(launch, indent + "  ");
  std::string arguments;
  for (const auto& arg : launch.args) arguments += argument(arg) + ", ";
  const std::string memory = bytes.empty() ? "nullptr" : "p.group_memory + worker * p.group_bytes";
  // Copies for other launches need not have this kernel.
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::size_t v = choices[i].variant;
    out += fmt::format("{}  {}if (copy == {})\n", indent, i ? "else " : "", v);
    out += fmt::format(
        "{}    team->run(worker, count, {}, [&](const ks_group* group) {{\n{}      "
        "{}::{}({}group);\n{}    }});\n",
        indent, memory, indent, in_.variants[v].name, launch.kernel, arguments, indent);
  }
  return out + indent + "}\n";
}

std::string CppFunction::pointer(const std::string& tensor, bool writes) {
  if (scratch(tensor)) return "p.scratch_" + tensor;
  const kernel::TensorSpec* spec = in_.definition->tensor(tensor);
  KS_CHECK(spec != nullptr, "a plan names only tensors of its task and its scratch");
  const DType type = dtype_of(spec->dtype);
  const std::string plain = "p." + safe(tensor);
  if (kernel::cpp_name(type) == c_type(type)) return plain;
  return fmt::format("reinterpret_cast<{}{}*>({})", writes ? "" : "const ", kernel::cpp_name(type),
                     plain);
}

std::string CppFunction::argument(const kernel::Arg& arg) {
  if (const auto* s = std::get_if<kernel::ScalarArg>(&arg))
    return fmt::format("static_cast<{}>({})", kernel::cpp_name(s->kind), code(s->value));
  const auto& t = std::get<kernel::TensorArg>(arg);
  const kernel::TensorSpec* spec = in_.definition->tensor(t.tensor);
  const bool writes = spec && spec->access != kernel::Access::in;
  std::string out = pointer(t.tensor, writes);
  if (t.offset) out += fmt::format(" + ({})", code(*t.offset));
  return out;
}

std::string CppFunction::fills(const kernel::Launch& launch, const std::string& indent) {
  std::string out;
  for (const auto& arg : launch.args) {
    const auto* t = std::get_if<kernel::TensorArg>(&arg);
    if (!t || !t->init) continue;
    std::string elements;
    if (scratch(t->tensor)) {
      elements = "p.elements_" + t->tensor;
    } else {
      for (const auto& size : in_.definition->tensor(t->tensor)->shape)
        elements += (elements.empty() ? "int64_t{" : " * int64_t{") + code(size) + "}";
      if (elements.empty()) elements = "1";
    }
    out += fmt::format("{}team->fill(worker, {}, {}, {}f);\n", indent, pointer(t->tensor, true),
                       elements, fmt::format("{:#}", static_cast<float>(*t->init)));
  }
  return out;
}

std::vector<CppFunction::Choice> CppFunction::choices(const kernel::Launch& launch) {
  kernel::Defines defines = in_.program->defines;
  defines.insert(defines.end(), launch.defines.begin(), launch.defines.end());
  std::vector<Choice> out;
  for (std::size_t v = 0; v < in_.variants.size(); ++v) {
    const auto& values = in_.variants[v].defines;
    if (values.size() != defines.size()) continue;
    std::string condition;
    bool possible = true;
    for (std::size_t i = 0; i < defines.size() && possible; ++i) {
      const auto& [name, e] = defines[i];
      possible = name == values[i].first;
      const bool is_type = kernel::parse_dtype(e.text()) || in_.types.contains(e.text());
      if (is_type) {
        possible = possible && values[i].second == kernel::cpp_name(dtype_of(e));
        continue;
      }
      // Values that hang on the compiler's target alone stand in the macro itself.
      const auto& used = e.names();
      const bool by_device = !used.empty() && std::ranges::all_of(used, [](const std::string& n) {
        return n.starts_with("device.") && n != "device.cores";
      });
      if (by_device) continue;
      condition += fmt::format("{}int64_t({}) == {}", condition.empty() ? "" : " && ", code(e),
                               values[i].second);
    }
    if (!possible) continue;
    out.push_back({v, condition});
    if (condition.empty()) break;
  }
  return out;
}

std::string CppFunction::entry_text() {
  // Locals end in "_": the parameters beside them have the user's names.
  std::string set_sizes;
  for (const auto& axis : in_.definition->axes)
    if (!axis.constant) set_sizes += fmt::format("  p_.{0} = {0};\n", safe(axis.name));
  for (const auto& param : in_.definition->params)
    set_sizes += fmt::format("  p_.{0} = {0};\n", safe(param.name));
  set_sizes += "  p_.device_cores = worker_count(threads);\n";
  std::string set_tensors, missing, has;
  for (const auto* t : tensors(*in_.definition)) {
    set_tensors += fmt::format("  p_.{0} = {0};\n", safe(t->name));
    if (t->optional) {
      set_tensors += fmt::format("  p_.has_{} = {} != nullptr;\n", t->name, safe(t->name));
      has += fmt::format("  p_.has_{0} = has_{0};\n", t->name);
    } else {
      missing += (missing.empty() ? "!" : " || !") + safe(t->name);
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
