// What a session measures before the first program: references, naive, experts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "evaluate/ceiling.h"
#include "evaluate/session_state.h"
#include "evaluate/statistics.h"
#include "evaluate/supported.h"
#include "evaluate/trivial.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kNaiveShare = 300ms;  // of a workload
// Slower than this, the calls that check it are samples too, and one round is added ...
constexpr double kSlowNaiveNs = 2e8;
constexpr double kSlowestNaiveNs = 2e9;  // ... or none: it would cost the search

/// Everything a search will compare with, so that no evaluation waits for it.
base::Result<void> make_references(SessionState& s, const Progress& progress) {
  std::size_t done = 0;
  for (const auto* list : {&s.tiny, &s.feedback})
    for (const kernel::Workload& w : *list) {
      progress(fmt::format("reference {}/{}", ++done, s.tiny.size() + s.feedback.size()));
      for (const task::Content& content : contents_for(w, s.truth->maker(w), 0)) {
        const auto outputs = s.truth->of(w, content);
        if (!outputs)
          return base::environment_error("reference", outputs.error().reason,
                                         "mend the task's reference, or its `generate` rules");
      }
    }
  return {};
}

base::Error unusable(const Failure& failure, std::string_view workload) {
  return {base::ErrorKind::usage, fmt::format("naive program on {}", workload), text(failure),
          "the search starts from it, so it must be right"};
}

base::Result<void> measure_naive(SessionState& s, const Progress& progress) {
  const auto naive = s.task->naive.find(dialect_of(s.device));
  if (naive == s.task->naive.end()) {
    s.baselines.notes.push_back("the task has no naive program for this target");
    return {};
  }
  progress("naive");
  s.naive_hash = naive->second.hash();
  std::string at;
  std::vector<kernel::Workload> all = s.tiny;
  all.insert(all.end(), s.feedback.begin(), s.feedback.end());
  auto prepared = bind_selected(naive->second, {}, s.task->definition, all, s.device, at);
  if (!prepared) return std::unexpected(unusable(prepared.error(), at));
  if (auto built = build(*prepared, *s.target); !built)
    return std::unexpected(unusable(built.error(), "every workload"));
  KS_TRY(const std::unique_ptr<target::Worker> worker, s.target->start(prepared->executable));
  for (const kernel::Workload& w : all) {
    progress("naive on " + w.name);
    const kernel::TunableChoice& choice = prepared->legal.at(w.name).front();
    Rig rig(*worker, s.truth->maker(w), s.outputs(w));
    VerifyRequest request{.workload = &w,
                          .plan = &prepared->plan(w.name, choice),
                          .contents = contents_for(w, s.truth->maker(w), 0),
                          .limit_per_call = kPatience,
                          .second_round = false};
    const Tried<Verified> verified = verify(rig, *s.truth, request, s.random);
    if (!verified) return std::unexpected(unusable(verified.error(), w.name));
    if (w.role == kernel::Role::tiny) continue;
    const bool slow = verified->call_ns > kSlowNaiveNs;
    std::vector<double>& samples = s.naive_ns[w.name];
    if (slow) samples = verified->samples_ns;
    s.naive_outcome.measurements += static_cast<int>(samples.size());
    if (verified->call_ns > kSlowestNaiveNs) continue;
    ContestOptions options{.workload = &w,
                           .calls = calls_per_batch(verified->call_ns, s.truth->maker(w).tensors()),
                           .first_set = s.take_sets(),
                           .share = kNaiveShare,
                           .least_rounds = slow ? 1 : 3,
                           .warm_up = !slow,
                           .of = "naive",
                           .against = {},
                           .parent = {},
                           .limit_per_call = kPatience};
    const auto result = contest({{"naive", &rig, request.plan, std::nullopt, false}}, *s.truth,
                                options, *s.clock, s.random);
    if (!result) return std::unexpected(unusable(result.error(), w.name));
    const std::vector<double>& timed = result->call_ns.at("naive");
    samples.insert(samples.end(), timed.begin(), timed.end());
    s.naive_outcome.measurements += result->batches;
  }
  return {};
}

void fill_baselines(SessionState& s) {
  std::vector<Baselines::Best> complete;
  bool everywhere = true;
  for (const kernel::Workload& w : s.feedback) {
    Baselines::Best best{w.name, 0, {}, 0};
    for (const auto& b : s.baselines.best)
      if (b.workload == w.name) best = b;
    if (const auto naive = s.naive_ns.find(w.name); naive != s.naive_ns.end())
      best.naive_ns = median(naive->second);
    everywhere = everywhere && !best.expert.empty();
    complete.push_back(std::move(best));
  }
  s.baselines.best = std::move(complete);
  s.baselines.baseline = everywhere ? "expert" : "naive";
  if (!everywhere) {
    std::vector<std::string> without;
    for (const auto& b : s.baselines.best)
      if (b.expert.empty()) without.push_back(b.workload);
    s.baselines.notes.push_back(
        fmt::format("no expert on {}: scores are against naive", fmt::join(without, ", ")));
  }
}

}  // namespace

base::Result<void> make_baselines(SessionState& s, const Progress& progress) {
  start_experts(s, progress);  // their libraries load while the references are made
  KS_RETURN_IF_ERROR(make_references(s, progress));
  const auto trivial = check_trivial(s.task->definition, *s.truth, s.feedback);
  if (!trivial) return base::environment_error("reference", trivial.error().reason);
  if (!trivial->empty())
    return base::usage_error(s.task->definition.name,
                             fmt::format("proves nothing: {}", fmt::join(*trivial, "; ")),
                             "change the inputs in `generate`, or the shapes");
  KS_RETURN_IF_ERROR(measure_naive(s, progress));
  KS_RETURN_IF_ERROR(time_experts(s, progress));
  fill_baselines(s);
  std::vector<kernel::WorkloadTiming> timings;
  for (const kernel::Workload& w : s.feedback) {
    if (!s.naive_ns.contains(w.name)) continue;
    ContestResult result;
    result.call_ns["program"] = s.naive_ns.at(w.name);
    timings.push_back(timing_of(s, w, result, {}));
  }
  s.naive_outcome.stage = kernel::Stage::timing;
  if (timings.size() == s.feedback.size())
    s.naive_outcome.verdict = summarise(s, std::move(timings));
  else
    s.naive_outcome.verdict = kernel::Unsupported{"the task has no naive program for this target"};
  return {};
}

}  // namespace ksearch::evaluate
