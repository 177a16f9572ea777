// Launches of a plan of dialect mlx as calls of kernels in C++, and the texts of those kernels.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "formats/mlx_cpp_expr.h"
#include "formats/mlx_export.h"
#include "kernel/definition.h"
#include "kernel/program.h"

namespace ksearch::formats {

class MlxCppLaunches {
 public:
  /// All is borrowed.
  MlxCppLaunches(const kernel::Program& program, const kernel::Definition& definition,
                 const MlxCppExpr& expr, const MlxWriters& writers)
      : program_(program), definition_(definition), expr_(expr), writers_(writers) {}

  /// Before the launches: what they write, as variables of type std::optional<mx::array>.
  std::string declarations() const;
  /// A block, indented by two, that sets them.
  base::Result<std::string> code(const kernel::Launch& launch);
  /// A tensor after the launches before: it throws where there is none.
  std::string read(const std::string& tensor) const;
  /// Headers and bodies of the kernels that `code` was asked for, as constants.
  base::Result<std::string> sources() const;

 private:
  std::string input(const std::variant<std::string, const kernel::ScalarArg*>& input,
                    const kernel::Launch& launch) const;
  std::string threads(const MlxGridSize& size) const;
  std::string macros(const kernel::Launch& launch) const;
  std::string arguments(const kernel::Launch& launch, const MlxCall& call) const;

  const kernel::Program& program_;
  const kernel::Definition& definition_;
  const MlxCppExpr& expr_;
  const MlxWriters& writers_;
  std::set<std::string> kernels_;
};

}  // namespace ksearch::formats
