// Experts of a session: which take part, how they start, which is the fastest where.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "evaluate/session_state.h"
#include "evaluate/statistics.h"
#include "evaluate/supported.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kExpertShare = 400ms;  // of a workload

using Start = base::Result<std::unique_ptr<target::Worker>>;

base::Result<bool> holds(const std::optional<kernel::Expr>& expr, const kernel::Scope& scope) {
  if (!expr) return true;
  return expr->eval_boolean(scope);
}

/// Bound on held-out shapes too: the certificate needs it there.
Start start_program(SessionState& s, ExpertRunner& runner) {
  const task::Expert& expert = *runner.expert;
  std::vector<kernel::Workload> workloads = supported(*s.task, expert, s.feedback);
  std::ranges::move(supported(*s.task, expert, s.heldout), std::back_inserter(workloads));
  std::string at;
  auto prepared = bind_selected(*expert.program, expert.program->select, s.task->definition,
                                workloads, s.device, at);
  if (!prepared) return base::usage_error(expert.name, text(prepared.error()));
  runner.prepared = std::move(*prepared);
  const bool trusted = !expert.library_package.empty() || !expert.environment.empty();
  if (trusted && !s.options.trust_expert)
    return base::environment_error(expert.name,
                                   fmt::format("needs the library of {}", expert.library_package));
  if (trusted) {
    KS_TRY(runner.trust, s.options.trust_expert(expert));
  }
  const target::Trust* trust = trusted ? &runner.trust : nullptr;
  if (auto built = build(*runner.prepared, *s.target, trust); !built)
    return base::usage_error(expert.name, text(built.error()));
  return s.target->start(runner.prepared->executable, trust);
}

Start start_script(SessionState& s, const task::Expert& expert) {
  if (!s.options.start_script)
    return base::environment_error(expert.name, "needs a Python", "--python PATH");
  return s.options.start_script(expert);
}

Start start_operation(SessionState& s, const task::Expert& expert) {
  if (!s.options.start_operation)
    return base::environment_error(expert.name, "its library is not at hand");
  return s.options.start_operation(expert);
}

/// Programs of another dialect are another target's; so are scripts on a Mac's GPU, whose libraries
/// would run on the CPU, and operations of MLX elsewhere.
bool is_of(const kernel::HardwareProfile& device, const task::Expert& expert) {
  if (expert.program) return expert.program->dialect == dialect_of(device);
  return expert.operation.has_value() == (device.kind == "metal");
}

/// Those that stand for an expert which runs here are left out.
void leave_out_stand_ins(SessionState& s) {
  std::set<std::string> names;
  for (const ExpertRunner& r : s.experts) names.insert(r.expert->name);
  std::erase_if(s.experts,
                [&](const ExpertRunner& r) { return names.contains(r.expert->stands_for); });
}

void choose_experts(SessionState& s) {
  kernel::Scope scope;
  kernel::add_device(s.device, scope);
  for (const task::Expert& expert : s.task->experts) {
    if (!is_of(s.device, expert)) continue;
    const auto needed = holds(expert.needs, scope);
    if (!needed || !*needed) continue;
    if (supported(*s.task, expert, s.feedback).empty()) {
      s.baselines.notes.push_back(fmt::format("{}: supports none of these workloads", expert.name));
      continue;
    }
    ExpertRunner runner;
    runner.expert = &expert;
    s.experts.push_back(std::move(runner));
  }
  leave_out_stand_ins(s);
}

const kernel::BoundProgram* plan_of(const ExpertRunner& runner, const kernel::Workload& w) {
  if (!runner.prepared) return nullptr;
  return &runner.prepared->plan(w.name, runner.prepared->legal.at(w.name).front());
}

/// Right ones against each other on one workload; the median of each goes to the record.
base::Result<void> time_on(SessionState& s, const kernel::Workload& w) {
  std::vector<Rig> rigs;
  rigs.reserve(s.experts.size());
  std::vector<Entrant> entrants;
  double fastest = kPatience.count();
  const auto record = [&](const ExpertRunner& r, double ns, double error, std::string why) {
    s.baselines.experts.push_back({r.expert->name, w.name, ns, error, std::move(why)});
  };
  for (ExpertRunner& r : s.experts) {
    if (!r.worker) continue;
    const auto yes = holds(r.expert->supports, kernel::scope_of(s.task->definition, w));
    if (!yes || !*yes) continue;
    rigs.emplace_back(*r.worker, s.truth->maker(w), s.outputs(w));
    VerifyRequest request{.workload = &w,
                          .plan = plan_of(r, w),
                          .contents = contents_for(w, s.truth->maker(w), 0),
                          .limit_per_call = kPatience,
                          .second_round = false};
    const Tried<Verified> verified = verify(rigs.back(), *s.truth, request, s.random);
    if (verified) {
      r.error[w.name] = verified->error;
      fastest = std::min(fastest, verified->call_ns);
      entrants.push_back({r.expert->name, &rigs.back(), request.plan, std::nullopt, false});
      continue;
    }
    if (const auto* l = std::get_if<kernel::Lost>(&verified.error()))
      s.baselines.notes.push_back(fmt::format("{}: {}", r.expert->name, l->reason));
    const auto* v = std::get_if<kernel::Verdict>(&verified.error());
    const bool alive = v && (std::holds_alternative<kernel::WrongResult>(*v) ||
                             std::holds_alternative<kernel::InputChanged>(*v) ||
                             std::holds_alternative<kernel::Unsupported>(*v));
    record(r, 0, 0, text(verified.error()));
    if (!alive) r.worker.reset();
  }
  if (entrants.empty()) return {};
  const std::string first = entrants.front().name;
  ContestOptions options{.workload = &w,
                         .calls = calls_per_batch(fastest, s.truth->maker(w).tensors()),
                         .first_set = s.take_sets(),
                         .share = kExpertShare,
                         .of = {},
                         .against = {},
                         .parent = {},
                         .limit_per_call = kPatience};
  const auto result = contest(entrants, *s.truth, options, *s.clock, s.random);
  if (!result) return base::environment_error("experts", text(result.error()));
  Baselines::Best best{w.name, 0, {}, 0};
  for (ExpertRunner& r : s.experts) {
    const auto samples = result->call_ns.find(r.expert->name);
    if (samples == result->call_ns.end()) {
      if (const auto out = result->out.find(r.expert->name); out != result->out.end()) {
        record(r, 0, 0, text(out->second));
        r.error.erase(w.name);
        r.worker.reset();
      }
      continue;
    }
    const double ns = median(samples->second);
    record(r, ns, r.error.at(w.name), {});
    if (best.expert.empty() || ns < best.expert_ns) {
      best.expert = r.expert->name;
      best.expert_ns = ns;
    }
  }
  s.baselines.best.push_back(best);
  return {};
}

/// Experts that are best nowhere end here: they would only hold memory.
void keep_the_best(SessionState& s) {
  std::erase_if(s.experts, [&](const ExpertRunner& r) {
    return std::ranges::none_of(s.baselines.best,
                                [&](const auto& b) { return b.expert == r.expert->name; });
  });
}

}  // namespace

void start_experts(SessionState& s, const Progress& progress) {
  choose_experts(s);
  for (ExpertRunner& r : s.experts) {
    progress("starting " + r.expert->name);
    Start start = r.expert->program     ? start_program(s, r)
                  : r.expert->operation ? start_operation(s, *r.expert)
                                        : start_script(s, *r.expert);
    if (start)
      r.worker = std::move(*start);
    else
      s.baselines.notes.push_back(start.error().text());
  }
}

base::Result<void> time_experts(SessionState& s, const Progress& progress) {
  for (const kernel::Workload& w : s.feedback) {
    progress("experts on " + w.name);
    KS_RETURN_IF_ERROR(time_on(s, w));
  }
  keep_the_best(s);
  return {};
}

}  // namespace ksearch::evaluate
