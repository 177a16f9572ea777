#include "simt/ir/runs.h"

#include <algorithm>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"

namespace ksearch::simt::ir {

RunGraph::RunGraph(const Module& module, const Function& function, const Liveness& liveness)
    : module_(module), function_(function), liveness_(liveness), before_(function.blocks.size()) {
  for (std::size_t b = 0; b < before_.size(); ++b)
    for (const std::size_t next : liveness.successors(b)) ++before_[next];
  find_runs();
  find_reach();
}

/// Whether nothing in a block is the author's.
bool RunGraph::is_detour(std::size_t block) const {
  return std::ranges::all_of(function_.blocks[block].instructions, [&](const Instruction& i) {
    return is_machinery(origin(module_, i).inner);
  });
}

/// The block that surely follows: past one that only we have reason to run.
std::optional<std::size_t> RunGraph::follower(std::size_t block) const {
  const auto& next = liveness_.successors(block);
  if (next.size() == 1 && before_[next[0]] == 1) return next[0];
  if (next.size() != 2) return std::nullopt;
  for (const auto& [detour, to] : {std::pair(next[0], next[1]), std::pair(next[1], next[0])})
    if (before_[detour] == 1 && before_[to] == 2 &&
        liveness_.successors(detour) == std::vector<std::size_t>{to} && is_detour(detour))
      return to;
  return std::nullopt;
}

void RunGraph::add_block(std::size_t run, std::size_t block) {
  for (const Instruction& i : function_.blocks[block].instructions)
    if (i.opcode != "phi" || !runs_[run].blocks.empty()) runs_[run].instructions.push_back(&i);
  runs_[run].blocks.push_back(block);
}

void RunGraph::find_runs() {
  const std::size_t count = function_.blocks.size();
  std::vector<bool> inside(count);  // a run, behind its first block
  std::vector<std::optional<std::size_t>> followers(count);
  for (std::size_t b = 0; b < count; ++b) {
    followers[b] = follower(b);
    if (followers[b] && *followers[b] <= b) followers[b] = std::nullopt;  // a loop
    if (!followers[b]) continue;
    for (const std::size_t next : liveness_.successors(b)) inside[next] = true;
  }
  std::vector<std::size_t> run_of(count);
  for (std::size_t b = 0; b < count; ++b) {
    if (inside[b]) continue;
    const std::size_t run = runs_.size();
    runs_.push_back({.before = before_[b]});
    for (std::optional<std::size_t> at = b; at; at = followers[*at]) {
      add_block(run, *at);
      run_of[*at] = run;
      if (!followers[*at]) break;
      for (const std::size_t next : liveness_.successors(*at))
        if (next != *followers[*at]) add_block(run, next);
    }
  }
  for (Run& run : runs_)
    for (const std::size_t next : liveness_.successors(run.blocks.back()))
      run.next.push_back(run_of[next]);
}

void RunGraph::find_reach() {
  reach_.assign(runs_.size(), std::vector<bool>(runs_.size()));
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    std::vector<std::size_t> open = runs_[r].next;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (reach_[r][at]) continue;
      reach_[r][at] = true;
      open.insert(open.end(), runs_[at].next.begin(), runs_[at].next.end());
    }
  }
}

}  // namespace ksearch::simt::ir
