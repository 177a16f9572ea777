// A small program of dialect mlx, and the request to export it, for the tests of both languages.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

struct Scale {
  static constexpr const char* kDefinition = R"({
    "name": "scale", "op_type": "scale", "description": "Each element times two.",
    "axes": {"len": {"type": "var"}, "k": {"type": "var"}}, "types": {"T": ["float32"]},
    "inputs": {"x": {"shape": ["len"], "dtype": "T"},
               "bias": {"shape": ["len"], "dtype": "T", "optional": true}},
    "outputs": {"out": {"shape": ["len", "k"], "dtype": "T"}},
    "generate": [{"kind": "normal", "tensors": ["x", "bias"], "mean": 0.0, "std": 1.0}],
    "flops": "len", "bytes": "len", "reference": ""})";

  /// `launches`: JSON objects with commas between; `more`: members of the program, by name.
  static base::Result<std::unique_ptr<Scale>> make(const std::string& launches,
                                                   const std::string& body,
                                                   const std::string& more = "{}") {
    auto made = std::make_unique<Scale>();
    KS_TRY(const base::Json definition, base::parse_json(kDefinition, "definition"));
    KS_TRY(made->definition, kernel::parse_definition(definition, "definition"));
    KS_TRY(base::Json program, base::parse_json(more, "more"));
    program["format"] = "ksearch.program/1";
    program["task"] = "scale";
    program["dialect"] = "mlx";
    program["sources"] = {{{"path", "k.metal"}, {"text", body}}};
    KS_TRY(program["launches"], base::parse_json("[" + launches + "]", "launches"));
    KS_TRY(made->program, kernel::parse_program(program, made->definition, "program",
                                                [](std::string_view) { return std::string(); }));
    made->request.program = &made->program;
    made->request.definition = &made->definition;
    made->request.device.name = "some GPU";
    made->request.credit = {"Found in a test."};
    return made;
  }

  kernel::Definition definition;
  kernel::Program program;
  MlxExportRequest request;
};

}  // namespace ksearch::formats
