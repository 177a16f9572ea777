#include "evaluate/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "evaluate/certify.h"
#include "evaluate/evaluation.h"
#include "evaluate/session_state.h"

namespace ksearch::evaluate {
namespace {

base::Result<void> refuse_unsupported(const task::Task& task) {
  for (const kernel::TensorSpec& t : task.definition.outputs)
    if (t.compare == kernel::Compare::topk_ties)
      return base::usage_error(fmt::format("{}: outputs.{}.compare", task.definition.name, t.name),
                               "topk_ties is not there yet");
  if (!task.definition.derived.empty())
    return base::usage_error(fmt::format("{}: derived", task.definition.name),
                             "sizes that depend on data are not evaluated yet");
  return {};
}

/// Callers may leave the progress out.
Progress audible(const Progress& progress) {
  return progress ? progress : Progress([](std::string_view) {});
}

class StandardSession final : public Session {
 public:
  base::Result<void> start(const SessionOptions& options, const Progress& told) {
    const Progress progress = audible(told);
    KS_CHECK(options.task && options.target && options.reference_target,
             "a session needs all three");
    s_.options = options;
    s_.task = options.task;
    s_.target = options.target;
    s_.clock = options.clock ? options.clock : &steady_;
    s_.device = options.target->device();
    s_.random = base::Random(options.seed).fork("evaluate");
    s_.tiny = s_.task->with_role(kernel::Role::tiny);
    s_.feedback = s_.task->with_role(kernel::Role::feedback);
    s_.heldout = s_.task->with_role(kernel::Role::heldout);
    if (s_.feedback.empty())
      return base::usage_error(s_.task->definition.name, "no feedback workload to measure on");
    KS_RETURN_IF_ERROR(refuse_unsupported(*s_.task));
    if (options.measure_ceilings) {
      progress("measuring the machine");
      KS_TRY(s_.device, options.measure_ceilings());
    }
    progress("building the reference");
    const std::uint64_t inputs_seed = base::Random(options.seed).fork("inputs").next();
    KS_TRY(s_.truth,
           Truth::open(*s_.task, *options.reference_target, options.start_script, inputs_seed));
    KS_RETURN_IF_ERROR(make_baselines(s_, progress));
    baselines_ = s_.baselines;
    return {};
  }

  kernel::EvaluateReply evaluate(const EvaluateRequest& request,
                                 const Progress& progress) override {
    // The root is evaluated when the session opens; asked for the first time, that is the answer.
    if (!naive_told_ && request.program.hash() == s_.naive_hash) {
      naive_told_ = true;
      s_.seen.try_emplace(normalised_hash(request.program), s_.naive_hash);
      return s_.naive_outcome;
    }
    const Progress told = audible(progress);
    return Evaluation(s_, request, told).run();
  }

  const kernel::Outcome& naive_outcome() const override { return s_.naive_outcome; }
  const kernel::HardwareProfile& device() const override { return s_.device; }

  base::Result<Certificate> certify(const kernel::Program& program, const kernel::Select& select,
                                    const Progress& progress) override {
    return evaluate::certify(s_, program, select, audible(progress));
  }

 private:
  base::SteadyClock steady_;
  SessionState s_;
  bool naive_told_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options,
                                                     const Progress& progress) {
  auto session = std::make_unique<StandardSession>();
  KS_RETURN_IF_ERROR(session->start(options, progress));
  return session;
}

base::Json to_json(const Baselines& baselines) {
  base::Json json{{"baseline", baselines.baseline}, {"workloads", base::Json::array()}};
  for (const auto& b : baselines.best) {
    base::Json one{{"workload", b.workload}, {"naive_ns", b.naive_ns}};
    if (!b.expert.empty()) {
      one["expert"] = b.expert;
      one["expert_ns"] = b.expert_ns;
    }
    json["workloads"].push_back(std::move(one));
  }
  json["experts"] = base::Json::array();
  for (const ExpertResult& e : baselines.experts) {
    base::Json one{{"expert", e.expert}, {"workload", e.workload}};
    if (e.why_not.empty()) {
      one["median_ns"] = e.median_ns;
      one["error"] = e.error;
    } else {
      one["why_not"] = e.why_not;
    }
    json["experts"].push_back(std::move(one));
  }
  json["notes"] = baselines.notes;
  return json;
}

}  // namespace ksearch::evaluate
