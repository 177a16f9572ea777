#include "kernel/definition.h"

#include <fmt/format.h>

#include <set>

#include "kernel/names.h"

namespace ksearch::kernel {
namespace {

using base::Json;
using base::ObjectReader;

/// Reads one definition, part by part, in the order in which parts depend on each other.
class Reader {
 public:
  Reader(const Json& json, std::string_view where) : top_(json, std::string(where)) {}

  base::Result<Definition> read() {
    d_.name = top_.text("name");
    d_.op_type = top_.text_or("op_type", "");
    d_.description = top_.text_or("description", "");
    if (top_.ok() && !is_name(d_.name))
      top_.fault("name", "a name is letters, digits and _, not beginning with a digit");
    read_axes();
    read_types();
    read_params();
    d_.inputs = read_tensors("inputs", false);
    d_.outputs = read_tensors("outputs", true);
    if (top_.ok() && d_.outputs.empty()) top_.fault("outputs", "an operation has an output");
    read_derived();
    read_constraints();
    read_generate();
    d_.flops = read_work("flops");
    d_.operations = read_work("operations");
    d_.special_functions = read_work("special_functions");
    d_.bytes = read_work("bytes");
    d_.python_reference = top_.text_or("reference", "");
    top_.ignore("tags");
    top_.ignore("custom_inputs_entrypoint");
    KS_RETURN_IF_ERROR(top_.finish());
    return std::move(d_);
  }

 private:
  void claim(std::string_view key, const std::string& name, const char* what) {
    if (!is_name(name))
      top_.fault(key, fmt::format("\"{}\" is no name: letters, digits and _", name));
    else if (!names_.insert(name).second)
      top_.fault(key, fmt::format("the name \"{}\" is taken; every {} has its own", name, what));
  }

  void read_axes() {
    for (const auto& [name, axis] : top_.object("axes").items()) {
      ObjectReader r(axis, top_.place(fmt::format("axes.{}", name)));
      Axis a;
      a.name = name;
      const std::string type = r.text("type");
      if (type == "const") {
        a.constant = r.integer("value");
        if (r.ok() && *a.constant < 1) r.fault("value", "an axis is at least 1");
      } else if (r.ok() && type != "var") {
        r.fault("type", fmt::format("is \"{}\", const or var is wanted", type));
      }
      a.description = r.text_or("description", "");
      r.ignore("parent");
      keep(r);
      claim("axes", name, "axis");
      d_.axes.push_back(std::move(a));
    }
  }

  void read_types() {
    const Json* types = top_.optional_object("types");
    if (!types) return;
    for (const auto& [name, list] : types->items()) {
      const std::string key = fmt::format("types.{}", name);
      std::vector<DType> allowed;
      if (!list.is_array() || list.empty()) top_.fault(key, "a list of element types is wanted");
      for (const Json& item : list.is_array() ? list : Json::array()) {
        const auto type = item.is_string() ? parse_dtype(item.get<std::string>()) : std::nullopt;
        if (!type)
          top_.fault(key, fmt::format("{} is no element type", base::to_line(item)));
        else
          allowed.push_back(*type);
      }
      if (parse_dtype(name)) top_.fault(key, "is an element type itself");
      claim(key, name, "type");
      d_.types.emplace(name, std::move(allowed));
    }
  }

  void read_params() {
    const Json* params = top_.optional_object("params");
    if (!params) return;
    for (const auto& [name, json] : params->items()) {
      const std::string key = fmt::format("params.{}", name);
      Param p;
      p.name = name;
      std::string type;
      if (json.is_string()) {
        type = json.get<std::string>();
      } else {
        ObjectReader r(json, top_.place(key));
        type = r.text("type");
        p.description = r.text_or("description", "");
        keep(r);
      }
      if (type == "bool")
        p.kind = ParamKind::boolean;
      else if (type == "int")
        p.kind = ParamKind::integer;
      else if (type == "float32")
        p.kind = ParamKind::float32;
      else
        top_.fault(key, fmt::format("is of type \"{}\"; bool, int or float32 is wanted", type));
      claim(key, name, "parameter");
      d_.params.push_back(std::move(p));
    }
  }

  std::vector<TensorSpec> read_tensors(std::string_view section, bool output) {
    std::vector<TensorSpec> tensors;
    for (const auto& [name, json] : top_.object(section).items()) {
      const std::string key = fmt::format("{}.{}", section, name);
      ObjectReader r(json, top_.place(key));
      TensorSpec t;
      t.name = name;
      t.description = r.text_or("description", "");
      read_shape(r, t);
      read_dtype(r, t);
      if (output)
        read_compare(r, t);
      else
        read_access(r, t);
      keep(r);
      // Tensors have names of their own: an axis D and a tensor D may both be.
      if (!is_name(name))
        top_.fault(key, "a name is letters, digits and _");
      else if (!tensors_.insert(name).second)
        top_.fault(key, "the name is taken by another tensor");
      if (output) t.access = Access::out;
      tensors.push_back(std::move(t));
    }
    return tensors;
  }

  void read_shape(ObjectReader& r, TensorSpec& t) {
    if (r.any("shape").is_null()) return;  // FlashInfer-Bench: a scalar
    std::size_t i = 0;
    for (const Json& size : r.array("shape")) {
      const std::string key = fmt::format("shape[{}]", i++);
      if (size.is_number_integer()) {
        t.shape.push_back(Expr::constant(size.get<std::int64_t>()));
        continue;
      }
      if (!size.is_string()) {
        r.fault(key, "an expression is wanted");
        continue;
      }
      if (auto e = parse_known(size.get<std::string>(), r.place(key)))
        t.shape.push_back(std::move(*e));
    }
  }

  void read_dtype(ObjectReader& r, TensorSpec& t) {
    const std::string text = r.text("dtype");
    if (!r.ok()) return;
    if (!parse_dtype(text) && !d_.types.contains(text)) {
      r.fault("dtype", fmt::format("\"{}\" is no element type and none of `types`", text));
      return;
    }
    if (auto e = Expr::parse(text, r.place("dtype"))) t.dtype = std::move(*e);
  }

  void read_access(ObjectReader& r, TensorSpec& t) {
    const std::string access = r.text_or("access", "in");
    if (access == "inout")
      t.access = Access::inout;
    else if (access != "in")
      r.fault("access", fmt::format("is \"{}\"; in or inout is wanted", access));
    t.optional = r.boolean_or("optional", false);
    t.host_visible = r.boolean_or("host_visible", false);
  }

  void read_compare(ObjectReader& r, TensorSpec& t) {
    const std::string compare = r.text_or("compare", "allclose");
    if (compare == "exact")
      t.compare = Compare::exact;
    else if (compare == "topk_ties")
      t.compare = Compare::topk_ties;
    else if (compare != "allclose")
      r.fault("compare", fmt::format("is \"{}\"; allclose, exact or topk_ties is wanted", compare));
    const Json* json = r.optional_object("tolerance");
    if (!json) return;
    ObjectReader tol(*json, r.place("tolerance"));
    Tolerance out;
    out.relative_rms = tol.number_or("relative_rms", out.relative_rms);
    out.element_factor = tol.number_or("element_factor", out.element_factor);
    if (tol.has("rtol")) out.rtol = tol.number("rtol");
    if (tol.has("atol")) out.atol = tol.number("atol");
    out.required_match = tol.number_or("required_match", 1.0);
    if (tol.text("reason").empty()) tol.fault("reason", "a tolerance of its own needs its reason");
    keep(tol);
    t.tolerance = out;
  }

  void read_derived() {
    const Json* derived = top_.optional_object("derived");
    if (!derived) return;
    for (const auto& [name, json] : derived->items()) {
      const std::string key = fmt::format("derived.{}", name);
      const std::string text = json.is_string() ? json.get<std::string>() : "";
      const auto open = text.find('(');
      Derived d{name, text.substr(0, open), ""};
      if (open != std::string::npos && text.ends_with(')'))
        d.tensor = text.substr(open + 1, text.size() - open - 2);
      const TensorSpec* t = d_.tensor(d.tensor);
      if (d.function != "last" && d.function != "sum" && d.function != "max_diff")
        top_.fault(key, "last(x), sum(x) or max_diff(x) is wanted");
      else if (!t || !t->host_visible)
        top_.fault(key, fmt::format("\"{}\" is no host_visible input", d.tensor));
      claim(key, name, "derived size");
      d_.derived.push_back(std::move(d));
    }
  }

  /// Ours must parse; what does not is taken for FlashInfer's Python, kept and said to be
  /// unchecked.
  void read_constraints() {
    std::size_t i = 0;
    for (const std::string& text : top_.texts_or_empty("constraints")) {
      const std::string key = fmt::format("constraints[{}]", i++);
      Constraint c{text, std::nullopt};
      auto e = Expr::parse(text, top_.place(key));
      if (e && names_known(*e))
        c.expr = std::move(*e);
      else
        d_.notes.push_back(fmt::format("the constraint \"{}\" is not checked", text));
      d_.constraints.push_back(std::move(c));
    }
  }

  void read_generate() {
    const Json* list = top_.optional_array("generate");
    if (!list) return;
    std::set<std::string> made;
    for (std::size_t i = 0; i < list->size(); ++i) {
      ObjectReader r((*list)[i], top_.place(fmt::format("generate[{}]", i)));
      GenerateRule rule;
      rule.kind = r.text("kind");
      rule.tensors = r.texts_or_empty("tensors");
      if (rule.tensors.empty()) r.fault("tensors", "the inputs that this rule makes are wanted");
      for (const std::string& t : rule.tensors) {
        const TensorSpec* spec = d_.tensor(t);
        if (!spec || spec->access == Access::out)
          r.fault("tensors", fmt::format("\"{}\" is no input", t));
        else if (!made.insert(t).second)
          r.fault("tensors", fmt::format("\"{}\" is made twice", t));
      }
      rule.settings = Json::object();
      if (r.ok())
        for (const auto& [key, value] : (*list)[i].items())
          if (key != "kind" && key != "tensors") rule.settings[key] = value;
      if (!r.ok()) keep(r);
      d_.generate.push_back(std::move(rule));
    }
  }

  std::optional<Expr> read_work(std::string_view key) {
    const std::string text = top_.text_or(key, "");
    if (text.empty()) return std::nullopt;
    return parse_known(text, top_.place(key));
  }

  bool names_known(const Expr& e) const {
    for (const std::string& n : e.names())
      if (!names_.contains(n)) return false;
    for (const std::string& t : e.tensors())
      if (!tensors_.contains(t)) return false;
    return true;
  }

  std::optional<Expr> parse_known(const std::string& text, const std::string& where) {
    auto e = Expr::parse(text, where);
    if (!e) {
      note(e.error());
      return std::nullopt;
    }
    for (const std::string& n : e->names())
      if (!names_.contains(n))
        note({base::ErrorKind::usage,
              where,
              fmt::format("\"{}\" is no axis, type or parameter", n),
              {}});
    return std::move(*e);
  }

  void note(base::Error e) {
    if (top_.ok()) top_.fault_at(std::move(e));
  }
  /// A nested reader's fault becomes the whole reader's.
  void keep(ObjectReader& r) {
    if (auto done = r.finish(); !done) note(done.error());
  }

  ObjectReader top_;
  Definition d_;
  std::set<std::string> names_;
  std::set<std::string> tensors_;
};

}  // namespace

const TensorSpec* Definition::tensor(std::string_view tensor_name) const {
  for (const auto& t : inputs)
    if (t.name == tensor_name) return &t;
  for (const auto& t : outputs)
    if (t.name == tensor_name) return &t;
  return nullptr;
}

base::Result<Definition> parse_definition(const base::Json& json, std::string_view where) {
  return Reader(json, where).read();
}

}  // namespace ksearch::kernel
