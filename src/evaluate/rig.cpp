#include "evaluate/rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace ksearch::evaluate {

std::string text(const Failure& failure) {
  if (const auto* l = std::get_if<kernel::Lost>(&failure)) return l->reason;
  kernel::Outcome outcome;
  outcome.verdict = std::get<kernel::Verdict>(failure);
  return kernel::summary(outcome);
}

Tried<void> Rig::prepare(const kernel::Workload& workload, const kernel::BoundProgram* plan,
                         int sets) {
  target::Job job;
  job.workload = &workload;
  job.plan = plan;
  job.tensors = maker_->tensors();
  job.sets = sets;
  auto reply = worker_->prepare(job);
  if (auto* v = std::get_if<kernel::Verdict>(&reply)) return verdict(std::move(*v));
  if (auto* l = std::get_if<kernel::Lost>(&reply)) return lost(std::move(l->reason));
  return {};
}

void Rig::touch(int set, std::size_t from, std::size_t bytes) {
  for (const kernel::TensorShape& t : maker_->tensors()) {
    const std::span<std::byte> all = worker_->bytes(set, t.name);
    if (from < all.size())
      std::ranges::fill(all.subspan(from, std::min(bytes, all.size() - from)), std::byte{0});
  }
}

void Rig::fill(int set, const task::Content& content, const Poison& poison) {
  for (const kernel::TensorShape& t : maker_->tensors()) {
    const std::span<std::byte> bytes = worker_->bytes(set, t.name);
    if (t.access == kernel::Access::out)
      poison.fill(t.dtype, bytes);
    else
      maker_->fill(content, t.name, bytes);
  }
}

Tried<target::Done> Rig::run(std::span<const int> order, bool poison_scratch,
                             std::chrono::nanoseconds limit_per_call) {
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(limit_per_call * order.size());
  target::RunReply reply = worker_->run(order, poison_scratch, limit);
  if (auto* v = std::get_if<kernel::Verdict>(&reply)) return verdict(std::move(*v));
  if (auto* l = std::get_if<kernel::Lost>(&reply)) return lost(std::move(l->reason));
  return std::get<target::Done>(std::move(reply));
}

Tried<double> Rig::check(int set, const task::Content& content, const Poison& poison,
                         const Outputs& truth, double slack) {
  KS_TRY_STEP(check_canaries(set));
  KS_TRY_STEP(check_inputs(set, content));
  double worst = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Comparison c = compare(outputs_[i], output(set, i), truth[i], &poison, slack);
    if (!c.right)
      return verdict(kernel::WrongResult{outputs_[i].shape.name, c.why, c.error, c.tolerance});
    worst = std::max(worst, c.error);
  }
  return worst;
}

Tried<void> Rig::check_written(int set, const Poison& poison) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const kernel::TensorShape& t = outputs_[i].shape;
    if (t.access == kernel::Access::inout) continue;  // holds inputs, not poison, before the call
    const std::int64_t left = poison.left(t.dtype, output(set, i));
    if (left > 0)
      return verdict(kernel::WrongResult{
          t.name,
          fmt::format("{} of {} elements were not written in a timed call", left, t.elements()),
          std::numeric_limits<double>::quiet_NaN(), outputs_[i].tolerance.relative_rms});
  }
  return {};
}

Tried<void> Rig::check_inputs(int set, const task::Content& content) {
  for (const kernel::TensorShape& t : maker_->tensors()) {
    if (t.access != kernel::Access::in) continue;
    const std::span<const std::byte> now = worker_->bytes(set, t.name);
    expected_.resize(now.size());
    maker_->fill(content, t.name, expected_);
    if (std::memcmp(now.data(), expected_.data(), now.size()) != 0)
      return verdict(kernel::InputChanged{t.name});
  }
  return {};
}

Tried<void> Rig::check_canaries(int set) {
  std::vector<kernel::Finding> findings = worker_->canaries(set);
  if (!findings.empty()) return verdict(kernel::Unsafe{std::move(findings)});
  return {};
}

std::span<const std::byte> Rig::output(int set, std::size_t index) {
  return worker_->bytes(set, outputs_[index].shape.name);
}

void Rig::outputs_as_numbers(int set, Outputs& into) {
  into.resize(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    into[i].resize(static_cast<std::size_t>(outputs_[i].shape.elements()));
    task::to_doubles(outputs_[i].shape.dtype, output(set, i), into[i]);
  }
}

}  // namespace ksearch::evaluate
