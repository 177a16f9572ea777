#include "evaluate/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/verify.h"

namespace ksearch::evaluate {

using namespace std::chrono_literals;

kernel::EvaluateReply Evaluation::run() {
  Tried<kernel::Measured> result = stages();
  if (result) {
    outcome_.workload.clear();
    outcome_.verdict = std::move(*result);
    return std::move(outcome_);
  }
  if (auto* l = std::get_if<kernel::Lost>(&result.error())) {
    s_.seen.erase(first_seen_);  // it will be asked again
    return std::move(*l);
  }
  outcome_.verdict = std::get<kernel::Verdict>(std::move(result.error()));
  outcome_.select.clear();
  return std::move(outcome_);
}

Tried<kernel::Measured> Evaluation::stages() {
  progress_("check");
  outcome_.stage = kernel::Stage::check;
  if (auto broken = s_.target->check(request_.program)) return verdict(std::move(*broken));
  KS_TRY_STEP(look_for_duplicate());
  std::vector<kernel::Workload> seen = s_.tiny;
  seen.insert(seen.end(), s_.feedback.begin(), s_.feedback.end());
  KS_TRIED(program_, bind_all_choices(request_.program, s_.task->definition, seen, profile(),
                                      outcome_.workload));
  // Held-out shapes must bind too, or the winner could only fail its certificate.
  KS_TRY_STEP(bind_all_choices(request_.program, s_.task->definition, s_.heldout, profile(),
                               outcome_.workload));

  progress_("compile");
  outcome_.stage = kernel::Stage::compile;
  KS_TRY_STEP(build(program_, *s_.target));
  auto worker = s_.target->start(program_.executable);
  if (!worker) return lost(worker.error().text());
  worker_ = std::move(*worker);

  if (s_.options.watch) {
    progress_("tiny shapes, watched");
    outcome_.stage = kernel::Stage::tiny;
    KS_TRY_STEP(s_.options.watch(request_.program, false, outcome_.workload));
  }
  KS_TRY_STEP(check_shapes(kernel::Stage::tiny, s_.tiny));
  KS_TRY_STEP(check_shapes(kernel::Stage::feedback, s_.feedback));

  outcome_.stage = kernel::Stage::timing;
  KS_TRY_STEP(tune());
  KS_TRY_STEP(start_parent());
  std::vector<kernel::WorkloadTiming> timings;
  std::chrono::nanoseconds left = allowance();
  double rounds_ns = 0;
  for (const kernel::Workload& w : s_.feedback) rounds_ns += round_ns(w);
  for (const kernel::Workload& w : s_.feedback) {
    progress_("timing " + w.name);
    outcome_.workload = w.name;
    const auto before = s_.clock->now();
    // As many rounds for each; what a workload leaves of its share goes to those after it.
    const double part = round_ns(w) / rounds_ns;
    const std::chrono::nanoseconds share(
        static_cast<std::int64_t>(part * static_cast<double>(left.count())));
    rounds_ns -= round_ns(w);
    KS_TRIED(kernel::WorkloadTiming timing, time_on(w, share));
    KS_TRY_STEP(believe(s_, w, timing, outcome_.notes));
    KS_TRY_STEP(note_floor(w, timing));
    timings.push_back(std::move(timing));
    s_.measured_ns[request_.program.hash()][w.name] = timings.back().median_ns;
    left = std::max(0ns, left - (s_.clock->now() - before));
  }
  return summarise(s_, std::move(timings));
}

Tried<void> Evaluation::look_for_duplicate() {
  const std::string hash = request_.program.hash();
  const auto [at, fresh] = s_.seen.try_emplace(normalised_hash(request_.program), hash);
  if (!fresh) return verdict(kernel::Duplicate{at->second});
  first_seen_ = at->first;
  return {};
}

Tried<void> Evaluation::check_shapes(kernel::Stage stage,
                                     const std::vector<kernel::Workload>& workloads) {
  outcome_.stage = stage;
  bool repeatable = true;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const kernel::Workload& w = workloads[i];
    outcome_.workload = w.name;
    progress_(fmt::format("{} {}/{}", kernel::name(stage), i + 1, workloads.size()));
    Rig rig(*worker_, s_.truth->maker(w), s_.outputs(w));
    const auto& legal = program_.legal.at(w.name);
    for (const kernel::TunableChoice& choice : legal) {
      const VerifyRequest request{.workload = &w,
                                  .plan = &program_.plan(w.name, choice),
                                  .contents = contents_for(w, s_.truth->maker(w), 0),
                                  .limit_per_call = s_.limit_of(w.name)};
      Tried<Verified> verified = verify(rig, *s_.truth, request, s_.random);
      if (!verified) {
        if (legal.size() > 1) outcome_.notes.push_back("with tunables " + named(choice));
        return std::unexpected(std::move(verified.error()));
      }
      checked_ns_[{w.name, choice}] = verified->call_ns;
      if (!verified->repeatable && repeatable) {
        outcome_.notes.push_back(
            fmt::format("the same inputs gave different bits on {}: a race?", w.name));
        repeatable = false;
      }
    }
  }
  return {};
}

}  // namespace ksearch::evaluate
