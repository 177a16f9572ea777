// A task: a folder with a definition, its workloads, naive programs, experts and the float64
// reference. Loading only; making inputs and references is inputs.h and reference.h.
//
//   tasks/NAME/definition.json        kernel::Definition
//              workloads.jsonl        one workload a line
//              reference.cpp | .py    float64 truth (reference_api.h; or setup(case), or run(...))
//              naive/DIALECT/program.json
//              experts/NAME.py                a script: setup(case) -> callable
//              experts/NAME/program.json      a program
//              experts/NAME.json              how a script or program is started: ksearch.expert/1
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/definition.h"
#include "kernel/program.h"
#include "kernel/workload.h"

namespace ksearch::task {

/// A library's implementation of the task, trusted: what programs are measured against.
///
/// `experts/NAME.json`, where a bare script or program does not say enough; each variant is an expert
/// of its own, "NAME (VARIANT)", and the session keeps the best:
///   { "format": "ksearch.expert/1", "script": "NAME.py" or "program": "NAME/program.json",
///     "link": ["openblas"],
///     "variants": [{"name": "SkylakeX", "needs": "device.has_avx512f",
///                   "environment": {"OPENBLAS_CORETYPE": "SkylakeX"}}] }
struct Expert {
  std::string name;                        ///< "torch", "openblas (SkylakeX)"
  std::filesystem::path path;              ///< the script, or the program.json
  std::optional<kernel::Program> program;  ///< none: a script
  /// Libraries the program links: names as the linker knows them, or paths.
  std::vector<std::string> link;
  std::map<std::string, std::string> environment;  ///< of its worker
  std::optional<kernel::Expr> needs;       ///< over device.*; where it does not hold it is left out
};

struct Task {
  kernel::Definition definition;
  std::filesystem::path folder;
  std::vector<kernel::Workload> workloads;
  std::map<kernel::Dialect, kernel::Program> naive;
  std::vector<Expert> experts;
  std::string reference_cpp;               ///< C++ source, or empty
  std::string reference_py;                ///< Python source (the definition's own or the file's), or empty
  std::vector<std::string> notes;          ///< constraints that are not checked, what is missing

  std::vector<kernel::Workload> with_role(kernel::Role role) const;
  /// Empty where the task can be evaluated; else what it needs: "reference.cpp, or a Python with numpy".
  std::string needs(bool python_at_hand) const;
};

/// `name` is a folder with a definition.json, a path to one, or the name of a folder in `search_path`
/// (first match). The error lists where it looked and the tasks it knows.
base::Result<std::filesystem::path> find_task(std::string_view name,
                                              const std::vector<std::filesystem::path>& search_path);

/// Folders with a definition.json, by name, first match of the search path wins.
std::vector<std::filesystem::path> list_tasks(const std::vector<std::filesystem::path>& search_path);

/// Reads the whole folder, strictly.
base::Result<Task> load_task(const std::filesystem::path& folder);

/// Keeps the workloads for which the expression holds ("T == float32 and D == 64"). An error where it
/// does not parse, uses an unknown name, or keeps no feedback workload.
base::Result<void> keep_where(Task& task, std::string_view expression);

}  // namespace ksearch::task
