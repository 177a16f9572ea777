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

constexpr std::chrono::nanoseconds kEqualShare = 500ms;
constexpr double kEqualWithin =
    0.03;  // an A/A ratio further off than this, surely: the host cannot measure
constexpr double kNarrow = 1.25;     // high over low of a geometric mean that is worth something
constexpr double kBlurred = 1.6;     // ... and of one that is above 1 as a whole
constexpr double kFloorFails = 0.5;  // over 20% is said; over this the figure is the harness's

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
    if (!result) return std::unexpected(failed_step(result.error()));
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
          auto floor = floor_ns(c.session, c.plan(w));
          if (!floor) floor = empty_ns(c.session, c.program.program, c.plan(w), w);
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
    c.add("empty_floor", true, "does not apply: sources of this dialect are whole functions");
    return;
  }
  // On a CPU launching is the harness's work; on a GPU each caller pays for it.
  c.add("empty_floor", worst <= kFloorFails || c.session.device.kind != "cpu",
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
  if (!prepared) return std::unexpected(failed_step(prepared.error()));
  if (auto built = build(*prepared, *s.target); !built)
    return std::unexpected(failed_step(built.error()));
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
  KS_TRY(bool timed,
         certify_race(c, *worker, s.heldout, c.certificate.heldout, warm, checked, batches));
  if (timed) {
    KS_TRY(timed,
           certify_race(c, *worker, s.feedback, c.certificate.feedback, warm, checked, batches));
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
