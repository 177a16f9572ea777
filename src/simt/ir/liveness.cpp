#include "simt/ir/liveness.h"

#include <algorithm>
#include <unordered_set>

namespace ksearch::simt::ir {

Liveness::Liveness(const Module& module, const Function& function)
    : function_(function), map_(module, function) {
  for (std::size_t b = 0; b < function.blocks.size(); ++b)
    blocks_.emplace(function.blocks[b].label, b);
  find_successors();
  find_taken();
  solve();
}

void Liveness::find_successors() {
  for (const Block& block : function_.blocks) {
    std::vector<std::size_t>& to = successors_.emplace_back();
    if (block.instructions.empty()) continue;
    const auto add = [&](std::string_view label) {
      const auto found = blocks_.find(label.substr(1));
      if (found != blocks_.end() && std::ranges::find(to, found->second) == to.end())
        to.push_back(found->second);
    };
    const auto& all = block.instructions.back().words;
    for (std::size_t k = 0; k + 1 < all.size(); ++k)
      if (all[k] == "label") add(all[k + 1]);
    // Labels of a switch's list are one word.
    for (const std::string_view word : all)
      if (word.front() == '[')
        for (const std::string_view label : words(word.substr(1, word.size() - 2)))
          if (label.front() == '%') add(label);
  }
}

/// Once: the phis behind a switch name as many blocks as it has cases.
void Liveness::find_taken() {
  for (const auto& to : successors_) taken_.emplace_back(to.size());
  for (std::size_t b = 0; b < function_.blocks.size(); ++b)
    for (const Instruction& phi : function_.blocks[b].instructions) {
      if (phi.opcode != "phi") break;
      std::unordered_set<std::string_view> seen;  // one that comes by two cases stands twice
      for (const std::string_view word : phi.words) {
        if (word.front() != '[') continue;
        const auto pair = words(word.substr(1, word.size() - 2));
        if (pair.size() == 2 && pair[1].size() >= 2 && seen.insert(pair[1]).second)
          add_taken(b, pair[1].substr(1), pair[0], map_.made_by(phi));
      }
    }
}

void Liveness::add_taken(std::size_t to, std::string_view label, std::string_view value,
                         const Halves& made) {
  // The first block's label is not printed.
  const auto found = blocks_.find(label);
  const std::size_t from = found == blocks_.end() ? 0 : found->second;
  const auto at = std::ranges::find(successors_[from], to);
  if (at == successors_[from].end()) return;
  std::vector<Taken>& all = taken_[from][static_cast<std::size_t>(at - successors_[from].begin())];
  const Halves& halves = map_.of(value);
  for (std::size_t i = 0; i < halves.size(); ++i)
    if (halves[i] != kShared) all.push_back({halves[i], i < made.size() ? made[i] : kShared});
}

void Liveness::solve() {
  in_.assign(function_.blocks.size(), HalfSet(map_.size()));
  most_.assign(function_.blocks.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = function_.blocks.size(); b-- > 0;) {
      HalfSet alive = alive_out(b);
      most_[b] = walk_back(b, alive);
      changed = changed || in_[b] != alive;
      in_[b] = std::move(alive);
    }
  }
}

HalfSet Liveness::alive_out(std::size_t block) const {
  HalfSet alive(map_.size());
  for (std::size_t k = 0; k < successors_[block].size(); ++k) {
    alive.add(in_[successors_[block][k]]);
    for (const Taken& taken : taken_[block][k]) alive.add(taken.half);
  }
  return alive;
}

/// From those that are alive behind a block to those before it; the most that are on the way.
int Liveness::walk_back(std::size_t block, HalfSet& alive) const {
  int now = alive.count(), most = now;
  const std::vector<Instruction>& all = function_.blocks[block].instructions;
  for (std::size_t k = all.size(); k-- > 0;) {
    for (const Half half : map_.made_by(all[k])) {
      now -= alive.has(half);
      alive.remove(half);
    }
    map_.each_read(all[k], [&](Half half) {
      now += !alive.has(half);
      alive.add(half);
    });
    most = std::max(most, now);
  }
  return most;
}

int Liveness::most_alive() const { return most_.empty() ? 0 : *std::ranges::max_element(most_); }

}  // namespace ksearch::simt::ir
