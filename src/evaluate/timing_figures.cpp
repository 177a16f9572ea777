// From samples to figures: ratios, intervals, ceilings, floors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "evaluate/ceiling.h"
#include "evaluate/empty_program.h"
#include "evaluate/session_state.h"
#include "evaluate/statistics.h"

namespace ksearch::evaluate {
namespace {

constexpr int kFloorCalls = 32;

Ceiling ceiling(SessionState& s, const kernel::Workload& w) {
  const auto work = kernel::work_of(s.task->definition, w);
  if (!work) return {};
  return ceiling_of(*work, s.truth->maker(w).tensors(), s.device);
}

/// By the fastest batch, for the ceiling is the best of many probes too.
void set_against(const Ceiling& ceiling, kernel::WorkloadTiming& t) {
  t.roofline_fraction = ceiling.ns / std::ranges::min(t.samples_ns);
  t.bound_by = ceiling.bound_by;
}

/// A call of what the worker holds, of which nobody asks what it computes.
std::optional<double> call_ns(SessionState& s, target::Worker& worker, const kernel::Workload& w,
                              const kernel::BoundProgram& plan) {
  const target::Job job{.workload = &w, .plan = &plan, .tensors = s.truth->maker(w).tensors()};
  const auto prepared = worker.prepare(job);
  if (!std::holds_alternative<std::monostate>(prepared)) return std::nullopt;
  const std::vector<int> order(kFloorCalls, 0);
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const auto reply = worker.run(order, false, std::chrono::seconds(10));
    const auto* done = std::get_if<target::Done>(&reply);
    if (!done) return std::nullopt;
    samples.push_back(done->bracket_ns / kFloorCalls);
  }
  return median(samples);
}

}  // namespace

kernel::WorkloadTiming timing_of(SessionState& s, const kernel::Workload& w,
                                 const ContestResult& result, const kernel::TunableChoice& choice) {
  kernel::WorkloadTiming t;
  t.workload = w.name;
  t.tunables = choice;
  t.samples_ns = result.call_ns.at("program");
  const Interval own = location(t.samples_ns);
  t.median_ns = own.value;
  t.low_ns = std::max(0.0, own.low);
  t.high_ns = own.high;
  const auto paired = [&](const std::string& name) {
    const auto other = result.call_ns.find(name);
    if (other != result.call_ns.end() && other->second.size() == t.samples_ns.size())
      t.ratios[name] = paired_ratio(other->second, t.samples_ns);
  };
  paired("expert");
  paired("parent");
  if (const Baselines::Best* best = s.best_of(w.name)) {
    t.expert = best->expert;
    // A program that was timed alone (naive, at the start) is still set against the expert's
    // median.
    if (!t.ratios.contains("expert") && best->expert_ns > 0 && !result.call_ns.contains("expert")) {
      kernel::Ratio r = unpaired_ratio(t.samples_ns, t.samples_ns);
      const double value = best->expert_ns / t.median_ns;
      t.ratios["expert"] = {value, value * r.low, value * r.high, r.pairs};
    }
  }
  paired("naive");
  if (const auto naive = s.naive_ns.find(w.name);
      naive != s.naive_ns.end() && !t.ratios.contains("naive"))
    t.ratios["naive"] = naive->second == t.samples_ns
                            ? kernel::Ratio{1, 1, 1, static_cast<int>(t.samples_ns.size())}
                            : unpaired_ratio(naive->second, t.samples_ns);
  set_against(ceiling(s, w), t);
  return t;
}

kernel::Measured summarise(const SessionState& s, std::vector<kernel::WorkloadTiming> workloads) {
  kernel::Measured m;
  m.workloads = std::move(workloads);
  m.baseline = s.baselines.baseline;
  for (const char* to : {"naive", "expert", "parent"})
    if (const auto r = mean_ratio(m.workloads, to)) m.ratios[to] = *r;
  // An expert that failed during the search leaves a workload without: then naive, and it is said.
  if (!m.ratios.contains(m.baseline)) m.baseline = "naive";
  if (m.ratios.contains(m.baseline)) m.score = m.ratios.at(m.baseline);
  return m;
}

std::optional<double> floor_ns(SessionState& s, const kernel::BoundProgram& plan) {
  if (s.device.kind != "cpu") return std::nullopt;
  LaunchShape shape;
  for (const kernel::BoundLaunch& launch : plan.launches) shape.push_back(launch.groups);
  if (const auto known = s.floors.find(shape); known != s.floors.end()) return known->second;

  kernel::Program empty;
  empty.task = s.task->definition.name;
  empty.sources = {{"empty.cpp", "extern \"C\" void ks_empty(const ks_group*) {}\n"}};
  kernel::Launch launch;
  launch.kernel = "ks_empty";
  launch.groups = {kernel::Expr::constant(1)};
  empty.launches = {launch};
  kernel::BoundProgram bound;
  for (const auto& groups : shape) {
    kernel::BoundLaunch one;
    one.kernel = "ks_empty";
    one.groups = groups;
    bound.launches.push_back(std::move(one));
  }
  const std::vector<kernel::BoundProgram> plans{bound};
  if (!s.floor_worker) {
    auto built = s.target->build({.program = &empty, .plans = &plans});
    const auto* executable = std::get_if<target::Executable>(&built);
    if (!executable) return std::nullopt;
    auto worker = s.target->start(*executable);
    if (!worker) return std::nullopt;
    s.floor_worker = std::move(*worker);
  }
  const auto ns = call_ns(s, *s.floor_worker, s.feedback.front(), bound);
  if (!ns) {
    s.floor_worker.reset();
    return std::nullopt;
  }
  return s.floors[shape] = *ns;
}

std::optional<double> empty_ns(SessionState& s, const kernel::Program& program,
                               const kernel::BoundProgram& plan, const kernel::Workload& w) {
  const std::vector<kernel::BoundProgram> plans{plan};
  const auto empty = empty_program(program, plans);
  if (!empty) return std::nullopt;
  const auto built = s.target->build({.program = &*empty, .plans = &plans});
  const auto* executable = std::get_if<target::Executable>(&built);
  if (!executable) return std::nullopt;
  const auto worker = s.target->start(*executable);
  return worker ? call_ns(s, **worker, w, plan) : std::nullopt;
}

Tried<void> believe(SessionState& s, const kernel::Workload& w, kernel::WorkloadTiming& t,
                    std::vector<std::string>& notes) {
  if (t.roofline_fraction <= kBelievable) return {};
  if (!s.options.ceilings_judge) {
    notes.push_back(fmt::format("on {} it is {:.2f} times as fast as {} says is possible", w.name,
                                t.roofline_fraction, s.device.source));
    return {};
  }
  if (s.options.measure_ceilings) {
    // The ceilings may be of a slower moment than the samples: the best seen counts.
    const auto now = s.options.measure_ceilings();
    if (!now) return lost(now.error().text());
    s.device.float32_flops = std::max(s.device.float32_flops, now->float32_flops);
    s.device.bfloat16_flops = std::max(s.device.bfloat16_flops, now->bfloat16_flops);
    if (now->bandwidth.size() == s.device.bandwidth.size())
      for (std::size_t i = 0; i < now->bandwidth.size(); ++i)
        s.device.bandwidth[i].bytes_per_second =
            std::max(s.device.bandwidth[i].bytes_per_second, now->bandwidth[i].bytes_per_second);
    else
      s.device.bandwidth = now->bandwidth;
    notes.push_back("the ceilings were measured again");
  }
  const Ceiling c = ceiling(s, w);
  set_against(c, t);
  if (t.roofline_fraction <= kBelievable) return {};
  return verdict(kernel::Rejected{
      "timing",
      fmt::format("{:.4g} us a call is {:.2f} of what this machine reaches ({}: {:.4g} us at "
                  "least): the work cannot have been done",
                  std::ranges::min(t.samples_ns) / 1e3, t.roofline_fraction, t.bound_by,
                  c.ns / 1e3)});
}

}  // namespace ksearch::evaluate
