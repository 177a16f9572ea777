#include "engineer/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace ksearch::engineer {
namespace {

base::Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::usage_error(path.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool has_define(const kernel::Program& program, const std::string& name) {
  const auto among = [&](const kernel::Defines& defines) {
    return std::ranges::any_of(defines, [&](const auto& define) { return define.first == name; });
  };
  return among(program.defines) ||
         std::ranges::any_of(program.launches,
                             [&](const kernel::Launch& launch) { return among(launch.defines); });
}

/// Parents are steps or "naive", and every step is reached from naive: no cycle, nothing in the
/// air.
base::Result<void> check_shape(const Catalog& catalog, const std::string& folder) {
  std::set<std::string> reached{"naive"};
  bool grown = true;
  while (grown) {
    grown = false;
    for (const Step& step : catalog.steps) {
      const bool hangs = std::ranges::any_of(
          step.parents, [&](const std::string& parent) { return reached.contains(parent); });
      if (hangs && reached.insert(step.name).second) grown = true;
    }
  }
  for (const Step& step : catalog.steps) {
    const std::string where = folder + "/" + step.name + "/step.json";
    for (const std::string& parent : step.parents) {
      if (parent != "naive" && !catalog.find(parent)) {
        return base::usage_error(where, fmt::format("parents names {}, which is no step", parent));
      }
    }
    if (!reached.contains(step.name)) {
      return base::usage_error(where, "the step cannot be reached from naive");
    }
    for (const auto& [left_out, defines] : step.leave_out) {
      if (!catalog.find(left_out)) {
        return base::usage_error(where,
                                 fmt::format("leave_out names {}, which is no step", left_out));
      }
      for (const auto& [define, value] : defines) {
        if (!has_define(step.program, define)) {
          return base::usage_error(
              where, fmt::format("leave_out.{} sets {}, which program.json does not define",
                                 left_out, define));
        }
      }
    }
  }
  return {};
}

}  // namespace

const Step* Catalog::find(std::string_view name) const {
  const auto it = std::ranges::lower_bound(steps, name, {}, &Step::name);
  return it != steps.end() && it->name == name ? &*it : nullptr;
}

base::Result<Catalog> load_catalog(const std::filesystem::path& folder,
                                   const kernel::Definition& definition) {
  Catalog catalog;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return catalog;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const std::filesystem::path file = entry.path() / "step.json";
    KS_TRY(const std::string text, read_file(file));
    KS_TRY(const base::Json json, base::parse_json(text, file.string()));
    KS_TRY(Step step, parse_step(json, name, file.string()));
    KS_TRY(step.program, kernel::load_program(entry.path() / "program.json", definition));
    catalog.steps.push_back(std::move(step));
  }
  std::ranges::sort(catalog.steps, {}, &Step::name);
  KS_RETURN_IF_ERROR(check_shape(catalog, folder.string()));
  return catalog;
}

Catalog without_knowledge(const Catalog& catalog) {
  Catalog left;
  const auto holds = [&](const std::string& parent) {
    return parent == "naive" || left.find(parent) != nullptr;
  };
  for (bool more = true; more;) {
    more = false;
    for (const Step& step : catalog.steps) {
      if (!step.rests_on.empty() || left.find(step.name)) continue;
      if (std::ranges::none_of(step.parents, holds)) continue;
      left.steps.push_back(step);
      std::ranges::sort(left.steps, {}, &Step::name);
      more = true;
    }
  }
  return left;
}

CodeReply CatalogCoder::code(const CodeRequest& request) {
  const Step* step = catalog_->find(request.node_id);
  if (!step) return {Exhausted{fmt::format("the catalog has no step {}", request.node_id)}};
  if (request.attempt > 1) return {Exhausted{"the catalog has one program for a step"}};
  if (request.cycle_of_node > 1) return {Exhausted{"its program was tried before"}};
  return {step->program};
}

}  // namespace ksearch::engineer
