// ksearch tasks: what there is to search for, and what each still needs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "engineer/catalog.h"
#include "report/columns.h"

namespace ksearch::cli {
namespace {

base::Json task_json(const Home& home, const task::Task& task, bool python) {
  const auto count = [&](kernel::Role role) { return task.with_role(role).size(); };
  std::vector<std::string> types, experts;
  for (const auto& [variable, list] : task.definition.types)
    for (const kernel::DType type : list) types.emplace_back(kernel::name(type));
  for (const task::Expert& expert : task.experts) {
    const std::string name = expert.name.substr(0, expert.name.find(" ("));
    if (std::ranges::find(experts, name) == experts.end()) experts.push_back(name);
  }
  std::vector<std::string> notes = task.notes;
  base::Json steps;
  for (const char* target : {"cpu", "metal"}) {
    const auto catalog =
        engineer::load_catalog(home.catalog_folder(task, dialect_for(target)), task.definition);
    steps[target] = catalog ? catalog->steps.size() : 0;
    if (!catalog) notes.push_back(catalog.error().text());
  }
  return {{"name", task.definition.name},
          {"folder", task.folder.string()},
          {"description", task.definition.description},
          {"types", types},
          {"feedback", count(kernel::Role::feedback)},
          {"heldout", count(kernel::Role::heldout)},
          {"catalog_steps", steps},
          {"experts", experts},
          {"needs", task.needs(python)},
          {"notes", notes}};
}

std::string joined(const base::Json& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + item.get<std::string>();
  return text;
}

}  // namespace

base::Result<int> tasks(const Context& context, const TasksOptions& options) {
  KS_TRY(const auto python, context.home.python(options.python));
  base::Json all = base::Json::array();
  for (const auto& folder : task::list_tasks(context.home.task_search_path())) {
    const auto task = task::load_task(folder);
    if (task)
      all.push_back(task_json(context.home, *task, !python.empty()));
    else
      all.push_back({{"name", folder.filename().string()},
                     {"folder", folder.string()},
                     {"error", task.error().text()}});
  }
  if (options.json) {
    fmt::print("{}", base::to_text(all));
    return kDone;
  }
  const report::Style style = style_of(context.environment, isatty(STDOUT_FILENO) == 1);
  std::vector<std::vector<std::string>> rows{
      {"task", "types", "workloads", "cpu steps", "metal steps", "experts", ""}};
  const auto steps = [](const base::Json& t, const char* target) {
    return std::to_string(t["catalog_steps"][target].get<int>());
  };
  for (const auto& t : all) {
    if (t.contains("error")) {
      rows.push_back(
          {t["name"], "", "", "", "", "", "cannot be read: " + t["error"].get<std::string>()});
      continue;
    }
    const std::string needs = t["needs"];
    rows.push_back({t["name"], joined(t["types"]),
                    fmt::format("{} + {}", t["feedback"].get<int>(), t["heldout"].get<int>()),
                    steps(t, "cpu"), steps(t, "metal"), joined(t["experts"]),
                    needs.empty() ? "" : "needs " + needs});
  }
  fmt::print("{}", report::table(style, rows, {false, false, true, true, true, false, false}));
  fmt::print(
      "\nworkloads: on cpu, searched + held out for the certificate; metal has its own.\n"
      "steps: in the catalog, by target.\n"
      "ksearch new-task NAME makes one of your own.\n");
  return kDone;
}

}  // namespace ksearch::cli
