// Builds a driver around exports of programs of one task, and calls what is in it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernel/definition.h"
#include "os/files.h"
#include "safetensors.h"

namespace ksearch::formats {

class DriverLab {
 public:
  /// `definition` is borrowed.
  DriverLab(const kernel::Definition& definition, os::TempFolder folder)
      : definition_(definition), folder_(std::move(folder)) {}

  /// `ksearch export PROGRAM --as mlx-cpp --name NAME`; what it said where it failed, else empty.
  /// `task`: where it is no task of ksearch's.
  std::string add(const std::filesystem::path& program, const std::string& name,
                  const std::filesystem::path& task = {});
  /// One more entry of the driver's table: a lambda from `const driver::Inputs& in`.
  void add_function(const std::string& name, const std::string& code) { functions_[name] = code; }
  /// Compiles all that was added as one file, and where `twice` as another too, and links them.
  /// The compiler's words where it failed, else empty.
  std::string build(bool twice = false);

  struct Result {
    int code = -1;  ///< of the driver: 3 where std::invalid_argument was thrown
    std::string said;
    std::map<std::string, std::string> arrays;  ///< outputs by their number
  };
  /// NAME of an export, or "NAME.reference"; kernels run in the engine where `engine`.
  Result call(const std::string& function, const std::vector<NamedArray>& inputs,
              bool engine = true) const;
  /// case.json of each call of a kernel in the last `call`.
  std::vector<base::Json> cases() const;

 private:
  std::string arguments() const;

  const kernel::Definition& definition_;
  os::TempFolder folder_;
  std::vector<std::string> headers_;
  std::map<std::string, std::string> functions_;
};

}  // namespace ksearch::formats
