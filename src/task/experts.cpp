#include "task/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ksearch::task {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::ObjectReader;

/// An optional expression; a name that `allowed` refuses is a fault.
template <class Allowed>
base::Result<std::optional<kernel::Expr>> read_condition(ObjectReader& r, std::string_view key,
                                                         Allowed allowed) {
  const std::string text = r.text_or(key, "");
  if (text.empty()) return std::nullopt;
  KS_TRY(kernel::Expr expr, kernel::Expr::parse(text, r.place(key)));
  for (const std::string& name : expr.names())
    if (!allowed(name)) r.fault(key, fmt::format("\"{}\" is no name that can stand here", name));
  return expr;
}

/// One entry of `variants` on top of what all of them share.
base::Result<Expert> read_variant(const Json& json, const std::string& where, Expert expert) {
  ObjectReader r(json, where);
  expert.name = fmt::format("{} ({})", expert.name, r.text("name"));
  KS_TRY(expert.needs,
         read_condition(r, "needs", [](const std::string& n) { return n.starts_with("device."); }));
  if (const Json* environment = r.optional_object("environment"))
    for (const auto& [key, value] : environment->items()) {
      if (!value.is_string())
        r.fault("environment", fmt::format("\"{}\" is no text", key));
      else
        expert.environment[key] = value.get<std::string>();
    }
  KS_RETURN_IF_ERROR(r.finish());
  return expert;
}

struct Described {
  std::vector<Expert> experts;
  fs::path of;  ///< the script, which is then no bare expert
};

base::Result<fs::path> file_beside(const fs::path& path, const std::string& name) {
  const fs::path relative(name);
  if (relative.is_absolute() || std::ranges::find(relative, "..") != relative.end())
    return base::usage_error(path.string(), fmt::format("{} is outside the folder", name));
  return path.parent_path() / relative;
}

/// Of a file whose kind is an operation: what is called, with which tensors.
template <class Allowed>
base::Result<LibraryOperation> read_operation(ObjectReader& r, const kernel::Definition& definition,
                                              Allowed allowed) {
  LibraryOperation operation;
  operation.what = r.text("operation");
  operation.inputs = r.texts_or_empty("inputs");
  for (const std::string& name : operation.inputs)
    if (!definition.tensor(name)) r.fault("inputs", fmt::format("\"{}\" is no tensor", name));
  if (operation.inputs.empty()) r.fault("inputs", "is missing");
  KS_TRY(operation.number, read_condition(r, "number", allowed));
  KS_TRY(operation.causal, read_condition(r, "causal", allowed));
  return operation;
}

base::Result<Described> read_described(const fs::path& path, const kernel::Definition& definition) {
  KS_TRY(const std::string text, read_text(path));
  KS_TRY(const Json json, base::parse_json(text, path.string()));
  ObjectReader r(json, path.string());
  if (r.text("format") != "ksearch.expert/1") r.fault("format", "ksearch.expert/1 is wanted");
  r.ignore("description");
  Expert common;
  common.name = r.text("name");
  const std::string kind = r.text("kind"), source = r.text_or("source", "");
  const bool is_program = kernel::parse_dialect(kind).has_value();
  const std::string program = is_program ? r.text("program") : "";
  const bool is_operation = kind == "mlx-operation";
  if (!is_program && !is_operation && kind != "python")
    r.fault("kind", "python, mlx-operation or a dialect is wanted");
  if (kind == "python" && source.empty()) r.fault("source", "is missing");
  common.requires_modules = r.texts_or_empty("requires");
  const auto in_scope = [&](const std::string& name) {
    return definition.types.contains(name) ||
           std::ranges::find(definition.axes, name, &kernel::Axis::name) != definition.axes.end() ||
           std::ranges::find(definition.params, name, &kernel::Param::name) !=
               definition.params.end();
  };
  KS_TRY(common.supports, read_condition(r, "supports", in_scope));
  if (const Json* library = r.optional_object("library")) {
    ObjectReader l(*library, r.place("library"));
    common.library_package = l.text("package");
    KS_RETURN_IF_ERROR(l.finish());
  }
  if (is_operation) {
    KS_TRY(common.operation, read_operation(r, definition, in_scope));
  }
  common.stands_for = r.text_or("stands_for", "");
  const Json* variants = r.optional_array("variants");
  KS_RETURN_IF_ERROR(r.finish());

  Described d;
  if (is_operation) {
    common.path = path;
    d.experts.push_back(std::move(common));
    return d;
  }
  KS_TRY(common.path, file_beside(path, is_program ? program : source));
  if (is_program) {
    KS_TRY(common.program, kernel::load_program(common.path, definition));
    if (kernel::name(common.program->dialect) != kind)
      return base::usage_error(path.string(),
                               fmt::format("its program is of dialect {}, its kind {}",
                                           kernel::name(common.program->dialect), kind));
  }
  d.of = common.path;
  if (!variants) {
    d.experts.push_back(std::move(common));
    return d;
  }
  for (std::size_t i = 0; i < variants->size(); ++i) {
    KS_TRY(Expert one,
           read_variant((*variants)[i], fmt::format("{}: variants[{}]", path.string(), i), common));
    d.experts.push_back(std::move(one));
  }
  return d;
}

}  // namespace

base::Result<std::vector<Expert>> read_experts(const fs::path& folder,
                                               const kernel::Definition& definition) {
  std::vector<Expert> experts;
  std::set<fs::path> described;
  const std::vector<fs::path> entries = sorted_entries(folder);
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (entry.extension() != ".json" || name.ends_with(".program.json")) continue;
    KS_TRY(Described d, read_described(entry, definition));
    described.insert(d.of);
    std::ranges::move(d.experts, std::back_inserter(experts));
  }
  for (const fs::path& entry : entries) {
    if (entry.extension() != ".py" || described.contains(entry)) continue;
    Expert bare;
    bare.name = entry.stem().string();
    bare.path = entry;
    experts.push_back(std::move(bare));
  }
  std::ranges::sort(experts, {}, &Expert::name);
  const auto twice = std::ranges::adjacent_find(experts, {}, &Expert::name);
  if (twice != experts.end())
    return base::usage_error(folder.string(),
                             fmt::format("two experts are named \"{}\"", twice->name));
  return experts;
}

}  // namespace ksearch::task
