// A task: a folder with a definition, its workloads, naive programs, experts and the float64
// reference. Loading only; making inputs and references is inputs.h and reference.h.
//
//   tasks/NAME/definition.json        kernel::Definition
//              workloads.jsonl        one workload a line
//              workloads.TARGET.jsonl instead, on that target (metal)
//              reference.cpp | .py    float64 truth (reference_api.h; or setup(case), or run(...))
//              naive/DIALECT/program.json
//              experts/NAME.json              what programs are measured against: ksearch.expert/1
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

/// An operation of the library that a target works through, by its name there.
struct LibraryOperation {
  std::string what;
  std::vector<std::string> inputs;     ///< tensors of the task, in the operation's order
  std::optional<kernel::Expr> number;  ///< its parameter, over axes, types and params
  std::optional<kernel::Expr> causal;
};

/// A library's implementation of the task, trusted: what programs are measured against.
///
/// `experts/NAME.json`; a bare `experts/NAME.py` is an expert too. Each variant is an expert of its
/// own, "NAME (VARIANT)", and the session keeps the best:
///   { "format": "ksearch.expert/1", "name": "torch", "kind": "python", "source": "with_torch.py",
///     "supports": "T == float32", "requires": ["torch"] }
///   { "format": "ksearch.expert/1", "name": "openblas", "kind": "cpp", "program":
///   "openblas.program.json",
///     "library": {"package": "scipy_openblas32"},
///     "variants": [{"name": "SkylakeX", "needs": "device.has_avx512f",
///                   "environment": {"OPENBLAS_CORETYPE": "SkylakeX"}}] }
///   { "format": "ksearch.expert/1", "name": "mlx.fast.rms_norm", "kind": "mlx-operation",
///     "operation": "rms_norm", "inputs": ["x", "w"], "number": "eps" }
struct Expert {
  std::string name;            ///< "torch", "openblas (SkylakeX)"
  std::filesystem::path path;  ///< the script, or the program's JSON
  std::string script_text;     ///< the script itself where it is in no file (a reference)
  std::optional<kernel::Program> program;     ///< none: an operation, or a script
  std::optional<LibraryOperation> operation;  ///< of MLX, where a session measures through it
  /// An expert in whose place this one stands where that cannot run: a program rebuilt to the
  /// strategy of a library's.
  std::string stands_for;
  std::string library_package;  ///< Python package whose shared library the program links, or empty
  std::vector<std::string> requires_modules;       ///< of Python
  std::map<std::string, std::string> environment;  ///< of its worker
  std::optional<kernel::Expr> supports;            ///< over axes, types and params of a workload
  std::optional<kernel::Expr> needs;  ///< over device.*; where it does not hold it is left out
};

struct Task {
  kernel::Definition definition;
  std::filesystem::path folder;
  std::vector<kernel::Workload> workloads;
  std::map<kernel::Dialect, kernel::Program> naive;
  std::vector<Expert> experts;
  std::string reference_cpp;       ///< C++ source, or empty
  std::string reference_py;        ///< Python source (the definition's own or the file's), or empty
  std::vector<std::string> notes;  ///< constraints that are not checked, what is missing

  std::vector<kernel::Workload> with_role(kernel::Role role) const;
  /// Empty where the task can be evaluated; else what it needs: "reference.cpp, or a Python with
  /// numpy".
  std::string needs(bool python_at_hand) const;
};

/// `name` is a folder with a definition.json, a path to one, or the name of a folder in
/// `search_path` (first match). The error lists where it looked and the tasks it knows.
base::Result<std::filesystem::path> find_task(
    std::string_view name, const std::vector<std::filesystem::path>& search_path);

/// Folders with a definition.json, by name, first match of the search path wins.
std::vector<std::filesystem::path> list_tasks(
    const std::vector<std::filesystem::path>& search_path);

/// Reads the whole folder, strictly. `target` ("cpu", "metal") chooses among its lists of
/// workloads.
base::Result<Task> load_task(const std::filesystem::path& folder, std::string_view target = "cpu");

/// Keeps the workloads for which the expression holds ("T == float32 and D == 64"). Where it keeps
/// no tiny or no held-out one (it speaks of sizes), those whose types a kept feedback workload has
/// stay. An error, and nothing changed, where it does not parse, uses an unknown name, or keeps no
/// feedback workload.
base::Result<void> keep_where(Task& task, std::string_view expression);

}  // namespace ksearch::task
