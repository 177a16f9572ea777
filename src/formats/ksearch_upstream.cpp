#include "formats/ksearch_upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "os/files.h"

namespace ksearch::formats {
namespace {

using base::Json;

/// K-Search writes several files as <header_file name="kernel.h">, <cuda_file ...>, <cpp_file ...>.
constexpr std::string_view kTags[] = {"header_file", "cuda_file", "cpp_file"};

std::string_view tag_for(std::string_view path) {
  if (path.ends_with(".cu") || path.ends_with(".metal")) return "cuda_file";
  return path.ends_with(".h") || path.ends_with(".hpp") ? "header_file" : "cpp_file";
}

base::Result<UpstreamSolution> parse_solution(const Json& json, const std::string& where) {
  if (!json.is_object()) return base::usage_error(where, "a solution is an object");
  UpstreamSolution solution;
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  for (const auto& [key, value] : json.items()) {
    if (key == "solution_id") {
      solution.solution_id = text(value);
    } else if (key == "solution_name") {
      solution.name = text(value);
    } else if (key == "definition") {
      solution.definition = text(value);
    } else if (key == "parent_solution_id") {
      if (value.is_string()) solution.parent_solution_id = text(value);
    } else if (key == "eval_result") {
      solution.eval_result = value;
    } else if (key == "code") {
      solution.code = text(value);
    } else if (key != "code_excerpt") {  // the beginning of `code`
      if (solution.extra.is_null()) solution.extra = Json::object();
      solution.extra[key] = value;
    }
  }
  if (solution.solution_id.empty()) return base::usage_error(where, "no solution_id");
  return solution;
}

/// K-Search's score on FlashInfer tasks is an arithmetic mean of ratios. The ratios themselves are
/// not in its files, so the number stays and is called what it is.
void note_means(const tree::Tree& tree, std::vector<std::string>& notes) {
  for (const tree::Node* node : tree.nodes()) {
    const Json& eval = node->solution.eval;
    if (!eval.is_object()) continue;
    const auto factor = eval.find("mean_vs_baseline_factor");
    if (factor == eval.end() || !factor->is_number()) continue;
    const auto name = eval.find("score_name");
    if (name != eval.end() && *name == "geometric mean of baseline time / program time") continue;
    notes.push_back(
        fmt::format("{}: mean_vs_baseline_factor {} is an arithmetic mean of ratios; a geometric "
                    "mean, which is "
                    "at most that, needs the ratio of each workload, and the file has none",
                    node->id, factor->get<double>()));
  }
}

}  // namespace

std::vector<kernel::Source> UpstreamSolution::files() const {
  std::vector<std::pair<std::size_t, kernel::Source>> found;
  for (const std::string_view tag : kTags) {
    const std::string open = fmt::format("<{} name=\"", tag);
    const std::string close = fmt::format("</{}>", tag);
    for (std::size_t at = code.find(open); at != std::string::npos; at = code.find(open, at + 1)) {
      const std::size_t name = at + open.size();
      const std::size_t quote = code.find("\">", name);
      if (quote == std::string::npos) break;
      std::size_t begin = quote + 2;
      const std::size_t end = code.find(close, begin);
      if (end == std::string::npos) break;
      if (begin < end && code[begin] == '\n') ++begin;
      found.push_back({at, {code.substr(name, quote - name), code.substr(begin, end - begin)}});
    }
  }
  std::ranges::sort(found, {}, [](const auto& file) { return file.first; });
  std::vector<kernel::Source> files;
  for (auto& [at, source] : found) files.push_back(std::move(source));
  if (files.empty() && !code.empty()) files.push_back({"", code});
  return files;
}

base::Result<std::map<std::string, UpstreamSolution>> parse_solution_db(
    std::string_view text, std::string_view file_name, std::vector<std::string>& notes) {
  std::map<std::string, UpstreamSolution> solutions;
  std::size_t at = 0;
  for (std::size_t number = 1; at < text.size(); ++number) {
    const std::string where = fmt::format("{}:{}", file_name, number);
    const auto end = text.find('\n', at);
    const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? text.size() : end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = base::parse_json(line, where);
    if (!json && end == std::string_view::npos) {
      notes.push_back(where + ": a torn last line was dropped");
      break;
    }
    if (!json) return std::unexpected(json.error());
    KS_TRY(UpstreamSolution solution, parse_solution(*json, where));
    solutions.insert_or_assign(solution.solution_id, std::move(solution));
  }
  return solutions;
}

base::Result<UpstreamImport> import_upstream(
    const std::filesystem::path& world_model,
    const std::optional<std::filesystem::path>& solution_db) {
  KS_TRY(const std::string text, os::read_file(world_model));
  KS_TRY(tree::LoadedWorldModel loaded, tree::load_world_model(text, world_model.string()));
  UpstreamImport import{std::move(loaded), {}, {}, {}};
  if (solution_db) {
    KS_TRY(const std::string lines, os::read_file(*solution_db));
    KS_TRY(import.solutions, parse_solution_db(lines, solution_db->string(), import.notes));
  }
  for (const tree::Node* node : import.world_model.tree.nodes()) {
    const auto& id = node->solution.solution_id;
    if (!id || import.solutions.contains(*id)) continue;
    import.missing.push_back(*id);
    import.notes.push_back(
        fmt::format("{}: the code of solution {} is in no database", node->id, *id));
  }
  note_means(import.world_model.tree, import.notes);
  return import;
}

Json to_json(const UpstreamSolution& solution) {
  constexpr std::size_t kExcerpt = 4000;  // characters; K-Search's default
  const auto& parent = solution.parent_solution_id;
  Json json{{"solution_id", solution.solution_id},
            {"solution_name", solution.name},
            {"definition", solution.definition},
            {"parent_solution_id", parent ? Json(*parent) : Json(nullptr)},
            {"eval_result", solution.eval_result},
            {"code", solution.code},
            {"code_excerpt", solution.code.substr(0, kExcerpt)}};
  if (solution.extra.is_object()) {
    for (const auto& [key, value] : solution.extra.items()) json[key] = value;
  }
  return json;
}

UpstreamSolution to_upstream(const kernel::Program& program, const std::string& name,
                             const std::optional<std::string>& parent, const base::Json& eval) {
  UpstreamSolution solution;
  solution.solution_id = program.hash();
  solution.name = name;
  solution.definition = program.task;
  solution.parent_solution_id = parent;
  solution.eval_result = eval;
  for (const kernel::Source& source : program.sources) {
    const std::string_view tag = tag_for(source.path);
    solution.code += fmt::format("<{} name=\"{}\">\n{}</{}>\n", tag, source.path, source.text, tag);
  }
  Json plan = kernel::to_json(program);
  for (Json& source : plan["sources"]) source.erase("text");
  solution.extra = Json{{"ksearch_program", std::move(plan)}};
  return solution;
}

}  // namespace ksearch::formats
