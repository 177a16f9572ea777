#include "kernel/workload.h"

#include <fmt/format.h>

#include <cmath>

namespace ksearch::kernel {
namespace {

using base::Json;
using base::ObjectReader;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

std::optional<Role> parse_role(std::string_view text) {
  if (text == "tiny") return Role::tiny;
  if (text == "feedback") return Role::feedback;
  if (text == "heldout") return Role::heldout;
  return std::nullopt;
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::tiny:
      return "tiny";
    case Role::feedback:
      return "feedback";
    case Role::heldout:
      return "heldout";
  }
  return "";
}

void read_axes(ObjectReader& top, const Definition& definition, Workload& w) {
  ObjectReader r(top.object("axes"), top.place("axes"));
  for (const Axis& axis : definition.axes) {
    if (axis.constant) continue;
    const std::int64_t size = r.integer(axis.name);
    if (r.ok() && (size < 1 || size > kMostElements))
      r.fault(axis.name, "is out of range 1 .. 2^40");
    w.axes[axis.name] = size;
  }
  top.keep(r);
}

void read_types(ObjectReader& top, const Definition& definition, Workload& w) {
  if (definition.types.empty() && !top.has("types")) return;
  ObjectReader r(top.object("types"), top.place("types"));
  for (const auto& [name, allowed] : definition.types) {
    const std::string text = r.text(name);
    if (!r.ok()) break;
    const auto type = parse_dtype(text);
    bool found = false;
    for (const DType a : allowed) found = found || a == type;
    if (!found)
      r.fault(name, fmt::format("\"{}\" is none of the definition's types", text));
    else
      w.types[name] = *type;
  }
  top.keep(r);
}

void read_params(ObjectReader& top, const Definition& definition, Workload& w) {
  if (definition.params.empty() && !top.has("params")) return;
  ObjectReader r(top.object("params"), top.place("params"));
  for (const Param& p : definition.params) {
    if (p.kind == ParamKind::boolean) {
      if (!r.has(p.name)) r.fault(p.name, "is missing");
      w.params[p.name] = r.boolean_or(p.name, false);
    } else if (p.kind == ParamKind::integer) {
      w.params[p.name] = r.integer(p.name);
    } else {
      const double value = r.number(p.name);
      if (r.ok() && !std::isfinite(value)) r.fault(p.name, "is not finite");
      w.params[p.name] = value;
    }
  }
  top.keep(r);
}

void read_check_axes(ObjectReader& top, Workload& w) {
  const Json* check = top.optional_object("check");
  if (!check) return;
  ObjectReader r(*check, top.place("check"));
  for (const auto& [name, own] : w.axes) {
    if (!r.has(name)) continue;
    const std::int64_t size = r.integer(name);
    if (r.ok() && (size < 1 || size > own)) r.fault(name, "is larger than the workload's own");
    w.check_axes[name] = size;
  }
  top.keep(r);
}

base::Result<void> keeps_constraints(const Definition& definition, const Workload& w,
                                     std::string_view where) {
  const Scope scope = scope_of(definition, w);
  for (const Constraint& c : definition.constraints) {
    if (!c.expr) continue;
    KS_TRY(const bool met, c.expr->eval_boolean(scope));
    if (!met)
      return base::usage_error(std::string(where),
                               fmt::format("\"{}\" breaks the constraint {}", w.name, c.text));
  }
  KS_RETURN_IF_ERROR(shapes_of(definition, w));
  return {};
}

}  // namespace

base::Result<Workload> parse_workload(const Json& json, const Definition& definition,
                                      std::string_view where) {
  ObjectReader r(json, std::string(where));
  Workload w;
  w.name = r.text("name");
  const std::string role = r.text_or("role", "feedback");
  if (const auto parsed = parse_role(role))
    w.role = *parsed;
  else
    r.fault("role", fmt::format("is \"{}\"; tiny, feedback or heldout is wanted", role));
  read_axes(r, definition, w);
  read_types(r, definition, w);
  read_params(r, definition, w);
  for (const std::string& name : r.texts_or_empty("absent")) {
    const TensorSpec* t = definition.tensor(name);
    if (!t || !t->optional) r.fault("absent", fmt::format("\"{}\" is no optional input", name));
    w.absent.insert(name);
  }
  read_check_axes(r, w);
  KS_RETURN_IF_ERROR(r.finish());
  KS_RETURN_IF_ERROR(keeps_constraints(definition, w, where));
  if (!w.check_axes.empty())
    KS_RETURN_IF_ERROR(keeps_constraints(definition, checked_shape(w), where));
  return w;
}

Workload checked_shape(const Workload& workload) {
  if (workload.check_axes.empty()) return workload;
  Workload smaller = workload;
  smaller.check_axes.clear();
  for (const auto& [name, size] : workload.check_axes) {
    smaller.axes[name] = size;
    smaller.name += fmt::format("_{}{}", name, size);
  }
  return smaller;
}

Json to_json(const Workload& w) {
  Json json{{"name", w.name}, {"role", role_name(w.role)}, {"axes", Json::object()}};
  for (const auto& [name, size] : w.axes) json["axes"][name] = size;
  for (const auto& [name_, type] : w.types) json["types"][name_] = name(type);
  for (const auto& [name_, value] : w.params)
    std::visit(
        [&](const auto& v) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, DType>)
            json["params"][name_] = v;
        },
        value);
  if (!w.absent.empty()) json["absent"] = w.absent;
  for (const auto& [name, size] : w.check_axes) json["check"][name] = size;
  return json;
}

std::int64_t TensorShape::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

std::size_t TensorShape::bytes() const {
  return static_cast<std::size_t>(elements()) * size_bytes(dtype);
}

Scope scope_of(const Definition& definition, const Workload& w) {
  Scope scope;
  for (const Axis& axis : definition.axes)
    if (axis.constant) scope.set(axis.name, *axis.constant);
  for (const auto& [name, size] : w.axes) scope.set(name, size);
  for (const auto& [name, type] : w.types) scope.set(name, type);
  for (const auto& [name, value] : w.params) scope.set(name, value);
  for (const auto& t : definition.inputs) scope.set_present(t.name, !w.absent.contains(t.name));
  for (const auto& t : definition.outputs) scope.set_present(t.name, true);
  return scope;
}

base::Result<std::vector<TensorShape>> shapes_of(const Definition& definition, const Workload& w) {
  const Scope scope = scope_of(definition, w);
  std::vector<TensorShape> shapes;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& spec : *list) {
      if (w.absent.contains(spec.name)) continue;
      TensorShape t;
      t.name = spec.name;
      t.access = spec.access;
      KS_TRY(const Value type, spec.dtype.eval(scope));
      t.dtype = std::get<DType>(type);
      std::int64_t elements = 1;
      for (const Expr& size : spec.shape) {
        KS_TRY(const std::int64_t n, size.eval_integer(scope));
        if (n < 1 || n > kMostElements / elements)
          return base::usage_error(
              w.name, fmt::format("{} has size {} = {}, out of range", spec.name, size.text(), n));
        elements *= n;
        t.shape.push_back(n);
      }
      shapes.push_back(std::move(t));
    }
  }
  return shapes;
}

base::Result<Work> work_of(const Definition& definition, const Workload& w) {
  const Scope scope = scope_of(definition, w);
  Work work;
  const auto count = [&](const std::optional<Expr>& expr, double& number) -> base::Result<void> {
    if (!expr) return {};
    KS_TRY(number, expr->eval_number(scope));
    return {};
  };
  KS_RETURN_IF_ERROR(count(definition.flops, work.flops));
  KS_RETURN_IF_ERROR(count(definition.operations, work.operations));
  KS_RETURN_IF_ERROR(count(definition.special_functions, work.special_functions));
  KS_RETURN_IF_ERROR(count(definition.bytes, work.bytes));
  return work;
}

}  // namespace ksearch::kernel
