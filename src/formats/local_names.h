// Names of a task and a program as names of variables in code that is written for it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kernel/definition.h"
#include "kernel/program.h"

namespace ksearch::formats {

/// No two are the same, though an axis and a tensor of a task may be; none is a word of the
/// language or of the code around. Tensors have the first choice, then parameters.
class LocalNames {
 public:
  /// `nearest` gives the name that stands for one of the user's where that is taken already by the
  /// language or the code around, else that name itself.
  LocalNames(const kernel::Definition& definition, const kernel::Program& program,
             std::string (*nearest)(std::string_view name));

  /// Of the task or of scratch.
  const std::string& tensor(std::string_view name) const;
  /// An axis, a type, a parameter, a derived size, a tunable, a name of `let`.
  const std::string& value(std::string_view name) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  void add(Names& names, const std::string& name, std::string (*nearest)(std::string_view));

  Names tensors_, values_;
  std::set<std::string> used_;
};

}  // namespace ksearch::formats
