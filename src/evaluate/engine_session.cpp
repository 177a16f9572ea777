#include "evaluate/engine_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/engine_judge.h"
#include "evaluate/gpu_ground.h"

namespace ksearch::evaluate {
namespace {

using kernel::Workload;

class EngineSession final : public Session {
 public:
  EngineSession(const task::Task& task, const target::GpuProfile& gpu, EngineRunner runner,
                target::Target& reference, std::uint64_t seed, base::Json basis)
      : judge_(task, gpu, std::move(runner), reference, seed), basis_(std::move(basis)) {}

  base::Result<void> start(const Progress& progress) {
    KS_RETURN_IF_ERROR(judge_.open_truth());
    KS_RETURN_IF_ERROR(model_experts(progress));
    return model_naive(progress);
  }

  kernel::EvaluateReply evaluate(const EvaluateRequest& request, const Progress& told) override {
    const Progress progress = told ? told : Progress([](std::string_view) {});
    if (!naive_told_ && request.program.hash() == naive_hash_) {
      naive_told_ = true;
      seen_.try_emplace(normalised_hash(request.program), naive_hash_);
      return naive_outcome_;
    }
    kernel::Outcome outcome;
    outcome.stage = kernel::Stage::check;
    const std::string normal = normalised_hash(request.program);
    const auto [at, fresh] = seen_.try_emplace(normal, request.program.hash());
    if (!fresh) {
      outcome.verdict = kernel::Duplicate{at->second};
      return outcome;
    }
    auto modelled = judge_.judge(request.program, Judging::candidate, outcome, progress);
    if (!modelled) return failed(std::move(modelled.error()), std::move(outcome), normal);
    outcome.workload.clear();
    add_ratios(*modelled, request.parent ? request.parent->hash() : std::string());
    known_[request.program.hash()] = *modelled;
    outcome.verdict = std::move(*modelled);
    return outcome;
  }

  base::Result<Certificate> certify(const kernel::Program& program, const kernel::Select& select,
                                    const Progress& progress) override {
    KS_TRY(Certificate certificate, judge_.certify(program, select, progress));
    if (certificate.passed) model_heldout(progress);
    for (auto* timings : {&certificate.heldout, &certificate.feedback})
      for (kernel::WorkloadTiming& timing : *timings) compare_with_baselines(timing);
    certificate.baseline = baselines_.baseline;
    for (const auto& [timings, ratio] :
         {std::pair(&certificate.heldout, &certificate.heldout_ratio),
          std::pair(&certificate.feedback, &certificate.feedback_ratio)})
      if (const auto mean = mean_ratio(*timings, baselines_.baseline)) *ratio = *mean;
    for (const auto& [key, value] : basis_.items()) certificate.basis[key] = value;
    return certificate;
  }

  const kernel::Outcome& naive_outcome() const override { return naive_outcome_; }
  const kernel::HardwareProfile& device() const override { return judge_.device(); }

 private:
  kernel::EvaluateReply failed(Failure failure, kernel::Outcome outcome,
                               const std::string& normal) {
    if (auto* l = std::get_if<kernel::Lost>(&failure)) {
      seen_.erase(normal);  // it will be asked again
      return std::move(*l);
    }
    outcome.verdict = std::get<kernel::Verdict>(std::move(failure));
    outcome.select.clear();
    return outcome;
  }

  base::Result<void> model_naive(const Progress& progress) {
    const auto naive = judge_.task().naive.find(kernel::Dialect::mlx);
    if (naive == judge_.task().naive.end()) {
      return base::usage_error(
          judge_.task().definition.name, "has no naive program in dialect mlx to compare with",
          (judge_.task().folder / "naive" / "mlx").string() + "/program.json is looked for");
    }
    naive_hash_ = naive->second.hash();
    auto modelled = judge_.judge(naive->second, Judging::trusted, naive_outcome_, progress);
    if (!modelled)
      return base::usage_error(fmt::format("naive program on {}", naive_outcome_.workload),
                               text(modelled.error()),
                               "the search starts from it, so it must be right");
    for (const kernel::WorkloadTiming& timing : modelled->workloads) {
      best_of(timing.workload).naive_ns = timing.median_ns;
    }
    const bool every = std::ranges::all_of(
        baselines_.best, [](const Baselines::Best& best) { return best.expert_ns > 0; });
    baselines_.baseline = every ? "expert" : "naive";
    add_ratios(*modelled, {});
    known_[naive_hash_] = *modelled;
    naive_outcome_.workload.clear();
    naive_outcome_.verdict = std::move(*modelled);
    return {};
  }

  base::Result<void> model_experts(const Progress& progress) {
    for (const task::Expert& expert : judge_.task().experts) {
      if (!expert.program || expert.program->dialect != kernel::Dialect::mlx) continue;
      progress(expert.name);
      kernel::Outcome outcome;
      const Progress inner = [&](std::string_view what) {
        progress(fmt::format("{}: {}", expert.name, what));
      };
      const auto modelled =
          judge_.judge(*expert.program, Judging::trusted, outcome, inner, &expert);
      if (!modelled) {
        baselines_.experts.push_back({expert.name, outcome.workload, 0, 0, text(modelled.error())});
        baselines_.notes.push_back(fmt::format("{}: {}", expert.name, text(modelled.error())));
        continue;
      }
      for (const kernel::WorkloadTiming& timing : modelled->workloads) {
        baselines_.experts.push_back({expert.name, timing.workload, timing.median_ns, 0, {}});
        offer(expert.name, timing.workload, timing.median_ns);
      }
    }
    for (const Workload& w : judge_.feedback()) best_of(w.name);
    return {};
  }

  /// What the winner is set against on held-out shapes; once.
  void model_heldout(const Progress& progress) {
    if (heldout_modelled_) return;
    heldout_modelled_ = true;
    if (progress) progress("certify: baselines on held-out shapes");
    const auto& naive = judge_.task().naive.at(kernel::Dialect::mlx);
    if (const auto times = judge_.times(naive, judge_.heldout()))
      for (const auto& [workload, ns] : *times) best_of(workload).naive_ns = ns;
    for (const task::Expert& expert : judge_.task().experts) {
      if (!expert.program || expert.program->dialect != kernel::Dialect::mlx) continue;
      const auto times = judge_.times(*expert.program, judge_.heldout(), &expert);
      if (!times) continue;
      for (const auto& [workload, ns] : *times) offer(expert.name, workload, ns);
    }
  }

  void offer(const std::string& expert, const std::string& workload, double ns) {
    Baselines::Best& best = best_of(workload);
    if (best.expert_ns > 0 && best.expert_ns <= ns) return;
    best.expert = expert;
    best.expert_ns = ns;
  }

  Baselines::Best& best_of(const std::string& workload) {
    const auto found = std::ranges::find(baselines_.best, workload, &Baselines::Best::workload);
    if (found != baselines_.best.end()) return *found;
    return baselines_.best.emplace_back(Baselines::Best{workload, 0, {}, 0});
  }

  /// A model has no noise: the interval is the value.
  static kernel::Ratio exact(double value) { return {value, value, value, 0}; }

  void compare_with_baselines(kernel::WorkloadTiming& timing) {
    const auto best =
        std::ranges::find(baselines_.best, timing.workload, &Baselines::Best::workload);
    if (best == baselines_.best.end()) return;
    if (best->naive_ns > 0) timing.ratios["naive"] = exact(best->naive_ns / timing.median_ns);
    if (best->expert_ns <= 0) return;
    timing.expert = best->expert;
    timing.ratios["expert"] = exact(best->expert_ns / timing.median_ns);
  }

  void add_ratios(kernel::Modelled& modelled, const std::string& parent) {
    const auto beside = known_.find(parent);
    for (std::size_t i = 0; i < modelled.workloads.size(); ++i) {
      kernel::WorkloadTiming& timing = modelled.workloads[i];
      compare_with_baselines(timing);
      if (beside != known_.end() && i < beside->second.workloads.size())
        timing.ratios["parent"] = exact(beside->second.workloads[i].median_ns / timing.median_ns);
    }
    modelled.baseline = baselines_.baseline;
    for (const char* to : {"naive", "expert", "parent"})
      if (const auto mean = mean_ratio(modelled.workloads, to)) modelled.ratios[to] = *mean;
    if (modelled.ratios.contains(modelled.baseline))
      modelled.score = modelled.ratios.at(modelled.baseline);
  }

  EngineJudge judge_;
  base::Json basis_;
  kernel::Outcome naive_outcome_;
  std::string naive_hash_;
  bool naive_told_ = false, heldout_modelled_ = false;
  std::map<std::string, std::string> seen_;  ///< normalised hash -> hash of who came first
  std::map<std::string, kernel::Modelled> known_;
};

class OpenedEngine final : public OpenedSession {
 public:
  ~OpenedEngine() override { session_.reset(); }  // before what it borrows

  base::Result<void> start(const EngineSessionOptions& options, const Progress& progress) {
    dialect_ = kernel::Dialect::mlx;
    gpu_ = options.gpu;
    KS_TRY(ground_, GpuGround::lay(options, task_));
    sandbox_ = ground_->sandbox().description();
    compiler_ = ground_->clang().version;
    base::Json basis{{"compiler", compiler_},
                     {"sandbox", sandbox_},
                     {"times", fmt::format("modelled for {}, time model {}: nothing was measured",
                                           gpu_.name, target::kTimeModelVersion)}};
    auto session = std::make_unique<EngineSession>(
        task_, gpu_, ground_->runner(gpu_), ground_->reference(), options.seed, std::move(basis));
    KS_RETURN_IF_ERROR(session->start(progress));
    session_ = std::move(session);
    return {};
  }

 private:
  target::GpuProfile gpu_;
  std::unique_ptr<GpuGround> ground_;
};

}  // namespace

base::Result<std::unique_ptr<OpenedSession>> open_engine_session(
    const EngineSessionOptions& options, const Progress& progress) {
  auto opened = std::make_unique<OpenedEngine>();
  KS_RETURN_IF_ERROR(opened->start(options, progress));
  return opened;
}

}  // namespace ksearch::evaluate
