// Checks of a certificate that need the clock: do equal programs read equal, is the time the
// program's and not the harness's, and what is the ratio, cold and warm, on shapes the search never
// saw?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "evaluate/certify.h"
#include "evaluate/statistics.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kShare = 1200ms;  // of a workload
constexpr std::chrono::nanoseconds kWarmShare = 300ms;
constexpr std::chrono::nanoseconds kEqualShare = 500ms;
constexpr int kStretch = 4;  // times its share, where the machine is noisy
constexpr int kMostRounds = 200;
constexpr double kEqualWithin =
    0.03;  // an A/A ratio further off than this, surely: the host cannot measure
constexpr double kNarrow = 1.25;     // high over low of a geometric mean that is worth something
constexpr double kBlurred = 1.6;     // ... and of one that is above 1 as a whole
constexpr double kFloorFails = 0.5;  // over 20% is said; over this the figure is the harness's

base::Error environment(const Failure& f) {
  return {base::ErrorKind::environment, "certificate", text(f), {}};
}

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

/// Times a list of workloads; cold ratios to the certificate, warm ones to `warm`.
base::Result<bool> race(Certification& c, target::Worker& worker,
                        const std::vector<kernel::Workload>& list,
                        std::vector<kernel::WorkloadTiming>& timings, base::Json& warm,
                        int& checked, int& calls) {
  SessionState& s = c.session;
  Race one{c, worker, {}, {}};
  for (const kernel::Workload& w : list) {
    c.progress("certify: timing " + w.name);
    const auto failed = [&](const Failure& f) -> base::Result<bool> {
      if (std::holds_alternative<kernel::Lost>(f)) return std::unexpected(environment(f));
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

base::Result<void> equal_read_equal(Certification& c, target::Worker& worker) {
  SessionState& s = c.session;
  KS_TRY(const std::unique_ptr<target::Worker> second, c.start());
  std::vector<kernel::Ratio> ratios;
  base::Json details = base::Json::array();
  for (const kernel::Workload& w : s.feedback) {
    c.progress("certify: A/A on " + w.name);
    std::vector<Rig> rigs;
    rigs.reserve(2);
    rigs.emplace_back(worker, s.truth->maker(w), s.outputs(w));
    rigs.emplace_back(*second, s.truth->maker(w), s.outputs(w));
    const Baselines::Best* best = s.best_of(w.name);
    const double reference = best && best->expert_ns > 0 ? best->expert_ns
                             : best                      ? best->naive_ns
                                                         : 1e7;
    const double tolerance = rigs[0].outputs().front().tolerance.relative_rms;
    const ContestOptions options{.workload = &w,
                                 .calls = c.calls(w, reference),
                                 .first_set = s.take_sets(),
                                 .share = kEqualShare,
                                 .least_rounds = c.least_rounds(w),
                                 .most_rounds = kMostRounds,
                                 .of = "a",
                                 .against = "b",
                                 .width = 0.01,
                                 .longest = kStretch * kEqualShare,
                                 .parent = {},
                                 .limit_per_call = s.limit_of(w.name)};
    const auto result = contest({{"a", &rigs[0], &c.plan(w), std::nullopt, true},
                                 {"b", &rigs[1], &c.plan(w), tolerance, true}},
                                *s.truth, options, *s.clock, c.random);
    if (!result) return std::unexpected(environment(result.error()));
    if (!result->call_ns.contains("b"))
      return base::environment_error("certificate", "the second process failed");
    const kernel::Ratio r = paired_ratio(result->call_ns.at("b"), result->call_ns.at("a"));
    details.push_back({{"workload", w.name},
                       {"value", r.value},
                       {"low", r.low},
                       {"high", r.high},
                       {"pairs", r.pairs}});
    ratios.push_back(r);
  }
  const kernel::Ratio all = geometric_mean(ratios);
  // An interval that holds everything proves nothing: then the machine is too noisy to measure on.
  const bool near =
      std::abs(std::log(all.value)) <= kEqualWithin || (all.low <= 1 && all.high >= 1);
  const bool passed = near && all.high / all.low < kNarrow;
  c.add("a_a_ratio", passed,
        fmt::format("the program against itself in a second process: {:.4f} ({:.4f} to {:.4f}); 1, "
                    "and an interval under {} times wide, is wanted",
                    all.value, all.low, all.high, kNarrow),
        std::move(details));
  return {};
}

void floors(Certification& c) {
  double worst = 0;
  std::string where;
  base::Json details = base::Json::array();
  for (const auto* list : {&c.certificate.heldout, &c.certificate.feedback})
    for (const kernel::WorkloadTiming& t : *list) {
      for (const auto* workloads : {&c.session.heldout, &c.session.feedback})
        for (const kernel::Workload& w : *workloads) {
          if (w.name != t.workload) continue;
          const auto floor = floor_ns(c.session, c.plan(w));
          if (!floor) continue;
          details.push_back(
              {{"workload", w.name}, {"floor_ns", *floor}, {"share", *floor / t.median_ns}});
          if (*floor / t.median_ns > worst) {
            worst = *floor / t.median_ns;
            where = w.name;
          }
        }
    }
  if (details.empty()) {
    c.add("empty_floor", true, "not done: no empty kernel of this dialect yet");
    return;
  }
  c.add("empty_floor", worst <= kFloorFails,
        fmt::format("launching empty kernels takes at most {:.1f}% of the time{}", 100 * worst,
                    worst > 0.2
                        ? fmt::format(" (on {}: the figure there is largely the launching)", where)
                        : ""),
        std::move(details));
}

void ratios(Certification& c) {
  Certificate& out = c.certificate;
  for (const char* to : {"expert", "naive"}) {
    const auto held = mean_ratio(out.heldout, to), seen = mean_ratio(out.feedback, to);
    if (!held || !seen) continue;
    out.baseline = to;
    out.heldout_ratio = *held;
    out.feedback_ratio = *seen;
    break;
  }
  if (out.baseline.empty()) {
    c.add("ratio", false, "no baseline ran on every shape");
    return;
  }
  const kernel::Ratio& r = out.heldout_ratio;
  // An interval as wide as the figure proves nothing; one that lies above 1 still says who is
  // faster.
  const double width = std::isfinite(r.low) && std::isfinite(r.high) ? r.high / r.low : kBlurred;
  const bool narrow = width < (r.low > 1 ? kBlurred : kNarrow);
  const char* said = r.low > 1 ? "faster than" : r.high < 1 ? "slower than" : "not told apart from";
  const std::string wide =
      narrow ? ""
             : fmt::format("; the interval is too wide to say ({} times is allowed)",
                           r.low > 1 ? kBlurred : kNarrow);
  c.add("ratio", narrow,
        fmt::format("{} {}: {:.3f} ({:.3f} to {:.3f}) of its speed on held-out shapes, {:.3f} on "
                    "feedback shapes, interleaved A B B A{}",
                    said, out.baseline, r.value, r.low, r.high, out.feedback_ratio.value, wide));
}

/// Naive in a process of its own, for shapes on which no expert runs. None where there is no
/// program.
base::Result<void> start_naive(Certification& c) {
  SessionState& s = c.session;
  const auto naive = s.task->naive.find(c.program.program.dialect);
  if (naive == s.task->naive.end()) return {};
  std::vector<kernel::Workload> all = s.heldout;
  all.insert(all.end(), s.feedback.begin(), s.feedback.end());
  std::string at;
  auto prepared = bind_selected(naive->second, {}, s.task->definition, all, s.target->device(), at);
  if (!prepared) return std::unexpected(environment(prepared.error()));
  if (auto built = build(*prepared, *s.target); !built)
    return std::unexpected(environment(built.error()));
  KS_TRY(c.naive_worker, s.target->start(prepared->executable));
  c.naive = std::move(*prepared);
  return {};
}

}  // namespace

base::Result<void> certify_fast(Certification& c) {
  SessionState& s = c.session;
  KS_TRY(const std::unique_ptr<target::Worker> worker, c.start());
  KS_RETURN_IF_ERROR(start_naive(c));
  base::Json warm = base::Json::array();
  int checked = 0, batches = 0;
  KS_TRY(bool timed, race(c, *worker, s.heldout, c.certificate.heldout, warm, checked, batches));
  if (timed) {
    KS_TRY(timed, race(c, *worker, s.feedback, c.certificate.feedback, warm, checked, batches));
  }
  if (!timed) return {};
  KS_RETURN_IF_ERROR(equal_read_equal(c, *worker));
  floors(c);
  ratios(c);
  double highest = 0;
  for (const auto* list : {&c.certificate.heldout, &c.certificate.feedback})
    for (const auto& t : *list) highest = std::max(highest, t.roofline_fraction);
  c.add("roofline", true,
        fmt::format("at most {:.2f} of {}", highest,
                    s.options.ceilings_judge ? std::string("a measured ceiling")
                                             : "the ceiling by " + s.device.source));
  c.add("fresh_inputs", true,
        fmt::format("every timed call had inputs and poisoned outputs of its own, in a secret "
                    "order; {} of the "
                    "calls in {} batches were compared in full",
                    checked, batches));
  c.add("warm_cache", true, "times with inputs and outputs left in the caches, for comparison",
        std::move(warm));
  return {};
}

}  // namespace ksearch::evaluate
