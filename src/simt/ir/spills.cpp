#include "simt/ir/spills.h"

#include <algorithm>
#include <limits>

#include "simt/ir/runs.h"

namespace ksearch::simt::ir {
namespace {

/// Instructions to the next use.
using Distance = std::uint32_t;
constexpr Distance kNever = std::numeric_limits<Distance>::max();
/// What lies behind a loop is used after all that is in it.
constexpr Distance kBehindLoop = 1'000'000;

/// What is in registers at a point of a run.
class Registers {
 public:
  Registers(std::size_t halves, std::size_t most) : most_(most), here_(halves) {}

  bool has(Half half) const { return here_[half]; }
  bool full() const { return all_.size() >= most_; }
  void put(Half half) {
    if (here_[half]) return;
    here_[half] = true;
    all_.push_back(half);
  }
  void drop(Half half) {
    if (!here_[half]) return;
    here_[half] = false;
    std::erase(all_, half);
  }
  /// Gives up what `next` says is used last, until there is place for so many.
  template <class F>
  void make_place(std::size_t count, F&& next) {
    while (!all_.empty() && all_.size() + count > most_)
      drop(*std::ranges::max_element(all_, {}, next));
  }

 private:
  std::size_t most_;
  std::vector<bool> here_;
  std::vector<Half> all_;
};

class Spiller {
 public:
  Spiller(const Module& module, const Function& function, const Liveness& liveness, int registers)
      : function_(function),
        liveness_(liveness),
        map_(liveness.registers()),
        registers_(static_cast<std::size_t>(registers)),
        graph_(module, function, liveness),
        runs_(graph_.runs()),
        uses_(map_.size()),
        loaded_(map_.size()) {
    find_distances();
  }

  std::vector<BlockSpills> run() {
    cost_.resize(function_.blocks.size());
    for (std::size_t r = 0; r < runs_.size(); ++r) starts_.push_back(start_of(r));
    for (std::size_t r = 0; r < runs_.size(); ++r) walk(r);
    add_stores();
    return std::move(cost_);
  }

 private:
  static Distance further(Distance distance, Distance by) {
    return distance > kNever - by ? kNever : distance + by;
  }

  /// From the end of a run on.
  std::vector<Distance> behind(std::size_t r) const {
    std::vector<Distance> result(map_.size(), kNever);
    for (std::size_t k = 0; k < runs_[r].next.size(); ++k) {
      const std::size_t next = runs_[r].next[k];
      const Distance by = graph_.leaves_loop(r, next) ? kBehindLoop : 0;
      const auto note = [&](Half half, Half as) {
        result[half] = std::min(result[half], further(distances_[next][as], by));
      };
      liveness_.alive_in(runs_[next].blocks.front()).each([&](Half half) { note(half, half); });
      each_taken(r, k, note);
    }
    return result;
  }

  void find_distances() {
    distances_.assign(runs_.size(), std::vector<Distance>(map_.size(), kNever));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t r = runs_.size(); r-- > 0;) {
        std::vector<Distance> now = behind(r);
        const auto length = static_cast<Distance>(runs_[r].instructions.size());
        for (Distance& distance : now) distance = further(distance, length);
        for (Distance k = length; k-- > 0;) {
          for (const Half half : map_.made_by(*runs_[r].instructions[k])) now[half] = kNever;
          map_.each_read(*runs_[r].instructions[k], [&](Half half) { now[half] = k; });
        }
        changed = changed || now != distances_[r];
        distances_[r] = std::move(now);
      }
    }
  }

  template <class F>
  void each_phi(const Run& run, F&& f) const {
    for (const Instruction& phi : function_.blocks[run.blocks.front()].instructions) {
      if (phi.opcode != "phi") return;
      f(phi);
    }
  }
  /// What phis take where the k-th of the next runs begins, and what they call it.
  template <class F>
  void each_taken(std::size_t from, std::size_t k, F&& f) const {
    for (const Taken& taken : liveness_.taken(runs_[from].blocks.back(), k))
      if (taken.as != kShared) f(taken.half, taken.as);
  }

  /// The most that are alive anywhere in the loop that a run is in.
  int most_in_loop(std::size_t r) const {
    int most = 0;
    for (std::size_t other = 0; other < runs_.size(); ++other)
      if (graph_.reaches(r, other) && graph_.reaches(other, r))
        for (const std::size_t block : runs_[other].blocks)
          most = std::max(most, liveness_.most_alive(block));
    return most;
  }

  /// What a run finds in registers: what is used first. What a loop does not use has there what
  /// place the loop leaves it.
  Registers start_of(std::size_t r) const {
    const std::vector<Distance>& next = distances_[r];
    std::vector<Half> alive;
    liveness_.alive_in(runs_[r].blocks.front()).each([&](Half half) {
      if (next[half] != kNever) alive.push_back(half);
    });
    each_phi(runs_[r], [&](const Instruction& phi) {
      for (const Half half : map_.made_by(phi))
        if (next[half] != kNever) alive.push_back(half);
    });
    std::ranges::stable_sort(alive, {}, [&](Half half) { return next[half]; });
    const auto unused = std::ranges::find_if(
        alive, [&](Half half) { return graph_.reaches(r, r) && next[half] >= kBehindLoop; });
    const auto through = static_cast<std::size_t>(alive.end() - unused);
    const std::size_t used = through == 0 ? 0 : static_cast<std::size_t>(most_in_loop(r)) - through;
    const std::size_t left = used < registers_ ? registers_ - used : 0;
    alive.resize(alive.size() - through + std::min(through, left));
    Registers registers(map_.size(), registers_);
    for (const Half half : alive)
      if (!registers.full()) registers.put(half);
    return registers;
  }

  void walk(std::size_t r) {
    const Run& run = runs_[r];
    Registers registers = starts_[r];
    const std::vector<Distance> later = behind(r);
    const auto length = static_cast<Distance>(run.instructions.size());
    for (Distance k = length; k-- > 0;)
      map_.each_read(*run.instructions[k], [&](Half half) {
        if (uses_[half].empty() || uses_[half].back() != k) uses_[half].push_back(k);
      });
    const auto next = [&](Half half) {
      return uses_[half].empty() ? further(later[half], length) : uses_[half].back();
    };
    for (Distance k = 0; k < length; ++k) {
      const Instruction& instruction = *run.instructions[k];
      std::vector<Half> missing;
      map_.each_read(instruction, [&](Half half) {
        if (registers.has(half) || std::ranges::find(missing, half) != missing.end()) return;
        missing.push_back(half);
      });
      registers.make_place(missing.size(), next);
      for (const Half half : missing) {
        load(half, run.blocks.front());
        registers.put(half);
      }
      map_.each_read(instruction, [&](Half half) {
        if (!uses_[half].empty() && uses_[half].back() == k) uses_[half].pop_back();
        if (next(half) == kNever) registers.drop(half);
      });
      std::vector<Half> made = map_.made_by(instruction);
      std::erase_if(made, [&](Half half) { return next(half) == kNever; });
      registers.make_place(made.size(), next);
      for (const Half half : made) registers.put(half);
    }
    for (std::size_t k = 0; k < run.next.size(); ++k) move_to(r, k, registers);
  }

  void load(Half half, std::size_t block) {
    ++cost_[block].loads;
    loaded_[half] = true;
  }

  /// What the k-th of the next runs finds in registers and this one has not is loaded on the way.
  void move_to(std::size_t from, std::size_t k, const Registers& registers) {
    const std::size_t to = runs_[from].next[k];
    const std::size_t head = runs_[to].blocks.front();
    const std::size_t at = runs_[to].before == 1 ? head : runs_[from].blocks.front();
    const auto move = [&](Half half, Half as) {
      if (starts_[to].has(as) && !registers.has(half)) load(half, at);
    };
    liveness_.alive_in(head).each([&](Half half) { move(half, half); });
    each_taken(from, k, move);
  }

  /// What is ever loaded is stored once, where it is made; a phi's is stored already where all that
  /// it takes is.
  void add_stores() {
    std::vector<bool> taken_stored(map_.size(), true);
    for (std::size_t from = 0; from < runs_.size(); ++from)
      for (std::size_t k = 0; k < runs_[from].next.size(); ++k)
        each_taken(from, k, [&](Half taken, Half made) {
          if (!loaded_[taken]) taken_stored[made] = false;
        });
    for (const Run& run : runs_) {
      BlockSpills& cost = cost_[run.blocks.front()];
      for (const Instruction* instruction : run.instructions)
        for (const Half half : map_.made_by(*instruction)) cost.stores += loaded_[half];
      each_phi(run, [&](const Instruction& phi) {
        for (const Half half : map_.made_by(phi))
          cost.stores += loaded_[half] && !taken_stored[half];
      });
    }
  }

  const Function& function_;
  const Liveness& liveness_;
  const RegisterMap& map_;
  const std::size_t registers_;
  RunGraph graph_;
  const std::vector<Run>& runs_;
  std::vector<std::vector<Distance>> distances_;  ///< by run, at its start
  std::vector<Registers> starts_;
  /// In the run that is walked: where each is used from here on, the last place first.
  std::vector<std::vector<Distance>> uses_;
  std::vector<bool> loaded_;
  std::vector<BlockSpills> cost_;  ///< by block
};

}  // namespace

std::vector<BlockSpills> spills(const Module& module, const Function& function,
                                const Liveness& liveness, int registers) {
  return Spiller(module, function, liveness, registers).run();
}

}  // namespace ksearch::simt::ir
