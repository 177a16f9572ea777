#include "simt/ir/chain.h"

#include <algorithm>
#include <unordered_map>

namespace ksearch::simt::ir {
namespace {

struct Latency {
  double issue = 1, result = 6;
};

/// metal-benchmarks (philipturner): a dependent FMA of float32 takes 11.3 cycles on an idle
/// scheduler, of float16 3.94; functions, conversions and integer products issue in 4 and more.
/// Integers: an estimate between the two.
Latency latency(std::string_view kind) {
  const std::size_t dot = kind.find('.');
  const std::string_view type = kind.substr(0, dot), what = kind.substr(dot + 1);
  const bool simple = what == "add" || what == "mul" || what == "fma" || what == "compare" ||
                      what == "select" || what == "bit";
  if (what == "fusable") return {0, 0};
  if (type == "half" && simple) return {1, 3.94};
  if ((type == "float" || type == "bfloat") && simple) return {1, 11.3};
  if ((type == "int" || type == "short" || type == "bool") && simple)
    return what == "mul" ? Latency{4, 8} : Latency{1, 6};
  if (type == "long") return {4, 10};
  if (type == "float" || type == "half" || type == "bfloat") return {6, 14};  // functions
  if (type == "convert") return {1, 6};
  // Operations of a SIMD-group end a block in this build; their results are other blocks'.
  if (type == "matrix") return {17, 17};
  return {2, 4};
}

struct Ready {
  double at = 0;          ///< cycle of the chain
  double depth = 0;       ///< operations of it
  std::size_t waits = 0;  ///< for memory
};

}  // namespace

BlockChain chain_of(std::span<const ChainStep> steps) {
  BlockChain chain;
  std::unordered_map<std::string_view, Ready> values;
  double issued = 0, operations = 0, halves = 0, depth = 0;
  for (const ChainStep& step : steps) {
    Ready from;
    if (step.instruction->opcode != "phi")
      for (const std::string_view word : step.instruction->words) {
        const auto value = values.find(word);
        if (value == values.end()) continue;
        from.at = std::max(from.at, value->second.at);
        from.depth = std::max(from.depth, value->second.depth);
        from.waits = std::max(from.waits, value->second.waits);
      }
    if (!step.kind.empty()) {
      const Latency cost = latency(step.kind);
      issued += cost.issue;
      from.at += cost.result;
      if (cost.issue == 1) {
        ++operations;
        ++from.depth;
        halves += step.kind.starts_with("half");
      }
    }
    chain.cycles = std::max(chain.cycles, from.at);
    depth = std::max(depth, from.depth);
    if (step.site >= 0) {
      if (chain.waits.size() <= from.waits) chain.waits.resize(from.waits + 1);
      chain.waits[from.waits].push_back(static_cast<std::uint32_t>(step.site));
      ++from.waits;
    }
    if (!step.instruction->result.empty()) values[step.instruction->result] = from;
  }
  chain.cycles = std::max(chain.cycles, issued);
  const double alone = std::max(0.0, 2 * depth - operations);
  chain.alone_half = operations > 0 ? alone * halves / operations : 0;
  chain.alone = alone - chain.alone_half;
  return chain;
}

}  // namespace ksearch::simt::ir
