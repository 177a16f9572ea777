#include "task/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ksearch::task {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::ObjectReader;

base::Result<Expert> bare(const std::string& name, const fs::path& path,
                          const kernel::Definition& definition) {
  Expert expert;
  expert.name = name;
  expert.path = path;
  if (path.extension() == ".json") {
    KS_TRY(expert.program, kernel::load_program(path, definition));
  }
  return expert;
}

/// One entry of `variants` on top of what all of them share.
base::Result<Expert> read_variant(const Json& json, const std::string& where, Expert expert) {
  ObjectReader r(json, where);
  expert.name = fmt::format("{} ({})", expert.name, r.text("name"));
  const std::string needs = r.text_or("needs", "");
  if (!needs.empty()) {
    auto parsed = kernel::Expr::parse(needs, r.place("needs"));
    if (!parsed) return std::unexpected(parsed.error());
    for (const std::string& name : parsed->names())
      if (!name.starts_with("device.")) r.fault("needs", fmt::format("\"{}\" is no device.* name", name));
    expert.needs = std::move(*parsed);
  }
  if (const Json* environment = r.optional_object("environment"))
    for (const auto& [key, value] : environment->items()) {
      if (!value.is_string()) r.fault("environment", fmt::format("\"{}\" is no text", key));
      else expert.environment[key] = value.get<std::string>();
    }
  KS_RETURN_IF_ERROR(r.finish());
  return expert;
}

struct Described {
  std::vector<Expert> experts;
  fs::path of;  ///< the script or the program's folder, which is then no bare expert
};

base::Result<Described> read_described(const fs::path& path, const kernel::Definition& definition) {
  KS_TRY(const std::string text, read_text(path));
  KS_TRY(const Json json, base::parse_json(text, path.string()));
  ObjectReader r(json, path.string());
  if (r.text("format") != "ksearch.expert/1") r.fault("format", "ksearch.expert/1 is wanted");
  r.ignore("description");
  const std::string script = r.text_or("script", ""), program = r.text_or("program", "");
  if (script.empty() == program.empty()) r.fault("script", "exactly one of script and program is wanted");
  const std::vector<std::string> link = r.texts_or_empty("link");
  const Json* variants = r.optional_array("variants");
  KS_RETURN_IF_ERROR(r.finish());

  const fs::path relative(script.empty() ? program : script);
  if (relative.is_absolute() || std::ranges::find(relative, "..") != relative.end())
    return base::usage_error(path.string(), fmt::format("{} is outside the folder", relative.string()));
  KS_TRY(Expert common, bare(path.stem().string(), path.parent_path() / relative, definition));
  common.link = link;
  Described d;
  d.of = script.empty() ? common.path.parent_path() : common.path;
  if (!variants) {
    d.experts.push_back(std::move(common));
    return d;
  }
  for (std::size_t i = 0; i < variants->size(); ++i) {
    KS_TRY(Expert one, read_variant((*variants)[i], fmt::format("{}: variants[{}]", path.string(), i), common));
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
    if (entry.extension() != ".json") continue;
    KS_TRY(Described d, read_described(entry, definition));
    described.insert(d.of);
    std::ranges::move(d.experts, std::back_inserter(experts));
  }
  for (const fs::path& entry : entries) {
    if (described.contains(entry) || entry.extension() == ".json") continue;
    const bool script = entry.extension() == ".py";
    std::error_code ignored;
    if (!script && !fs::exists(entry / "program.json", ignored)) continue;  // a README, __pycache__
    KS_TRY(Expert one, bare(entry.stem().string(), script ? entry : entry / "program.json", definition));
    experts.push_back(std::move(one));
  }
  std::ranges::sort(experts, {}, &Expert::name);
  const auto twice = std::ranges::adjacent_find(experts, {}, &Expert::name);
  if (twice != experts.end())
    return base::usage_error(folder.string(), fmt::format("two experts are named \"{}\"", twice->name));
  return experts;
}

}  // namespace ksearch::task
