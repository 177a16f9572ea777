// Launches of a plan of dialect mlx as calls of kernels in Python, and the texts of those kernels.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"
#include "formats/mlx_python_expr.h"

namespace ksearch::formats {

class MlxPythonLaunches {
 public:
  /// All is borrowed.
  MlxPythonLaunches(const kernel::Program& program, const kernel::Definition& definition,
                    const MlxPythonExpr& expr, const MlxWriters& writers)
      : program_(program), definition_(definition), expr_(expr), writers_(writers) {}

  /// Before the launches: what only some of them write, as None.
  std::string declarations() const;
  /// Statements, indented by four; outputs and scratch become variables of their names.
  base::Result<std::string> code(const kernel::Launch& launch);
  /// A tensor after the launches before: an error of the caller's where there is none.
  std::string read(const std::string& tensor) const;
  /// Headers and bodies of the kernels that `code` was asked for, as dictionaries.
  base::Result<std::string> sources() const;

 private:
  std::string input(const std::variant<std::string, const kernel::ScalarArg*>& input,
                    const kernel::Launch& launch) const;
  std::string call(const kernel::Launch& launch, const MlxCall& all) const;
  std::string grid(const kernel::Launch& launch) const;
  std::string macros(const kernel::Launch& launch) const;

  const kernel::Program& program_;
  const kernel::Definition& definition_;
  const MlxPythonExpr& expr_;
  const MlxWriters& writers_;
  std::set<std::string> kernels_;
};

}  // namespace ksearch::formats
