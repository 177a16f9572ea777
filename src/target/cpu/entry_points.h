// The source that is compiled for a program of dialect `cpp`: its files, and behind them one entry
// point for each kernel of the plan, whose arguments have the types that the plan says. So a kernel
// with another signature is a compile error that shows the wanted one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/bind.h"
#include "kernel/program.h"
#include "toolchain/builder.h"

namespace ksearch::target {

/// Of one kernel; the worker lays them out on its stack.
inline constexpr std::size_t kMostArguments = 64;

/// A kernel as one launch calls it: its name and the C++ types of its arguments.
struct Signature {
  std::string kernel;
  /// "const float*", "int64_t", "struct{int32_t n;float s;}", ..., without the group
  std::vector<std::string> types;
  std::vector<std::string> names;  ///< for messages: "x", "cols"
  friend bool operator==(const Signature& a, const Signature& b) {
    return a.kernel == b.kernel && a.types == b.types;
  }
};
Signature signature_of(const kernel::BoundLaunch& launch);

/// Fields laid out by C's rules.
struct StructLayout {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
};
StructLayout layout_of(const kernel::BoundStruct& fields);
std::size_t size_bytes(kernel::ScalarKind kind);

/// One shared object: a set of defines and the kernels called with it.
struct ObjectPlan {
  kernel::BoundDefines defines;
  std::vector<Signature> kernels;
};
/// What all the plans need, each distinct set of defines once, in the order met.
std::vector<ObjectPlan> objects_of(const std::vector<kernel::BoundProgram>& plans);

/// "ks_entry_0", ...: by position in ObjectPlan::kernels.
std::string entry_name(std::size_t kernel);

/// Files (the harness header too), main file and flags. `compiler_is_clang` where flags differ.
toolchain::CompileRequest compile_request(const kernel::Program& program, const ObjectPlan& object,
                                          bool compiler_is_clang);

}  // namespace ksearch::target
