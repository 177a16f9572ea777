// Where the data beside the code is: tasks/, catalog/, the Python adapter, the project's .venv; and
// the user's own tasks and runs below the working folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/program.h"
#include "os/files.h"
#include "task/task.h"

namespace ksearch::cli {

class Home {
 public:
  /// $KSEARCH_HOME; else the nearest folder above the executable that holds tasks/ and catalog/, or
  /// has them in share/ksearch; else the source tree it was built from.
  static base::Result<Home> find(const os::Environment& environment);

  const std::filesystem::path& folder() const { return folder_; }
  /// ./tasks first, then the project's.
  std::vector<std::filesystem::path> task_search_path() const;
  /// GPUs as data.
  std::filesystem::path hardware_folder() const { return folder_ / "knowledge" / "hardware"; }
  std::filesystem::path prompts_folder() const { return folder_ / "knowledge" / "prompts"; }
  /// TASK_FOLDER/catalog/DIALECT where the task brings one, else catalog/TASK/DIALECT.
  std::filesystem::path catalog_folder(const task::Task& task, kernel::Dialect dialect) const;
  /// `asked`, or the project's .venv where that is there, or empty. An error where `asked` is no
  /// program: "--python".
  base::Result<std::filesystem::path> python(const std::string& asked) const;

 private:
  std::filesystem::path folder_;
};

/// Finds and reads a task; an unknown name suggests the nearest one.
base::Result<task::Task> open_task(const Home& home, std::string_view name,
                                   std::string_view target = "cpu");

/// ./runs/TASK-YYYYMMDD-HHMMSS, with -2, -3, ... where that is there.
std::filesystem::path new_run_folder(std::string_view task);
/// A folder, or a name below ./runs; empty: the newest there. The error lists what there is.
base::Result<std::filesystem::path> find_run(const std::string& name);

}  // namespace ksearch::cli
