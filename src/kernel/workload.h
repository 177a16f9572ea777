// One binding of a definition's axes, types and parameters: what is run and timed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/definition.h"

namespace ksearch::kernel {

enum class Role {
  tiny,      ///< small adversarial shapes, checked first, never timed
  feedback,  ///< seen by the search
  heldout,   ///< used only to certify winners
};

struct Workload {
  std::string name;
  Role role = Role::feedback;
  std::map<std::string, std::int64_t> axes;  ///< variable axes; constants come from the definition
  std::map<std::string, DType> types;
  std::map<std::string, Value> params;
  std::set<std::string> absent;  ///< optional inputs that are not given
  /// "check": axes of a smaller shape that stands for this one where running it whole would take
  /// too long (an engine, during a search); {"H": 1}. Empty: none.
  std::map<std::string, std::int64_t> check_axes;
};

/// A tensor of one workload, sizes known.
struct TensorShape {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  Access access = Access::in;
  std::int64_t elements() const;
  std::size_t bytes() const;
};

/// Reads one line of workloads.jsonl against its definition: every axis, type and parameter bound
/// once, within range, constraints met.
base::Result<Workload> parse_workload(const base::Json& json, const Definition& definition,
                                      std::string_view where);
base::Json to_json(const Workload& workload);

/// The workload with `check_axes`, under a name of its own; itself where it has none.
Workload checked_shape(const Workload& workload);

/// Axes (constants too), types, parameters and presence of optional inputs. `derived` values are
/// the caller's to add.
Scope scope_of(const Definition& definition, const Workload& workload);

/// Inputs that are present, then outputs, in the definition's order. An error where a size is
/// negative, zero or above 2^40 elements.
base::Result<std::vector<TensorShape>> shapes_of(const Definition& definition,
                                                 const Workload& workload);

/// What the definition counts, for this workload; 0 where it does not say.
struct Work {
  double flops = 0;
  double operations = 0;
  double special_functions = 0;
  double bytes = 0;
};
base::Result<Work> work_of(const Definition& definition, const Workload& workload);

}  // namespace ksearch::kernel
