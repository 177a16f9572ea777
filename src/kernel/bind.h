// A program bound to one workload, one choice of tunables and one device: every expression a
// number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernel/program.h"

namespace ksearch::kernel {

struct BoundTensor {
  std::string tensor;       ///< name; empty for an optional input that is absent (null pointer)
  std::int64_t offset = 0;  ///< elements
  bool writes = false;
  DType dtype = DType::float32;
  std::optional<double> init;
};

struct BoundScalar {
  ScalarKind kind = ScalarKind::i32;
  std::variant<std::int64_t, double> value;
  std::string name;
};

struct BoundStruct {
  std::vector<BoundScalar> fields;
};

using BoundArg = std::variant<BoundTensor, BoundScalar, BoundStruct>;

/// Name and value as the compiler gets them: {"T", "float"}, {"BK", "128"}.
using BoundDefines = std::vector<std::pair<std::string, std::string>>;

struct BoundLaunch {
  std::string kernel;
  BoundDefines defines;  ///< program's then launch's, in that order
  BoundDefines instantiate;
  std::array<std::int64_t, 3> groups{1, 1, 1};
  std::array<std::int64_t, 3> threads{0, 0, 0};  ///< zero where `groups` was given
  std::array<std::int64_t, 3> group_size{1, 1, 1};
  std::vector<std::int64_t> group_memory;
  BoundDefines constants;
  std::vector<BoundArg> args;
};

struct BoundScratch {
  std::string name;
  DType dtype = DType::float32;
  std::int64_t elements = 0;
  std::optional<double> init;
};

struct BoundProgram {
  std::vector<BoundLaunch> launches;  ///< loops unrolled, conditions decided; at most 65536
  std::vector<BoundScratch> scratch;
};

/// All choices of tunables in the order written, that meet the constraints on this workload.
base::Result<std::vector<TunableChoice>> legal_choices(const Program& program,
                                                       const Definition& definition,
                                                       const Workload& workload,
                                                       const HardwareProfile& device);

/// The tunables that `select` names for this workload; the first legal choice without a select, and
/// where what it names breaks a constraint here. An error where no choice is legal.
base::Result<TunableChoice> choose(const Program& program, const Definition& definition,
                                   const Workload& workload, const HardwareProfile& device,
                                   const Select& select);

/// An error where a constraint fails, a size is negative or too large, or no launch is left.
base::Result<BoundProgram> bind(const Program& program, const Definition& definition,
                                const Workload& workload, const HardwareProfile& device,
                                const TunableChoice& choice);

}  // namespace ksearch::kernel
