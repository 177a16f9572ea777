// Times of an evaluation: which tunables where, then the program, its parent and an expert in
// turns.
#include <fmt/format.h>

#include <algorithm>

#include "evaluate/evaluation.h"
#include "evaluate/select.h"
#include "evaluate/statistics.h"

namespace ksearch::evaluate {
namespace {

using namespace std::chrono_literals;

/// A floor above this share of the time is said: the figure is then largely the launching.
constexpr double kFloorShare = 0.2;
/// Choices within the noise of each other need no more rounds; the final timing is another contest.
constexpr int kTuneRounds = 4;
/// A choice this much slower than the best when it was checked, on untouched memory, is out of the
/// race.
constexpr double kHopelessChoice = 1.4;
/// Of a time that was taken while checking, in one batch.
constexpr double kCheckedError = 0.1;

}  // namespace

int Evaluation::batch_calls(const kernel::Workload& w) const {
  // Never from the candidate's own time, which it could stretch or shrink while it is watched.
  double reference = 0;
  if (const Baselines::Best* best = s_.best_of(w.name))
    reference = best->expert_ns > 0 ? best->expert_ns : best->naive_ns;
  return calls_per_batch(reference > 0 ? reference : 1e7, s_.truth->maker(w).tensors());
}

/// What a round of timing is expected to take, by the times that were seen so far.
double Evaluation::round_ns(const kernel::Workload& w) const {
  const kernel::TunableChoice choice =
      chosen(program_, outcome_.select, s_.task->definition, w, profile());
  double each = checked_ns_.at({w.name, choice});
  if (const Baselines::Best* best = s_.best_of(w.name)) each += best->expert_ns;
  if (parent_worker_) {
    const auto known = s_.measured_ns.find(request_.parent->hash());
    each +=
        known == s_.measured_ns.end() ? checked_ns_.at({w.name, choice}) : known->second.at(w.name);
  }
  return 2 * each * batch_calls(w);
}

Tried<void> Evaluation::tune() {
  const std::vector<kernel::TunableChoice> choices = program_.choices();
  if (choices.size() < 2) {
    if (!choices.empty() && !choices[0].empty()) outcome_.select = {{std::nullopt, choices[0]}};
    return {};
  }
  std::vector<Lane> lanes;
  for (const auto& choice : choices) {
    auto worker = s_.target->start(program_.executable);
    if (!worker) return lost(worker.error().text());
    lanes.push_back({choice, std::move(*worker)});
  }
  std::vector<ChoiceTimes> times;
  for (const kernel::Workload& w : s_.feedback) {
    progress_("tuning " + w.name);
    outcome_.workload = w.name;
    KS_TRY_STEP(tune_on(w, lanes));
    ChoiceTimes row{&w, {}, {}};
    for (const auto& choice : program_.legal.at(w.name)) {
      row.ns[choice] = checked_ns_.at({w.name, choice});
      const auto tuned = tuned_error_.find({w.name, choice});
      row.error[choice] = tuned == tuned_error_.end() ? kCheckedError : tuned->second;
    }
    times.push_back(std::move(row));
  }
  outcome_.select = select_tunables(s_.task->definition, times);
  if (std::string text = describe_choices(times); !text.empty())
    outcome_.notes.push_back(std::move(text));
  return {};
}

Tried<void> Evaluation::tune_on(const kernel::Workload& w, std::vector<Lane>& lanes) {
  const auto& legal = program_.legal.at(w.name);
  if (legal.size() < 2) return {};
  std::vector<Rig> rigs;
  rigs.reserve(lanes.size());
  std::vector<Entrant> entrants;
  double best = checked_ns_.at({w.name, legal.front()});
  for (const auto& choice : legal) best = std::min(best, checked_ns_.at({w.name, choice}));
  for (Lane& lane : lanes) {
    if (std::ranges::find(legal, lane.choice) == legal.end()) continue;
    if (checked_ns_.at({w.name, lane.choice}) > kHopelessChoice * best) continue;
    rigs.emplace_back(*lane.worker, s_.truth->maker(w), s_.outputs(w));
    entrants.push_back({named(lane.choice), &rigs.back(), &program_.plan(w.name, lane.choice),
                        std::nullopt, true});
  }
  if (entrants.size() < 2) return {};
  const auto share = allowance() / (2 * static_cast<std::int64_t>(s_.feedback.size()));
  const bool slow =
      6 * best * static_cast<double>(entrants.size()) > static_cast<double>(share.count());
  const ContestOptions options{.workload = &w,
                               .calls = slow ? 1 : batch_calls(w),
                               .first_set = s_.take_sets(),
                               .share = share,
                               .least_rounds = 1,
                               .most_rounds = kTuneRounds,
                               .warm_up = !slow,
                               .of = {},
                               .against = {},
                               .parent = {},
                               .limit_per_call = s_.limit_of(w.name)};
  KS_TRIED(const ContestResult result, contest(entrants, *s_.truth, options, *s_.clock, s_.random));
  // Every choice was right when it was checked: one that fails now makes the program fail.
  if (!result.out.empty()) {
    outcome_.notes.push_back("with tunables " + result.out.begin()->first);
    return std::unexpected(result.out.begin()->second);
  }
  outcome_.measurements += result.batches;
  for (const auto& choice : legal) {
    const auto samples = result.call_ns.find(named(choice));
    if (samples == result.call_ns.end()) continue;
    const Interval at = location(samples->second);
    checked_ns_[{w.name, choice}] = at.value;
    tuned_error_[{w.name, choice}] = (at.high - at.low) / (2 * 1.96 * at.value);
  }
  return {};
}

Tried<void> Evaluation::start_parent() {
  // Naive was timed at the start; run again it would cost more than all the rest.
  if (!request_.parent || request_.parent->hash() == s_.naive_hash) return {};
  std::string at;
  Tried<PreparedProgram> bound = bind_selected(*request_.parent, request_.parent_select,
                                               s_.task->definition, s_.feedback, profile(), at);
  if (bound) {
    if (auto built = build(*bound, *s_.target); built) {
      auto worker = s_.target->start(bound->executable);
      if (!worker) return lost(worker.error().text());
      parent_ = std::move(*bound);
      parent_worker_ = std::move(*worker);
      return {};
    } else if (const auto* l = std::get_if<kernel::Lost>(&built.error())) {
      return lost(l->reason);
    }
  }
  outcome_.notes.push_back("the parent could not be built again: no ratio to it");
  return {};
}

std::chrono::nanoseconds Evaluation::allowance() const {
  const std::chrono::nanoseconds usual = s_.options.timing;
  if (!request_.time_left) return usual;
  return std::clamp<std::chrono::nanoseconds>(
      *request_.time_left / 4, std::min(usual, std::chrono::nanoseconds(500ms)), usual);
}

Tried<kernel::WorkloadTiming> Evaluation::time_on(const kernel::Workload& w,
                                                  std::chrono::nanoseconds share) {
  const kernel::TunableChoice choice =
      chosen(program_, outcome_.select, s_.task->definition, w, profile());
  std::vector<Rig> rigs;
  rigs.reserve(3);
  std::vector<Entrant> entrants;
  const auto enter = [&](std::string name, target::Worker& worker, const kernel::BoundProgram* plan,
                         std::optional<double> error, bool judged) {
    rigs.emplace_back(worker, s_.truth->maker(w), s_.outputs(w));
    entrants.push_back({std::move(name), &rigs.back(), plan, error, judged});
  };
  enter("program", *worker_, &program_.plan(w.name, choice), std::nullopt, true);
  ExpertRunner* expert = s_.expert_of(w.name);
  const double own_tolerance = s_.outputs(w).front().tolerance.relative_rms;
  if (parent_worker_) {
    const auto parent_choice =
        chosen(*parent_, request_.parent_select, s_.task->definition, w, profile());
    // It passed its own evaluation, so its error is within the tolerance.
    enter("parent", *parent_worker_, &parent_->plan(w.name, parent_choice),
          expert ? std::nullopt : std::optional(own_tolerance), expert != nullptr);
  }
  if (expert)
    enter("expert", *expert->worker,
          expert->prepared
              ? &expert->prepared->plan(w.name, expert->prepared->legal.at(w.name).front())
              : nullptr,
          expert->error.at(w.name), false);

  // A program so slow that three rounds would take twice the share: one call a batch, one round,
  // and an interval that says how little that is.
  const bool slow = 3.5 * round_ns(w) > 2 * static_cast<double>(share.count());
  const ContestOptions options{.workload = &w,
                               .calls = slow ? 1 : batch_calls(w),
                               .first_set = s_.take_sets(),
                               .share = share,
                               .least_rounds = slow ? 1 : 3,
                               .warm_up = !slow,
                               .of = "program",
                               .against = expert ? "expert" : "parent",
                               .width = s_.options.ratio_width,
                               .longest = 2 * share,
                               .parent = "parent",
                               .limit_per_call = s_.limit_of(w.name)};
  KS_TRIED(const ContestResult result, contest(entrants, *s_.truth, options, *s_.clock, s_.random));
  outcome_.measurements += result.batches;
  for (const auto& [name, failure] : result.out) {
    outcome_.notes.push_back(fmt::format("{} failed on {}: {}", name, w.name, text(failure)));
    if (name == "parent") parent_worker_.reset();
    if (name == "expert") expert->worker.reset();
  }
  return timing_of(s_, w, result, choice);
}

Tried<void> Evaluation::note_floor(const kernel::Workload& w,
                                   const kernel::WorkloadTiming& timing) {
  const auto& plan = program_.plan(w.name, timing.tunables);
  const std::optional<double> floor = floor_ns(s_, plan);
  if (floor && *floor > kFloorShare * timing.median_ns)
    outcome_.notes.push_back(fmt::format("on {} launching alone takes {:.3g} of {:.3g} us", w.name,
                                         *floor / 1e3, timing.median_ns / 1e3));
  return {};
}

}  // namespace ksearch::evaluate
