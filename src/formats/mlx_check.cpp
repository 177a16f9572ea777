#include "formats/mlx_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "formats/expr_python.h"
#include "kernel/bind.h"

namespace ksearch::formats {
namespace {

using kernel::TensorSpec;

/// A text that other programs read as text: not empty, no NUL byte, UTF-8.
base::Result<void> check_text(const std::string& where, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return base::usage_error(where, "is empty");
  const std::size_t nul = text.find('\0'), end = std::min(nul, base::utf8_prefix(text));
  if (end >= text.size()) return {};
  const auto line = 1 + std::ranges::count(text.substr(0, end), '\n');
  return base::usage_error(fmt::format("{}, line {}", where, line),
                           end == nul ? "holds a NUL byte" : "is not UTF-8",
                           "MLX takes text alone");
}

base::Result<void> check_texts(const MlxExportRequest& request) {
  for (const kernel::Launch& launch : request.program->launches) {
    KS_TRY(const std::string* body, mlx_body(*request.program, launch.kernel));
    KS_RETURN_IF_ERROR(check_text(launch.kernel + ".metal", *body));
    const std::string* header = mlx_source(*request.program, launch.kernel + ".h");
    if (header && !header->empty()) KS_RETURN_IF_ERROR(check_text(launch.kernel + ".h", *header));
  }
  if (request.reference.empty()) return {};
  return check_text("the task's reference in MLX's operations", request.reference);
}

base::Result<void> check_types(const kernel::Definition& definition) {
  for (const auto& [variable, dtypes] : definition.types) {
    for (const kernel::DType type : dtypes)
      if (mlx_dtype(type).empty())
        return base::usage_error(variable, fmt::format("MLX has no {}", kernel::name(type)));
    if (!input_of_type(definition, variable))
      return base::usage_error(variable, "is the type of no input that is always given",
                               "the file takes types from its inputs");
  }
  return {};
}

/// A launch may read what the caller gave or a launch before it wrote.
base::Result<void> check_order(const kernel::Program& program,
                               const kernel::Definition& definition) {
  std::set<std::string> known;
  for (const TensorSpec& t : definition.inputs) known.insert(t.name);
  for (const kernel::Launch& launch : program.launches) {
    KS_TRY(const MlxCall call, mlx_call(program, definition, launch));
    for (const auto& input : call.inputs)
      if (const auto* tensor = std::get_if<std::string>(&input); tensor && !known.contains(*tensor))
        return base::usage_error(*tensor, "is read before a launch writes it",
                                 "MLX makes a tensor where a kernel writes it");
    for (const std::string& name : call.output_names()) known.insert(name);
  }
  for (const TensorSpec& t : definition.outputs)
    if (!known.contains(t.name)) return base::usage_error(t.name, "is written by no launch");
  return {};
}

/// On some workload there must be something to launch.
base::Result<void> check_runs(const MlxExportRequest& request) {
  const kernel::Program& program = *request.program;
  std::string why;
  for (const kernel::Workload& w : request.workloads) {
    const auto choice =
        kernel::choose(program, *request.definition, w, request.device, program.select);
    const auto bound = choice
                           ? kernel::bind(program, *request.definition, w, request.device, *choice)
                           : std::unexpected(choice.error());
    if (bound) return {};
    why = fmt::format("{}: {}", w.name, bound.error().text());
  }
  if (why.empty()) return {};
  return base::usage_error(request.definition->name, "the program runs on none of its workloads",
                           why);
}

}  // namespace

base::Result<void> check_mlx_request(const MlxExportRequest& request, std::string_view form) {
  if (request.program->dialect != kernel::Dialect::mlx)
    return base::usage_error(
        fmt::format("--as {}", form),
        fmt::format("the program is of dialect {}", name(request.program->dialect)),
        fmt::format("{} exports programs of dialect mlx", form));
  for (const auto* tensors : {&request.definition->inputs, &request.definition->outputs})
    for (const TensorSpec& t : *tensors)
      if (t.access == kernel::Access::inout)
        return base::usage_error(t.name, "is updated in place, which MLX has not");
  KS_RETURN_IF_ERROR(check_types(*request.definition));
  KS_RETURN_IF_ERROR(check_texts(request));
  KS_RETURN_IF_ERROR(mlx_writers(*request.program, *request.definition));
  KS_RETURN_IF_ERROR(check_order(*request.program, *request.definition));
  return check_runs(request);
}

}  // namespace ksearch::formats
