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

/// Naive and experts are trusted to end, slowly perhaps.
constexpr std::chrono::nanoseconds kPatience = 120s;
constexpr std::chrono::nanoseconds kNaiveShare = 300ms;  // of a workload
// Slower than this, the calls that check it are samples too, and one round is added ...
constexpr double kSlowNaiveNs = 2e8;
constexpr double kSlowestNaiveNs = 2e9;  // ... or none: it would cost the search
constexpr std::chrono::nanoseconds kExpertShare = 400ms;

kernel::Dialect dialect_of(const kernel::HardwareProfile& device) {
  if (device.kind == "cuda") return kernel::Dialect::cuda;
  if (device.kind == "metal") return kernel::Dialect::mlx;
  return kernel::Dialect::cpp;
}

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
base::Result<void> time_experts(SessionState& s, const kernel::Workload& w) {
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

ExpertRunner* SessionState::expert_of(const std::string& workload) {
  const Baselines::Best* best = best_of(workload);
  if (!best || best->expert.empty()) return nullptr;
  for (ExpertRunner& r : experts)
    if (r.expert->name == best->expert && r.worker) return &r;
  return nullptr;
}

const Baselines::Best* SessionState::best_of(const std::string& workload) const {
  for (const auto& b : baselines.best)
    if (b.workload == workload) return &b;
  return nullptr;
}

std::chrono::nanoseconds SessionState::limit_of(const std::string& workload) const {
  const auto naive = naive_ns.find(workload);
  if (naive != naive_ns.end())
    return std::chrono::nanoseconds(static_cast<std::int64_t>(10 * median(naive->second))) + 2s;
  const Baselines::Best* best = best_of(workload);
  if (best && best->expert_ns > 0)
    return std::chrono::nanoseconds(static_cast<std::int64_t>(1000 * best->expert_ns)) + 2s;
  return naive_ns.empty() ? std::chrono::nanoseconds(30s) : std::chrono::nanoseconds(2s);
}

std::vector<OutputSpec> SessionState::outputs(const kernel::Workload& workload) const {
  return outputs_of(task->definition, truth->maker(workload).tensors());
}

base::Result<void> make_baselines(SessionState& s, const Progress& progress) {
  choose_experts(s);
  // Their libraries load while the references are made.
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
  KS_RETURN_IF_ERROR(make_references(s, progress));
  const auto trivial = check_trivial(s.task->definition, *s.truth, s.feedback);
  if (!trivial) return base::environment_error("reference", trivial.error().reason);
  if (!trivial->empty())
    return base::usage_error(s.task->definition.name,
                             fmt::format("proves nothing: {}", fmt::join(*trivial, "; ")),
                             "change the inputs in `generate`, or the shapes");
  KS_RETURN_IF_ERROR(measure_naive(s, progress));
  for (const kernel::Workload& w : s.feedback) {
    progress("experts on " + w.name);
    KS_RETURN_IF_ERROR(time_experts(s, w));
  }
  keep_the_best(s);
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
