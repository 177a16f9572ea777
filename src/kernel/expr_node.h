// The parsed form of an expression, for those who turn it into something else (code of an
// exporter).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/expr.h"

namespace ksearch::kernel {

enum class Op {
  integer,
  boolean,
  dtype,
  name,
  present,
  size_of,
  negate,
  logical_not,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  ceil_div,
  min,
  max,
  clamp,
};

struct Expr::Node {
  Op op = Op::integer;
  std::int64_t integer = 0;
  DType dtype = DType::float32;
  std::string name;
  std::vector<Node> children;
};

}  // namespace ksearch::kernel
