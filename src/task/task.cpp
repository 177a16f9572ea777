#include "task/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "task/experts.h"

namespace ksearch::task {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = 16 << 20;

base::Result<std::vector<kernel::Workload>> read_workloads(const fs::path& path,
                                                           const kernel::Definition& definition) {
  KS_TRY(const std::string text, read_text(path));
  std::vector<kernel::Workload> workloads;
  std::set<std::string> names;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    KS_TRY(const base::Json json, base::parse_json(line, where));
    KS_TRY(kernel::Workload workload, kernel::parse_workload(json, definition, where));
    if (!names.insert(workload.name).second)
      return base::usage_error(where, fmt::format("the name \"{}\" is taken", workload.name));
    workloads.push_back(std::move(workload));
  }
  const auto feedback = [](const auto& w) { return w.role == kernel::Role::feedback; };
  if (std::ranges::none_of(workloads, feedback))
    return base::usage_error(path.string(), "no workload has the role feedback",
                             "a search needs one to measure programs on");
  return workloads;
}

base::Result<std::map<kernel::Dialect, kernel::Program>> read_naive(
    const fs::path& folder, const kernel::Definition& definition) {
  std::map<kernel::Dialect, kernel::Program> naive;
  for (const fs::path& entry : sorted_entries(folder)) {
    const auto dialect = kernel::parse_dialect(entry.filename().string());
    if (!dialect)
      return base::usage_error(entry.string(), "is no dialect",
                               "cpp, cuda, mlx or metal is wanted");
    KS_TRY(kernel::Program program, kernel::load_program(entry / "program.json", definition));
    if (program.dialect != *dialect)
      return base::usage_error((entry / "program.json").string(),
                               fmt::format("is of dialect {}, its folder says {}",
                                           kernel::name(program.dialect), kernel::name(*dialect)));
    naive.emplace(*dialect, std::move(program));
  }
  return naive;
}

bool is_task(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "definition.json", ignored);
}

}  // namespace

base::Result<std::string> read_text(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return base::usage_error(path.string(), "cannot be read: " + error.message());
  if (size > kMaxFileBytes) return base::usage_error(path.string(), "is larger than 16 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    return base::usage_error(path.string(), "cannot be read");
  return text;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (!entry.path().filename().string().starts_with('.')) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

std::vector<kernel::Workload> Task::with_role(kernel::Role role) const {
  std::vector<kernel::Workload> some;
  std::ranges::copy_if(workloads, std::back_inserter(some),
                       [&](const auto& w) { return w.role == role; });
  return some;
}

std::string Task::needs(bool python_at_hand) const {
  if (!reference_cpp.empty() || (!reference_py.empty() && python_at_hand)) return {};
  if (!reference_py.empty())
    return "its reference is in Python: a Python with numpy (--python PATH), or a reference.cpp "
           "beside "
           "the definition";
  return "a reference: reference.cpp (see src/task/reference_api.h) or reference.py beside the "
         "definition";
}

base::Result<fs::path> find_task(std::string_view name, const std::vector<fs::path>& search_path) {
  const fs::path given(name);
  if (is_task(given)) return given;
  if (given.filename() == "definition.json" && is_task(given.parent_path()))
    return given.parent_path();
  std::vector<std::string> looked, known;
  if (given.is_relative())
    for (const fs::path& folder : search_path) {
      if (is_task(folder / given)) return folder / given;
      looked.push_back(folder.string());
    }
  for (const fs::path& task : list_tasks(search_path)) known.push_back(task.filename().string());
  return base::usage_error(std::string(name),
                           looked.empty()
                               ? "is no folder of a task (no definition.json in it)"
                               : fmt::format("no such task; looked in {}", fmt::join(looked, ", ")),
                           fmt::format("known are {}", fmt::join(known, ", ")));
}

std::vector<fs::path> list_tasks(const std::vector<fs::path>& search_path) {
  std::map<std::string, fs::path> tasks;
  for (const fs::path& folder : search_path)
    for (const fs::path& entry : sorted_entries(folder))
      if (is_task(entry)) tasks.try_emplace(entry.filename().string(), entry);
  std::vector<fs::path> list;
  for (auto& [name, path] : tasks) list.push_back(std::move(path));
  return list;
}

base::Result<Task> load_task(const fs::path& folder, std::string_view target) {
  Task task;
  task.folder = folder;
  std::error_code ignored;
  const std::string where = (folder / "definition.json").string();
  KS_TRY(const std::string text, read_text(folder / "definition.json"));
  KS_TRY(const base::Json json, base::parse_json(text, where));
  KS_TRY(task.definition, kernel::parse_definition(json, where));
  task.notes = task.definition.notes;
  const fs::path own = folder / fmt::format("workloads.{}.jsonl", target);
  KS_TRY(task.workloads, read_workloads(fs::exists(own, ignored) ? own : folder / "workloads.jsonl",
                                        task.definition));
  KS_TRY(task.naive, read_naive(folder / "naive", task.definition));
  KS_TRY(task.experts, read_experts(folder / "experts", task.definition));

  if (fs::exists(folder / "reference.cpp", ignored)) {
    KS_TRY(task.reference_cpp, read_text(folder / "reference.cpp"));
  }
  task.reference_py = task.definition.python_reference;
  if (fs::exists(folder / "reference.py", ignored)) {
    KS_TRY(task.reference_py, read_text(folder / "reference.py"));
  }
  if (task.reference_cpp.empty())
    task.notes.push_back("to be evaluated it needs " + task.needs(false));
  return task;
}

base::Result<void> keep_where(Task& task, std::string_view expression) {
  KS_TRY(const kernel::Expr expr, kernel::Expr::parse(expression, "--where"));
  std::map<std::string, bool> holds;
  std::set<std::map<std::string, kernel::DType>> types;  // of the feedback workloads kept
  std::set<kernel::Role> kept_roles;
  for (const kernel::Workload& w : task.workloads) {
    const auto kept = expr.eval_boolean(kernel::scope_of(task.definition, w));
    if (!kept)
      return base::usage_error("--where", fmt::format("\"{}\": {}", expression, kept.error().what),
                               kept.error().todo);
    holds[w.name] = *kept;
    if (!holds[w.name]) continue;
    kept_roles.insert(w.role);
    if (w.role == kernel::Role::feedback) types.insert(w.types);
  }
  if (types.empty())
    return base::usage_error("--where", fmt::format("\"{}\" keeps no feedback workload of {}",
                                                    expression, task.definition.name));
  std::erase_if(task.workloads, [&](const kernel::Workload& w) {
    const bool role_is_empty = !kept_roles.contains(w.role);
    return !holds[w.name] && !(role_is_empty && types.contains(w.types));
  });
  return {};
}

}  // namespace ksearch::task
