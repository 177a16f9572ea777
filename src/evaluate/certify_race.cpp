// A certified program against every expert, on shapes that the search saw and on others.
#include <algorithm>

#include "evaluate/certify.h"
#include "evaluate/statistics.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kShare = 1200ms;  // of a workload
constexpr std::chrono::nanoseconds kWarmShare = 300ms;

/// The program against every expert that is still loaded, on one workload; the fastest right one
/// counts.
struct Race {
  Certification& c;
  target::Worker& worker;
  ContestResult result;
  std::string expert;

  Tried<void> run(const kernel::Workload& w, bool fresh, std::chrono::nanoseconds share) {
    SessionState& s = c.session;
    std::vector<Rig> rigs;
    rigs.reserve(2 + s.experts.size());  // entrants point into it
    rigs.emplace_back(worker, s.truth->maker(w), s.outputs(w));
    std::vector<Entrant> entrants{{"program", &rigs[0], &c.plan(w), std::nullopt, true}};
    double fastest = 0;
    for (ExpertRunner& e : s.experts) {
      std::optional<double> error =
          e.error.contains(w.name) ? std::optional(e.error.at(w.name)) : std::nullopt;
      if (!e.worker || !supports(e, w)) continue;
      rigs.emplace_back(*e.worker, s.truth->maker(w), s.outputs(w));
      const kernel::BoundProgram* plan = nullptr;
      if (e.prepared) {
        const auto bound = e.prepared->legal.find(w.name);
        if (bound == e.prepared->legal.end()) continue;
        plan = &e.prepared->plan(w.name, bound->second.front());
      }
      const VerifyRequest request{.workload = &w,
                                  .plan = plan,
                                  .contents = contents_for(w, s.truth->maker(w), 0),
                                  .limit_per_call = 120s,
                                  .second_round = false};
      const Tried<Verified> right = verify(rigs.back(), *s.truth, request, c.random);
      if (!right) {
        if (!std::holds_alternative<kernel::WrongResult>(as_verdict(right.error())))
          e.worker.reset();
        continue;
      }
      error = right->error;
      fastest = fastest == 0 ? right->call_ns : std::min(fastest, right->call_ns);
      entrants.push_back({e.expert->name, &rigs.back(), plan, error, false});
    }
    if (entrants.size() == 1 && c.naive_worker) {
      rigs.emplace_back(*c.naive_worker, s.truth->maker(w), s.outputs(w));
      const kernel::BoundProgram& plan = c.naive->plan(w.name, c.naive->legal.at(w.name).front());
      entrants.push_back({"naive", &rigs.back(), &plan, std::nullopt, false});
      const auto naive = s.naive_ns.find(w.name);
      fastest = naive == s.naive_ns.end() ? 1e8 : median(naive->second);
    }
    const std::string against = entrants.size() > 1 ? entrants[1].name : "";
    const ContestOptions options{.workload = &w,
                                 .calls = c.calls(w, fastest),
                                 .first_set = s.take_sets(),
                                 .share = share,
                                 .least_rounds = c.least_rounds(w),
                                 .most_rounds = kMostRounds,
                                 .of = "program",
                                 .against = against,
                                 .width = s.options.ratio_width,
                                 .longest = kStretch * share,
                                 .parent = {},
                                 .limit_per_call = s.limit_of(w.name) + 20s,
                                 .fresh = fresh};
    KS_TRIED(result, contest(entrants, *s.truth, options, *s.clock, c.random));
    expert.clear();
    double best = 0;
    for (const auto& [name, samples] : result.call_ns) {
      if (name == "program" || name == "naive") continue;
      const double ns = median(samples);
      if (expert.empty() || ns < best) {
        expert = name;
        best = ns;
      }
    }
    if (!expert.empty()) result.call_ns["expert"] = result.call_ns.at(expert);
    return {};
  }

  static kernel::Verdict as_verdict(const Failure& f) {
    const auto* v = std::get_if<kernel::Verdict>(&f);
    return v ? *v : kernel::Verdict(kernel::Crashed{});
  }

  bool supports(const ExpertRunner& e, const kernel::Workload& w) const {
    if (!e.expert->supports) return true;
    const auto yes =
        e.expert->supports->eval_boolean(kernel::scope_of(c.session.task->definition, w));
    return yes && *yes;
  }
};

}  // namespace

base::Result<bool> certify_race(Certification& c, target::Worker& worker,
                                const std::vector<kernel::Workload>& list,
                                std::vector<kernel::WorkloadTiming>& timings, base::Json& warm,
                                int& checked, int& calls) {
  SessionState& s = c.session;
  Race one{c, worker, {}, {}};
  for (const kernel::Workload& w : list) {
    c.progress("certify: timing " + w.name);
    const auto failed = [&](const Failure& f) -> base::Result<bool> {
      if (std::holds_alternative<kernel::Lost>(f)) return std::unexpected(failed_step(f));
      c.add("timed_calls", false, fmt::format("{}: {}", w.name, text(f)));
      return false;
    };
    if (auto step = one.run(w, true, kShare); !step) return failed(step.error());
    checked += one.result.checked_in_full;
    calls += one.result.batches;
    kernel::WorkloadTiming t = timing_of(s, w, one.result, c.program.legal.at(w.name).front());
    t.expert = one.expert;
    std::vector<std::string> notes;
    if (auto step = believe(s, w, t, notes); !step) return failed(step.error());
    timings.push_back(std::move(t));
    if (auto step = one.run(w, false, kWarmShare); !step) return failed(step.error());
    const kernel::WorkloadTiming hot =
        timing_of(s, w, one.result, c.program.legal.at(w.name).front());
    base::Json entry{{"workload", w.name}, {"median_ns", hot.median_ns}};
    if (const auto r = hot.ratios.find("expert"); r != hot.ratios.end() && !one.expert.empty())
      entry["ratio_to_expert"] = {
          {"value", r->second.value}, {"low", r->second.low}, {"high", r->second.high}};
    warm.push_back(std::move(entry));
  }
  return true;
}

}  // namespace ksearch::evaluate
