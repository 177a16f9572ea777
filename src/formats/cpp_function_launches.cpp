// The launches of an exported function: loops, conditions, which copy of a kernel, with what.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "formats/cpp_function.h"

namespace ksearch::formats {

using kernel::DType;

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
  const std::string v = value_name(loop_variable_);
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
  const std::string plain = "p." + local_.tensor(tensor);
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

}  // namespace ksearch::formats
