// A small task for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include "kernel/definition.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::kernel {

inline const char* kDefinitionText = R"J({
  "name": "scan", "op_type": "scan", "description": "for tests",
  "axes": {"B": {"type": "var"}, "L": {"type": "var", "description": "steps"}, "N": {"type": "const", "value": 16}},
  "types": {"T": ["float32", "bfloat16"]},
  "params": {"causal": {"type": "bool"}, "scale": "float32", "k": "int"},
  "constraints": ["L % 2 == 0"],
  "inputs": {
    "x": {"shape": ["B", "L"], "dtype": "T"},
    "w": {"shape": ["N"], "dtype": "float32", "optional": true},
    "state": {"shape": ["B", "N"], "dtype": "float32", "access": "inout"},
    "indptr": {"shape": ["B + 1"], "dtype": "int32", "host_visible": true}
  },
  "outputs": {"out": {"shape": ["B", "L / 2"], "dtype": "T"}},
  "derived": {"longest": "max_diff(indptr)"},
  "generate": [{"kind": "normal", "tensors": ["x", "w"], "std": 2.0}],
  "flops": "2 * B * L - B * L * causal",
  "bytes": "sizeof(T) * B * L"
})J";

inline const char* kWorkloadText = R"({
  "name": "small", "role": "feedback", "axes": {"B": 3, "L": 8}, "types": {"T": "bfloat16"},
  "params": {"causal": true, "scale": 0.5, "k": 4}, "absent": ["w"]})";

inline Definition definition() {
  auto d = parse_definition(*base::parse_json(kDefinitionText, "d"), "d");
  if (!d) throw std::runtime_error(d.error().text());
  return *d;
}

inline Workload workload() {
  auto w = parse_workload(*base::parse_json(kWorkloadText, "w"), definition(), "w");
  if (!w) throw std::runtime_error(w.error().text());
  return *w;
}

inline HardwareProfile device() {
  HardwareProfile p;
  p.name = "test";
  p.kind = "cpu";
  p.cores = 2;
  p.simd_width = 16;
  p.l1_bytes = 32768;
  p.features = {"avx512f"};
  return p;
}

/// `text` with the first `from` replaced by `to`.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

}  // namespace ksearch::kernel
