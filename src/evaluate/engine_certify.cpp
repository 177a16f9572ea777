// The certificate of a program on a GPU that is not here. What is right is run in the engine; times
// are modelled, so that nothing needs a clock.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.h"
#include "evaluate/empty_program.h"
#include "evaluate/engine_judge.h"
#include "evaluate/trivial.h"

namespace ksearch::evaluate {

using kernel::Workload;

class EngineCertification {
 public:
  EngineCertification(EngineJudge& judge, const PreparedProgram& program, Truth& truth,
                      std::uint64_t seed, const Progress& progress, Certificate& certificate)
      : judge_(judge),
        program_(program),
        truth_(truth),
        seed_(seed),
        progress_(progress),
        certificate_(certificate) {}

  /// False: a check failed. The error is the environment's.
  base::Result<bool> right() {
    const std::vector<simt::ScheduleChoice> once{{"default", 0}},
        orders{{"default", 0}, {"reversed", 0}, {"random", seed_ % 1000}};
    KS_TRY(bool right,
           run("schedules", judge_.tiny_, Look::watched, orders,
               "every tiny shape watched under three orders of SIMD-groups: no race, no access out "
               "of bounds, nothing undefined, every output written"));
    if (right) {
      KS_TRY(right, run("watched", smallest_of_size(), Look::watched, once,
                        "feedback shapes watched, the smallest: no race, no access out of bounds"));
    }
    if (right) {
      KS_TRY(right, run("held_out", judge_.heldout_, Look::outputs, once,
                        "right on every held-out shape, with fresh inputs"));
    }
    if (right) {
      KS_TRY(right, run("feedback_whole", judge_.feedback_, Look::outputs, once,
                        "right on every feedback shape in full, with fresh inputs"));
    }
    if (!right) return false;
    KS_TRY(const bool trivial, trivial_answers());
    KS_TRY(const bool ghost, ghost_replay());
    return trivial && ghost;
  }

  base::Result<bool> times(const kernel::Select& select) {
    progress_("certify: modelling");
    double most = 0;
    std::string at = "any";
    for (const auto& [list, timings] : {std::pair(&judge_.heldout_, &certificate_.heldout),
                                        std::pair(&judge_.feedback_, &certificate_.feedback)}) {
      auto modelled = judge_.model(program_, *list, &select);
      if (!modelled) return add("modelled", std::unexpected(modelled.error()), "", "");
      *timings = std::move(modelled->timings);
      for (const auto& [workload, share] : modelled->launching)
        if (share > most) std::tie(most, at) = std::pair(share, workload);
    }
    // A launch costs its caller what it costs, so its share is said and not judged.
    return add("empty_floor", {},
               fmt::format("launching, empty kernels too, takes at most {:.1f}% of the modelled "
                           "time (on {})",
                           100 * most, at),
               "");
  }

 private:
  /// Of all tensors.
  std::int64_t elements_of(const Workload& w) const {
    std::int64_t elements = 0;
    for (const auto& t : truth_.maker(w).tensors()) elements += t.elements();
    return elements;
  }

  /// What goes wrong only from some size on, tiny shapes do not show: of the shapes that stand for
  /// the feedback workloads the smallest, and a few more if they are small.
  std::vector<Workload> smallest_of_size() const {
    constexpr std::size_t kMost = 3;
    constexpr std::int64_t kSmall = std::int64_t{1} << 20;  // elements
    std::vector<std::pair<std::int64_t, const Workload*>> sized;
    for (const Workload& w : judge_.checked_) sized.emplace_back(elements_of(w), &w);
    std::ranges::stable_sort(sized, {}, [](const auto& one) { return one.first; });
    std::vector<Workload> chosen;
    for (const auto& [elements, w] : sized)
      if (chosen.empty() || (chosen.size() < kMost && elements <= kSmall)) chosen.push_back(*w);
    return chosen;
  }

  base::Result<bool> add(std::string name, const Tried<void>& result, std::string good,
                         const std::string& at) {
    if (!result)
      if (const auto* l = std::get_if<kernel::Lost>(&result.error()))
        return base::environment_error("certificate", l->reason);
    certificate_.checks.push_back(
        {std::move(name), result.has_value(),
         result ? std::move(good) : fmt::format("{}: {}", at, text(result.error())), nullptr});
    return result.has_value();
  }

  base::Result<bool> run(const char* name, const std::vector<Workload>& workloads, Look look,
                         const std::vector<simt::ScheduleChoice>& schedules,
                         const std::string& good) {
    std::vector<EngineJudge::Check> checks;
    for (const Workload& w : workloads)
      for (std::size_t s = 0; s < schedules.size(); ++s)
        checks.push_back({&w, program_.legal.at(w.name).front(),
                          task::Content{s, static_cast<int>(s) % truth_.maker(w).variants()}, look,
                          schedules[s]});
    progress_(fmt::format("certify: {}, {}", name, base::counted(checks.size(), "run")));
    std::string at;
    const Tried<void> result = judge_.check_all(program_, truth_, checks, at);
    return add(name, result, good, at);
  }

  base::Result<bool> trivial_answers() {
    std::vector<Workload> all = judge_.heldout_;
    all.insert(all.end(), judge_.feedback_.begin(), judge_.feedback_.end());
    const auto found = check_trivial(judge_.task_->definition, truth_, all);
    if (!found) return base::environment_error("certificate", found.error().reason);
    certificate_.checks.push_back(
        {"trivial_answers", found->empty(),
         found->empty() ? "zeros, the mean and a copy of an input are rejected on every held-out "
                          "and feedback shape"
                        : fmt::format("{}", fmt::join(*found, "; ")),
         nullptr});
    return found->empty();
  }

  /// The plan with empty kernels must not pass: outputs come from the kernels and nothing else.
  base::Result<bool> ghost_replay() {
    if (judge_.heldout_.empty()) return true;
    const Workload& w = *std::ranges::min_element(
        judge_.heldout_, {}, [&](const Workload& one) { return elements_of(one); });
    const kernel::TunableChoice& choice = program_.legal.at(w.name).front();
    auto empty = empty_program(program_.program, {program_.plan(w.name, choice)});
    if (!empty)
      return add("ghost_replay", {}, "does not apply: sources of this dialect are whole functions",
                 "");
    PreparedProgram ghost = program_;
    ghost.program = std::move(*empty);
    std::string at;
    const Tried<void> passed =
        judge_.check_all(ghost, truth_, {{&w, choice, task::Content{0, 0}, Look::outputs}}, at);
    const Failure* how = passed ? nullptr : &passed.error();
    if (how && std::holds_alternative<kernel::Lost>(*how))
      return base::environment_error("certificate", text(*how));
    certificate_.checks.push_back(
        {"ghost_replay", how != nullptr,
         how ? fmt::format("with empty kernels it fails on {}: {}", w.name, text(*how))
             : "the plan passes with empty kernels: the work is done elsewhere",
         nullptr});
    return how != nullptr;
  }

  EngineJudge& judge_;
  const PreparedProgram& program_;
  Truth& truth_;
  std::uint64_t seed_;
  const Progress& progress_;
  Certificate& certificate_;
};

base::Result<Certificate> EngineJudge::certify(const kernel::Program& program,
                                               const kernel::Select& select, const Progress& told) {
  const Progress progress = told ? told : Progress([](std::string_view) {});
  Certificate certificate;
  const std::uint64_t seed = base::Random(seed_).fork("certificate").fork(program.hash()).next();
  std::vector<Workload> all = tiny_;
  for (const auto* list : {&heldout_, &feedback_, &checked_})
    all.insert(all.end(), list->begin(), list->end());
  std::string at;
  auto bound = bind_selected(program, select, task_->definition, all, device_, at);
  if (!bound) {
    if (const auto* l = std::get_if<kernel::Lost>(&bound.error()))
      return base::environment_error("certificate", l->reason);
    certificate.checks.push_back(
        {"held_out", false, fmt::format("{}: {}", at, text(bound.error())), nullptr});
    return certificate;
  }
  progress("certify: fresh seeds");
  KS_TRY(const auto truth, Truth::open(with_checked_, *reference_, nullptr, seed));
  certificate.basis = {{"task", task_->definition.name},
                       {"program", program.hash()},
                       {"select", kernel::to_json(select)},
                       {"seeds", {{"session", seed_}, {"certificate", seed}}},
                       {"device", kernel::to_json(device_)}};
  EngineCertification checks(*this, *bound, *truth, seed, progress, certificate);
  KS_TRY(certificate.passed, checks.right());
  if (certificate.passed) {
    KS_TRY(certificate.passed, checks.times(select));
  }
  return certificate;
}

}  // namespace ksearch::evaluate
