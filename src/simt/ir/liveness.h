// Which registers of a function hold what is still needed, block by block.
#pragma once

#include <bit>

#include "simt/ir/register_map.h"

namespace ksearch::simt::ir {

/// Of halves, by number.
class HalfSet {
 public:
  explicit HalfSet(std::size_t size) : words_((size + 63) / 64) {}
  bool has(Half half) const { return (words_[half / 64] >> half % 64 & 1) != 0; }
  void add(Half half) { words_[half / 64] |= std::uint64_t{1} << half % 64; }
  void remove(Half half) { words_[half / 64] &= ~(std::uint64_t{1} << half % 64); }
  void add(const HalfSet& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  int count() const {
    int sum = 0;
    for (const std::uint64_t word : words_) sum += std::popcount(word);
    return sum;
  }
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        f(static_cast<Half>(64 * i) + static_cast<Half>(std::countr_zero(rest)));
  }
  bool operator==(const HalfSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

/// What a phi takes of another block, and what it calls it: kShared where it keeps less.
struct Taken {
  Half half, as;
};

class Liveness {
 public:
  Liveness(const Module& module, const Function& function);

  const RegisterMap& registers() const { return map_; }
  /// Before a block's first instruction, without what its phis make.
  const HalfSet& alive_in(std::size_t block) const { return in_[block]; }
  const std::vector<std::size_t>& successors(std::size_t block) const { return successors_[block]; }
  /// At the worst place, of a block or of all.
  int most_alive(std::size_t block) const { return most_[block]; }
  int most_alive() const;
  /// What phis take where control goes from a block to the k-th of its successors.
  const std::vector<Taken>& taken(std::size_t block, std::size_t k) const {
    return taken_[block][k];
  }

 private:
  void find_successors();
  void find_taken();
  void add_taken(std::size_t to, std::string_view label, std::string_view value,
                 const Halves& made);
  void solve();
  HalfSet alive_out(std::size_t block) const;
  int walk_back(std::size_t block, HalfSet& alive) const;

  const Function& function_;
  RegisterMap map_;
  std::unordered_map<std::string_view, std::size_t> blocks_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::vector<std::vector<Taken>>> taken_;  ///< beside each successor
  std::vector<HalfSet> in_;
  std::vector<int> most_;
};

}  // namespace ksearch::simt::ir
