#include "cli/home.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace ksearch::cli {
namespace {

namespace fs = std::filesystem;

bool is_home(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "tasks", error) && fs::is_directory(folder / "catalog", error);
}

/// Edits from one name to the other (Levenshtein), for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : known) {
    const std::size_t d =
        candidate.starts_with(name) || name.starts_with(candidate) ? 1 : distance(name, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

fs::path runs_folder() { return "runs"; }

bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "run.json", error);
}

}  // namespace

base::Result<Home> Home::find(const os::Environment& environment) {
  Home home;
  if (const auto set = environment.find("KSEARCH_HOME"); set != environment.end()) {
    home.folder_ = set->second;
    if (!is_home(home.folder_))
      return base::usage_error("KSEARCH_HOME", set->second + " does not hold tasks/ and catalog/",
                               "set it to the folder of ksearch's data, or unset it");
    return home;
  }
  for (fs::path at = os::executable_path().parent_path(); !at.empty(); at = at.parent_path()) {
    for (const fs::path& candidate : {at, at / "share" / "ksearch"})
      if (is_home(candidate)) {
        home.folder_ = candidate;
        return home;
      }
    if (at == at.parent_path()) break;
  }
  home.folder_ = KSEARCH_SOURCE_DIR;
  if (is_home(home.folder_)) return home;
  return base::environment_error(os::executable_path().string(),
                                 "tasks/ and catalog/ are not found",
                                 "set KSEARCH_HOME to the folder that holds them");
}

std::vector<fs::path> Home::task_search_path() const {
  std::error_code error;
  if (fs::equivalent("tasks", folder_ / "tasks", error)) return {folder_ / "tasks"};
  return {"tasks", folder_ / "tasks"};
}

fs::path Home::catalog_folder(const task::Task& task, kernel::Dialect dialect) const {
  std::error_code error;
  const fs::path own = task.folder / "catalog" / kernel::name(dialect);
  if (fs::is_directory(own, error)) return own;
  return folder_ / "catalog" / task.definition.name / kernel::name(dialect);
}

base::Result<fs::path> Home::python(const std::string& asked) const {
  std::error_code error;
  if (asked.empty()) {
    const fs::path own = folder_ / ".venv/bin/python";
    return fs::exists(own, error) ? own : fs::path();
  }
  for (const fs::path& candidate : {fs::path(asked), fs::path(asked) / "bin/python"})
    if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0)
      // Not resolved: a virtual environment's python is a link, and finds its packages by its
      // place.
      return fs::absolute(candidate).lexically_normal();
  return base::usage_error("--python", asked + " is no Python and no environment of Python",
                           "give the path of the interpreter: ENV/bin/python");
}

base::Result<task::Task> open_task(const Home& home, std::string_view name,
                                   std::string_view target) {
  auto folder = task::find_task(name, home.task_search_path());
  if (!folder) {
    std::vector<std::string> known;
    for (const fs::path& task : task::list_tasks(home.task_search_path()))
      known.push_back(task.filename().string());
    if (const std::string close = nearest(name, known); !close.empty()) {
      base::Error error = folder.error();
      error.what = fmt::format("there is no task \"{}\"; did you mean {}?", name, close);
      error.todo = fmt::format("known: {}", fmt::join(known, ", "));
      return std::unexpected(std::move(error));
    }
    return std::unexpected(folder.error());
  }
  return task::load_task(*folder, target);
}

fs::path new_run_folder(std::string_view task) {
  const std::string name =
      fmt::format("{}-{:%Y%m%d-%H%M%S}", task, fmt::localtime(std::time(nullptr)));
  fs::path folder = runs_folder() / name;
  std::error_code error;
  for (int i = 2; fs::exists(folder, error); ++i)
    folder = runs_folder() / fmt::format("{}-{}", name, i);
  return folder;
}

base::Result<fs::path> find_run(const std::string& name) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs_folder(), error))
    if (is_run(entry.path())) runs.push_back(entry.path());
  const auto age = [](const fs::path& run) {
    std::error_code ignored;
    return fs::last_write_time(run / "run.json", ignored);
  };
  std::ranges::sort(runs, std::ranges::greater{}, age);
  if (name.empty()) {
    if (!runs.empty()) return runs.front();
    return base::usage_error("runs/", "there is no run here",
                             "ksearch run TASK makes one; or name a run's folder");
  }
  for (const fs::path& candidate : {fs::path(name), runs_folder() / name})
    if (is_run(candidate)) return candidate;
  // A folder of runs, one level too high.
  std::vector<std::string> below;
  for (const auto& entry : fs::directory_iterator(name, error))
    if (is_run(entry.path())) below.push_back(entry.path().string());
  std::ranges::sort(below);
  if (!below.empty())
    return base::usage_error(name, "is no run, but holds some",
                             fmt::format("name one of them: {}", fmt::join(below, ", ")));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < runs.size() && i < 5; ++i)
    names.push_back(runs[i].filename().string());
  return base::usage_error(
      name, fs::exists(name, error) ? "is no run (no run.json in it)" : "is not there",
      names.empty() ? "no run by that name is below runs/ either"
                    : fmt::format("the newest here: {}", fmt::join(names, ", ")));
}

}  // namespace ksearch::cli
