#include "evaluate/contest.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "evaluate/statistics.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

constexpr double kBatchNs = 8e6;  // a signal costs some 10 us: 0.2% of a batch
constexpr std::size_t kDeal = 4 << 10;
constexpr int kMostCalls = 64;
constexpr std::size_t kMostSetBytes = std::size_t{256} << 20;  // of one worker

/// One run of `contest`: the state that its steps share.
class Contest {
 public:
  Contest(std::vector<Entrant> entrants, Truth& truth, const ContestOptions& options,
          const base::Clock& clock, base::Random& random)
      : entrants_(std::move(entrants)),
        truth_(truth),
        o_(options),
        clock_(clock),
        random_(random) {}

  Tried<ContestResult> run() {
    const auto start = clock_.now();
    for (std::size_t i = entrants_.size(); i-- > 0;)
      KS_TRY_STEP(settle(i, entrants_[i].rig->prepare(*o_.workload, entrants_[i].plan, sets())));
    deal_pages();
    if (o_.warm_up) KS_TRY_STEP(half_round(false, false));
    for (int round = 0; round < o_.most_rounds; ++round) {
      KS_TRY_STEP(half_round(false, true));
      KS_TRY_STEP(half_round(true, true));
      if (round + 1 < o_.least_rounds) continue;
      const auto spent = clock_.now() - start;
      if (decided(o_.width)) break;
      if (spent >= o_.share && (spent >= o_.longest || decided(o_.bearable))) break;
    }
    return std::move(result_);
  }

 private:
  /// Pages are handed to the entrants in turns. Whoever came first or last with all of its memory
  /// was up to 15% slower on work bound by bandwidth, with the same program.
  void deal_pages() {
    std::size_t longest = 0;
    for (const kernel::TensorShape& t : truth_.maker(*o_.workload).tensors())
      longest = std::max(longest, t.bytes());
    for (int set = 0; set < sets(); ++set)
      for (std::size_t from = 0; from < longest; from += kDeal)
        for (Entrant& e : entrants_) e.rig->touch(set, from, kDeal);
  }

  /// A failed entrant leaves; it takes the contest with it if it is the one in question.
  Tried<void> settle(std::size_t index, Tried<void> step) {
    if (step) return {};
    if (entrants_[index].name == o_.of || std::holds_alternative<kernel::Lost>(step.error()))
      return step;
    result_.out.insert_or_assign(entrants_[index].name, step.error());
    result_.call_ns.erase(entrants_[index].name);
    entrants_.erase(entrants_.begin() + static_cast<std::ptrdiff_t>(index));
    return {};
  }

  /// Warm: all calls of a batch on one set.
  int sets() const { return o_.fresh ? o_.calls : 1; }

  task::Content content_of(int call) const {
    return {o_.first_set + static_cast<std::uint64_t>(halves_ * o_.calls + call), 0};
  }

  Tried<double> batch(Entrant& e, const Poison& poison, const std::vector<int>& order) {
    for (int s = 0; s < sets(); ++s) e.rig->fill(s, content_of(s), poison);
    KS_TRIED(const target::Done done, e.rig->run(order, false, o_.limit_per_call));
    return done.bracket_ns / static_cast<double>(order.size());
  }

  Tried<void> half_round(bool backwards, bool counted) {
    const Poison poison{random_.next()};
    std::vector<int> order = shuffled(o_.calls, random_);
    // As in `verify`: the buffers of the last call come first, with other contents.
    std::iter_swap(order.begin(), std::ranges::find(order, last_call_));
    last_call_ = order.back();
    if (!o_.fresh) std::ranges::fill(order, 0);
    std::vector<std::pair<std::string, double>> times;
    const std::size_t n = entrants_.size();
    std::vector<std::size_t> failed;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = backwards ? n - 1 - k : k;
      const Tried<double> time = batch(entrants_[i], poison, order);
      if (time) {
        times.emplace_back(entrants_[i].name, *time);
        result_.batches += counted;
        continue;
      }
      if (entrants_[i].name == o_.of || std::holds_alternative<kernel::Lost>(time.error()))
        return std::unexpected(time.error());
      result_.out.insert_or_assign(entrants_[i].name, time.error());
      failed.push_back(i);
    }
    std::ranges::sort(failed, std::greater<>());
    for (const std::size_t i : failed) {
      result_.call_ns.erase(entrants_[i].name);
      entrants_.erase(entrants_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    KS_TRY_STEP(check(poison));
    ++halves_;
    if (counted)
      for (const auto& [name, ns] : times)
        if (!result_.out.contains(name)) result_.call_ns[name].push_back(ns);
    return {};
  }

  /// Every judged output written; one call, drawn now, compared in full and its inputs looked at.
  Tried<void> check(const Poison& poison) {
    const int call = static_cast<int>(random_.below(static_cast<std::uint64_t>(sets())));
    const auto known = std::ranges::find_if(
        entrants_, [](const Entrant& e) { return e.comparator_error.has_value(); });
    const Outputs* want = nullptr;
    double slack = 0;
    if (known != entrants_.end()) {
      known->rig->outputs_as_numbers(call, comparator_);
      want = &comparator_;
      slack = *known->comparator_error;
    } else if (full_check_due()) {
      const auto outputs = truth_.of(*o_.workload, content_of(call), false);
      if (!outputs) return lost(outputs.error().reason);
      want = *outputs;
    }
    for (std::size_t i = entrants_.size(); i-- > 0;) {
      Entrant& e = entrants_[i];
      if (!e.judged) continue;
      Tried<void> step = {};
      for (int s = 0; s < sets() && step; ++s) {
        step = e.rig->check_canaries(s);
        if (step) step = e.rig->check_written(s, poison);
      }
      if (step && want && !e.comparator_error) {
        auto full = e.rig->check(call, content_of(call), poison, *want, slack);
        if (!full && want == &comparator_) {
          // The comparator may be further off here than where its own error was seen.
          const auto truth = truth_.of(*o_.workload, content_of(call), false);
          if (!truth) return lost(truth.error().reason);
          full = e.rig->check(call, content_of(call), poison, **truth, 0);
        }
        if (!full) step = std::unexpected(full.error());
        ++result_.checked_in_full;
      } else if (step) {
        step = e.rig->check_inputs(call, content_of(call));
      }
      KS_TRY_STEP(settle(i, std::move(step)));
    }
    return {};
  }

  /// Without a comparator truth is computed anew, which may cost more than all the batches: then
  /// one half round of the first three rounds, which one is secret.
  bool full_check_due() {
    if (due_ < 0)
      due_ = static_cast<int>(
          random_.below(static_cast<std::uint64_t>(2 * std::min(3, o_.least_rounds))));
    return halves_ == due_ + (o_.warm_up ? 1 : 0);
  }

  bool decided(double width) const {
    const auto of = result_.call_ns.find(o_.of);
    if (of == result_.call_ns.end()) return false;
    const auto parent = result_.call_ns.find(o_.parent);
    if (parent != result_.call_ns.end() &&
        paired_ratio(parent->second, of->second).high < o_.hopeless)
      return true;
    const auto against = result_.call_ns.find(o_.against);
    if (against != result_.call_ns.end()) {
      const kernel::Ratio r = paired_ratio(against->second, of->second);
      return r.high - r.low < width * r.value;
    }
    const Interval own = location(of->second);
    return own.high - own.low < width * own.value;
  }

  std::vector<Entrant> entrants_;
  Truth& truth_;
  const ContestOptions& o_;
  const base::Clock& clock_;
  base::Random& random_;
  ContestResult result_;
  Outputs comparator_;
  int halves_ = 0;
  int last_call_ = 0;
  int due_ = -1;
};

}  // namespace

Tried<ContestResult> contest(std::vector<Entrant> entrants, Truth& truth,
                             const ContestOptions& options, const base::Clock& clock,
                             base::Random& random) {
  return Contest(std::move(entrants), truth, options, clock, random).run();
}

int calls_per_batch(double reference_ns, const std::vector<kernel::TensorShape>& tensors) {
  std::size_t bytes = 0;
  for (const kernel::TensorShape& t : tensors) bytes += t.bytes();
  const auto by_memory = static_cast<int>(
      std::clamp<std::size_t>(kMostSetBytes / std::max<std::size_t>(bytes, 1), 1, kMostCalls));
  const double wanted = std::ceil(kBatchNs / std::max(reference_ns, 1.0));
  return std::min(by_memory,
                  static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostCalls))));
}

}  // namespace ksearch::evaluate
