#include "task/reference.h"

#include <fmt/format.h>

#include "task/reference_api_text.h"

namespace ksearch::task {
namespace {

constexpr char kEntry[] = "ks_reference_entry";

/// What the entry point takes, in order.
struct Signature {
  std::vector<const kernel::TensorSpec*> inputs;   // of the definition, absent ones too
  std::vector<const kernel::TensorSpec*> outputs;  // outputs, then inout inputs
};

Signature signature_of(const kernel::Definition& definition) {
  Signature s;
  for (const auto& t : definition.inputs) s.inputs.push_back(&t);
  for (const auto& t : definition.outputs) s.outputs.push_back(&t);
  for (const auto& t : definition.inputs)
    if (t.access == kernel::Access::inout) s.outputs.push_back(&t);
  return s;
}

/// A function that finds one kind of thing by its name. An unknown name traps: the reference asks
/// for something that the definition has not.
std::string lookup(std::string_view result, std::string_view function, std::string_view member,
                   const std::vector<std::string>& names) {
  std::string text = fmt::format(
      "{} {}(const void* self, const char* name) {{\n"
      "  const ks_call* c = static_cast<const ks_call*>(self);\n  (void)c;\n",
      result, function);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  if (!__builtin_strcmp(name, \"{}\")) return c->{}[{}];\n", names[i],
                        member, i);
  return text + "  __builtin_trap();\n}\n";
}

std::string entry_source(const kernel::Definition& definition) {
  const Signature s = signature_of(definition);
  std::vector<std::string> inputs, outputs, axes, params;
  std::string declared, in, out, axis_values, param_values;
  for (const auto* t : s.inputs) {
    declared += fmt::format("const double* in_{}, ", t->name);
    in += fmt::format("in_{}, ", t->name);
    inputs.push_back(t->name);
  }
  for (const auto* t : s.outputs) {
    declared += fmt::format("double* out_{}, ", t->name);
    out += fmt::format("out_{}, ", t->name);
    outputs.push_back(t->name);
  }
  for (const auto& a : definition.axes) {
    declared += fmt::format("int64_t axis_{}, ", a.name);
    axis_values += fmt::format("axis_{}, ", a.name);
    axes.push_back(a.name);
  }
  for (const auto& p : definition.params) {
    const char* type = p.kind == kernel::ParamKind::float32   ? "float"
                       : p.kind == kernel::ParamKind::boolean ? "bool"
                                                              : "int64_t";
    declared += fmt::format("{} param_{}, ", type, p.name);
    param_values += fmt::format("static_cast<double>(param_{}), ", p.name);
    params.push_back(p.name);
  }
  return fmt::format(
             "namespace {{\nstruct ks_call {{\n"
             "  const double* in[{}]; double* out[{}]; std::int64_t axes[{}]; double "
             "params[{}];\n}};\n",
             inputs.size() + 1, outputs.size() + 1, axes.size() + 1, params.size() + 1) +
         lookup("std::int64_t", "ks_axis_of", "axes", axes) +
         lookup("double", "ks_param_of", "params", params) +
         lookup("const double*", "ks_input_of", "in", inputs) +
         lookup("double*", "ks_output_of", "out", outputs) +
         fmt::format(
             "}}  // namespace\nextern \"C\" void {}({}const ks_group* group) {{\n"
             "  const ks_call call{{{{{}nullptr}}, {{{}nullptr}}, {{{}0}}, {{{}0.0}}}};\n"
             "  const ks_reference r{{&call, ks_axis_of, ks_param_of, ks_input_of, ks_output_of,\n"
             "                       group->id[0], group->count[0]}};\n"
             "  reference(&r);\n}}\n",
             kEntry, declared, in, out, axis_values, param_values);
}

bool defines_function(std::string_view python, std::string_view name) {
  const std::string def = fmt::format("def {}(", name);
  return python.starts_with(def) || python.find("\n" + def) != std::string_view::npos;
}

}  // namespace

kernel::Program reference_program(const Task& task) {
  kernel::Program program;
  program.task = task.definition.name;
  program.dialect = kernel::Dialect::cpp;
  program.sources = {
      {"reference.cpp",
       fmt::format("#line 1 \"reference_api.h\"\n{}\n#line 1 \"reference.cpp\"\n{}\n"
                   "#line 1 \"reference entry\"\n{}",
                   kReferenceApi, task.reference_cpp, entry_source(task.definition))}};
  kernel::Launch launch;
  launch.kernel = kEntry;
  launch.groups = {kernel::Expr::constant(1)};
  program.launches.push_back(std::move(launch));
  return program;
}

std::string reference_output(const kernel::TensorShape& shape) {
  return shape.access == kernel::Access::inout ? shape.name + "__after" : shape.name;
}

std::vector<kernel::TensorShape> reference_tensors(const std::vector<kernel::TensorShape>& tensors,
                                                   bool script) {
  std::vector<kernel::TensorShape> doubles = tensors;
  for (kernel::TensorShape& t : doubles)
    if (!script || t.access == kernel::Access::out || kernel::is_float(t.dtype))
      t.dtype = kernel::DType::float64;
  for (const kernel::TensorShape& t : tensors) {
    if (t.access != kernel::Access::inout) continue;
    kernel::TensorShape after = t;
    after.name = reference_output(t);
    after.dtype = kernel::DType::float64;
    after.access = kernel::Access::out;
    doubles.push_back(std::move(after));
  }
  for (kernel::TensorShape& t : doubles)
    if (t.access == kernel::Access::inout) t.access = kernel::Access::in;
  return doubles;
}

kernel::BoundProgram bind_reference(const Task& task, const kernel::Workload& workload,
                                    const std::vector<kernel::TensorShape>& tensors, int parts) {
  const Signature s = signature_of(task.definition);
  const kernel::Scope scope = kernel::scope_of(task.definition, workload);
  const auto present = [&](const std::string& name) { return !workload.absent.contains(name); };
  kernel::BoundLaunch launch;
  launch.kernel = kEntry;
  launch.groups = {parts, 1, 1};
  for (const auto* t : s.inputs)
    launch.args.push_back(kernel::BoundTensor{present(t->name) ? t->name : "", 0, false,
                                              kernel::DType::float64, std::nullopt});
  for (const auto* t : s.outputs) {
    std::string name = present(t->name) ? t->name : "";
    for (const kernel::TensorShape& shape : tensors)
      if (shape.name == name) name = reference_output(shape);
    launch.args.push_back(
        kernel::BoundTensor{std::move(name), 0, true, kernel::DType::float64, std::nullopt});
  }
  for (const auto& a : task.definition.axes)
    launch.args.push_back(kernel::BoundScalar{kernel::ScalarKind::i64,
                                              std::get<std::int64_t>(*scope.find(a.name)), a.name});
  for (const auto& p : task.definition.params) {
    const kernel::Value& value = *scope.find(p.name);
    kernel::BoundScalar scalar;
    scalar.name = p.name;
    scalar.kind = p.kind == kernel::ParamKind::float32   ? kernel::ScalarKind::f32
                  : p.kind == kernel::ParamKind::boolean ? kernel::ScalarKind::boolean
                                                         : kernel::ScalarKind::i64;
    if (const auto* d = std::get_if<double>(&value))
      scalar.value = *d;
    else if (const auto* b = std::get_if<bool>(&value))
      scalar.value = std::int64_t{*b};
    else if (const auto* i = std::get_if<std::int64_t>(&value))
      scalar.value = *i;
    launch.args.push_back(std::move(scalar));
  }
  kernel::BoundProgram bound;
  bound.launches.push_back(std::move(launch));
  return bound;
}

std::string reference_script(const Task& task) {
  if (defines_function(task.reference_py, "setup") || !defines_function(task.reference_py, "run"))
    return task.reference_py;
  return task.reference_py +
         R"py(

# FlashInfer-Bench's convention: run(**inputs) returns the outputs, in order, by name, or alone.
def setup(case):
    import sys
    torch = sys.modules.get("torch") if "torch" in globals() else None
    if torch is not None:
        inputs = {n: torch.from_numpy(a) for n, a in case.inputs.items()}
    else:
        inputs = dict(case.inputs)
    scalars = {n: a.reshape(-1)[0].item() for n, a in inputs.items() if getattr(a, "ndim", 1) == 0}
    inputs.update(scalars)

    def call():
        result = run(**inputs)
        if not isinstance(result, (tuple, list, dict)):
            result = (result,)
        values = result.values() if isinstance(result, dict) else result
        for (name, out), value in zip(case.outputs.items(), values):
            value = result[name] if isinstance(result, dict) else value
            if torch is not None and isinstance(value, torch.Tensor):
                value = value.detach().to(torch.float64).numpy()
            out[...] = value

    return call
)py";
}

}  // namespace ksearch::task
