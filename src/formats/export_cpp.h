// A program as plain C++ that knows nothing of ksearch: one header, one source, a C function for
// each combination of element types. The launch plan becomes code, the tunables that were chosen
// become constants, work groups run on std::thread.
//
//   int NAME_f32(const float* x, float* out, int64_t rows, int64_t cols, int threads, void*
//   workspace);
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/definition.h"
#include "kernel/hardware.h"
#include "kernel/program.h"
#include "kernel/workload.h"

namespace ksearch::formats {

struct CppExportRequest {
  const kernel::Program* program = nullptr;  ///< dialect cpp; its `select` is merged in
  const kernel::Definition* definition = nullptr;
  /// What must work afterwards: sizes that sources are compiled for are taken from these. At least
  /// one.
  std::vector<kernel::Workload> workloads;
  kernel::HardwareProfile device;   ///< cache sizes become constants; features are the compiler's
  std::string name;                 ///< of files and functions; empty: the task's
  std::vector<std::string> credit;  ///< lines for the head comment: run, certificate, figures
};

struct CppExport {
  std::string name;
  std::string header, source;          ///< texts of NAME.h and NAME.cpp
  std::vector<std::string> functions;  ///< "attention_f32", ...
  /// "g++ -std=c++20 -O3 -march=native ...": how the measured program was compiled.
  std::string compile_command;
};

/// An error where the program cannot be had as plain C++: another dialect, sizes that depend on
/// data.
base::Result<CppExport> export_cpp(const CppExportRequest& request);

}  // namespace ksearch::formats
