#include "simt/ir/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ksearch::simt::ir {
namespace {

/// What calls the engine and is no operation of a SIMD-group: memory, and in what order.
constexpr std::array<std::string_view, 10> kOfMemory = {
    "__threadfence",   "__threadfence_system", "fence",       "commit_copies",     "copy_async",
    "wait_for_copies", "meet_load_matrix",     "__nanosleep", "meet_store_matrix", "wait_prior"};

}  // namespace

std::string_view without_arguments(std::string_view function) {
  return function.substr(0, function.find('<', 1));
}

std::string_view argument(std::string_view function, int i) {
  std::size_t at = function.find('<', 1);
  if (at == std::string_view::npos) return {};
  for (++at; i > 0; --i) {
    at = function.find(", ", at);
    if (at == std::string_view::npos) return {};
    at += 2;
  }
  return function.substr(at, function.find_first_of(",>", at) - at);
}

std::string_view type_name(std::string_view cpp) {
  if (cpp == "_Float16" || cpp == "half") return "half";
  if (cpp == "__bf16" || cpp == "bfloat") return "bfloat";
  if (cpp == "float") return "float";
  if (cpp.find("long") != std::string_view::npos) return "long";
  if (cpp.find("int") != std::string_view::npos) return "int";
  if (cpp.find("short") != std::string_view::npos || cpp.find("char") != std::string_view::npos)
    return "short";
  return cpp == "bool" ? "bool" : std::string_view();
}

std::optional<Operation> collective(std::string_view entry) {
  const std::string_view name = without_arguments(entry);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("group_array") || std::ranges::find(kOfMemory, name) != kOfMemory.end())
    return std::nullopt;
  if (has("multiply") || has("mma") || name == "operator*") {
    const std::string_view type = type_name(argument(entry, name == "operator*" ? 0 : 1));
    return Operation{type.empty() ? "matrix" : fmt::format("matrix.{}", type)};
  }
  const char* scope = name.find("quad_") != std::string_view::npos ? "quad" : "simd";
  const auto of = [&](const char* what) { return Operation{fmt::format("{}.{}", scope, what)}; };
  if (has("shuffle") || has("shfl") || has("broadcast")) return of("shuffle");
  if (has("prefix") || has("scan")) return of("scan");
  if (has("ballot") || has("any") || has("all") || has("vote") || has("active") ||
      has("is_first") || has("match") || has("coalesced") || has("partition"))
    return of("vote");
  if (has("simdgroup_barrier") || has("syncwarp") || name == "sync" || name == "meet_warp")
    return Operation{"barrier.simdgroup"};
  if (has("barrier") || has("sync")) return Operation{"barrier.group"};
  return of("reduce");
}

std::optional<Operation> called_operation(std::string_view callee) {
  const auto has = [&](std::string_view part) { return callee.find(part) != callee.npos; };
  if (has("meet_at_barrier") || has("block_vote")) return Operation{"barrier.group"};
  if (has("atomic_update") || has("atomic_compare")) return Operation{"atomic"};
  return std::nullopt;
}

}  // namespace ksearch::simt::ir
