// Inputs of a workload from a seed: what a definition's `generate` rules ask for, fresh for every
// call that is timed.
//
// A normal or uniform tensor is made of blocks of 4096 elements; each block is the sum of two
// windows of a pool of 2^20 draws, both at offsets drawn from the secret seed, the workload, the
// tensor and the set. A fill so costs about what copying does. A sum of two windows has 2^40
// possible contents a block, so a kernel that keeps what it saw (whole inputs by fingerprint, or
// rows, or the pool itself) does not meet it again; and no table over the pool gives a function of
// a sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/definition.h"
#include "kernel/workload.h"

namespace ksearch::task {

/// 2^20 draws (and one block more) of each kind. Made once a session, shared by its workloads.
struct NoisePool {
  static std::shared_ptr<const NoisePool> make(std::uint64_t seed);
  std::vector<float> normal;
  std::vector<std::uint32_t> bits;
};

/// Which contents: `set` counts the fresh ones; `variant` 0 is the definition's own distribution,
/// variant v > 0 its v-th `stress` settings.
struct Content {
  std::uint64_t set = 0;
  int variant = 0;
  friend bool operator==(const Content&, const Content&) = default;
};

/// Fills inputs of one workload. Thread-safe: `fill` only reads.
///
/// Kinds: `normal {mean, std}`, `uniform {low, high}`, `log_uniform {low, high}`, `integers {low,
/// high}` (high not included), `softplus_negative {mean, std}` (-log(1 + exp(n))), `constant
/// {value}`, `zeros`, `ones`, `causal_lengths {max}` (1 .. max, the longest is there), `page_table
/// {pages}` for tensors [indptr, indices] or [indptr, indices, last_page_len] with `page_size`.
/// Numbers may be expressions in text. Each rule may hold `stress`: a list of settings that replace
/// its own, for the shapes that are checked and not timed. A float input without a rule is
/// normal(0, 1), a boolean one a fair coin; an integer one must have a rule.
class InputMaker {
 public:
  static base::Result<InputMaker> make(const kernel::Definition& definition,
                                       const kernel::Workload& workload, std::uint64_t seed,
                                       std::shared_ptr<const NoisePool> pool);

  /// Inputs that are present (inout too), then outputs.
  const std::vector<kernel::TensorShape>& tensors() const { return tensors_; }
  /// 1 and the longest `stress` list of the rules.
  int variants() const { return variants_; }
  /// Writes the whole tensor. Same arguments, same bytes, on every machine.
  void fill(const Content& content, std::string_view tensor, std::span<std::byte> out) const;

 private:
  struct Recipe;
  InputMaker() = default;

  std::vector<kernel::TensorShape> tensors_;
  std::vector<std::shared_ptr<const Recipe>> recipes_;  // shared: a rule makes several tensors
  int variants_ = 1;
  std::uint64_t seed_ = 0;
  std::shared_ptr<const NoisePool> pool_;
};

/// Exact values of a tensor's elements.
void to_doubles(kernel::DType dtype, std::span<const std::byte> bytes, std::span<double> out);

}  // namespace ksearch::task
