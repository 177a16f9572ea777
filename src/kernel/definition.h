// An operation: what goes in, what comes out, how right is right. FlashInfer-Bench's `Definition`
// schema with our additions (design, section 3). A plain value; loading it from a folder is
// `task`'s.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "kernel/expr.h"
#include "kernel/tolerance.h"

namespace ksearch::kernel {

struct Axis {
  std::string name;
  std::optional<std::int64_t> constant;  ///< bound by the definition; else by each workload
  std::string description;
};

enum class ParamKind { integer, boolean, float32 };

struct Param {
  std::string name;
  ParamKind kind = ParamKind::integer;
  std::string description;
};

enum class Access { in, out, inout };

struct TensorSpec {
  std::string name;
  std::vector<Expr> shape;         ///< empty: one element
  Expr dtype = Expr::constant(0);  ///< "float32", or a type variable of `types`
  Access access = Access::in;
  bool optional = false;
  bool host_visible = false;  ///< `derived` may look at it
  std::string description;
  // outputs only
  Compare compare = Compare::allclose;
  std::optional<Tolerance> tolerance;  ///< else the default of its dtype
};

/// One way of filling one or several inputs together; `settings` is what `kind` needs.
struct GenerateRule {
  std::string kind;
  std::vector<std::string> tensors;
  base::Json settings;
};

/// A size that depends on data: `last(x)`, `sum(x)` or `max_diff(x)` of a host-visible input.
struct Derived {
  std::string name;
  std::string function;
  std::string tensor;
};

/// `expr` is empty where the constraint is someone else's Python: kept as text, said to be
/// unchecked.
struct Constraint {
  std::string text;
  std::optional<Expr> expr;
};

struct Definition {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<Axis> axes;
  std::map<std::string, std::vector<DType>> types;
  std::vector<Param> params;
  std::vector<Constraint> constraints;
  std::vector<TensorSpec> inputs;  ///< in the order of the file; `inout` ones are here
  std::vector<TensorSpec> outputs;
  std::vector<GenerateRule> generate;
  std::vector<Derived> derived;
  std::optional<Expr> flops;       ///< floating-point operations of the unmasked work
  std::optional<Expr> operations;  ///< least arithmetic instructions; a fused multiply-add is one
  std::optional<Expr> special_functions;  ///< exponentials, logarithms, reciprocals beside them
  std::optional<Expr> bytes;     ///< least traffic: each input read once, each output written once
  std::string python_reference;  ///< Python source, or empty
  std::vector<std::string> notes;  ///< what the reader wants said: constraints it cannot check, ...

  /// The input or output of that name, or null.
  const TensorSpec* tensor(std::string_view tensor_name) const;
};

/// Reads a definition; every fault names its place in `where`. Checks that names are used once,
/// that expressions use known names, that generated tensors are inputs. Unknown keys are errors.
base::Result<Definition> parse_definition(const base::Json& json, std::string_view where);

}  // namespace ksearch::kernel
