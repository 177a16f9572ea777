// Checks of a certificate that need no clock: is it right on what the search never saw, and would
// anything less than the real work have passed?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/check.h"
#include "evaluate/certify.h"
#include "evaluate/empty_program.h"
#include "evaluate/trivial.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

base::Error gone(const kernel::Lost& l) {
  return {base::ErrorKind::environment, "certificate", l.reason, {}};
}

/// A failed step of the program's: the verdict in words. The environment's failures go up.
base::Result<std::string> words(const Failure& failure) {
  if (const auto* l = std::get_if<kernel::Lost>(&failure)) return std::unexpected(gone(*l));
  return text(failure);
}

/// Held-out and tiny shapes on fresh seeds; feedback shapes too: their inputs are new as well.
base::Result<bool> held_out(Certification& c) {
  SessionState& s = c.session;
  KS_TRY(const std::unique_ptr<target::Worker> worker, c.start());
  base::Json details = base::Json::array();
  std::vector<std::string> failed;
  bool changed = false, repeatable = true;
  int runs = 0;
  for (const auto* list : {&s.heldout, &s.tiny, &s.feedback})
    for (const kernel::Workload& w : *list) {
      c.progress("held out: " + w.name);
      Rig rig(*worker, c.truth->maker(w), s.outputs(w));
      const VerifyRequest request{.workload = &w,
                                  .plan = &c.plan(w),
                                  .contents = contents_for(w, c.truth->maker(w), 0),
                                  .limit_per_call = s.limit_of(w.name) + std::chrono::seconds(20)};
      const Tried<Verified> verified = verify(rig, *c.truth, request, c.random);
      base::Json one{{"workload", w.name}};
      if (verified) {
        c.call_ns[w.name] = verified->call_ns;
        one["error"] = verified->error;
        one["tolerance"] = rig.outputs().front().tolerance.relative_rms;
        one["repeatable"] = verified->repeatable;
        repeatable = repeatable && verified->repeatable;
        runs += static_cast<int>(request.contents.size()) + 1;
        details.push_back(std::move(one));
        continue;
      }
      KS_TRY(one["failed"], words(verified.error()));
      const auto* v = std::get_if<kernel::Verdict>(&verified.error());
      changed = changed || (v && std::holds_alternative<kernel::InputChanged>(*v));
      failed.push_back(fmt::format("{}: {}", w.name, one["failed"].get<std::string>()));
      details.push_back(std::move(one));
      break;  // its process may be dead, and one failure decides
    }
  const bool enough = !s.heldout.empty();
  const bool passed = failed.empty() && enough;
  c.add("held_out", passed,
        !enough ? "the task has no held-out workload under this filter"
        : failed.empty()
            ? fmt::format("right on {} held-out, {} tiny and {} feedback shapes with fresh seeds",
                          s.heldout.size(), s.tiny.size(), s.feedback.size())
            : fmt::format("{}", fmt::join(failed, "; ")),
        std::move(details));
  c.add("poison", passed,
        fmt::format("outputs began as NaNs with a secret payload in {} runs; none was left", runs));
  c.add("inputs_unchanged", !changed,
        changed ? "an input was written" : "every input was as before, byte for byte");
  c.add("repeatable", true,
        repeatable ? "the same inputs gave the same bits"
                   : "bits differ from run to run, within the tolerance");
  return passed;
}

base::Result<void> trivial(Certification& c) {
  SessionState& s = c.session;
  std::vector<kernel::Workload> all = s.heldout;
  all.insert(all.end(), s.feedback.begin(), s.feedback.end());
  const auto found = check_trivial(s.task->definition, *c.truth, all);
  if (!found) return std::unexpected(gone(found.error()));
  c.add("trivial_answers", found->empty(),
        found->empty() ? "zeros, the mean and a copy of an input are rejected on every held-out "
                         "and feedback shape"
                       : fmt::format("{}", fmt::join(*found, "; ")));
  return {};
}

const kernel::Workload& smallest(const Certification& c,
                                 const std::vector<kernel::Workload>& list) {
  const auto elements = [&](const kernel::Workload& w) {
    std::int64_t n = 0;
    for (const auto& t : c.truth->maker(w).tensors()) n += t.elements();
    return n;
  };
  return *std::ranges::min_element(list, {}, elements);
}

/// The plan with empty kernels must not pass: the outputs come from the kernels and nothing else.
base::Result<void> ghost(Certification& c) {
  SessionState& s = c.session;
  const kernel::Workload& w = smallest(c, s.heldout);
  const std::vector<kernel::BoundProgram> plans{c.plan(w)};
  const auto empty = empty_program(c.program.program, plans);
  if (!empty) {
    c.add("ghost_replay", true, "not done: kernels of this dialect are not replaced yet");
    return {};
  }
  auto built = s.target->build({.program = &*empty, .plans = &plans});
  if (const auto* l = std::get_if<kernel::Lost>(&built)) return std::unexpected(gone(*l));
  const auto* executable = std::get_if<target::Executable>(&built);
  if (!executable) {
    c.add("ghost_replay", false,
          "the plan with empty kernels does not compile: " +
              text(Failure(std::get<kernel::Verdict>(built))));
    return {};
  }
  KS_TRY(const std::unique_ptr<target::Worker> worker, s.target->start(*executable));
  Rig rig(*worker, c.truth->maker(w), s.outputs(w));
  const VerifyRequest request{.workload = &w,
                              .plan = &plans[0],
                              .contents = contents_for(w, c.truth->maker(w), 0),
                              .limit_per_call = std::chrono::seconds(20)};
  const Tried<Verified> verified = verify(rig, *c.truth, request, c.random);
  if (verified) {
    c.add("ghost_replay", false, "the plan passes with empty kernels: the work is done elsewhere");
    return {};
  }
  KS_TRY(const std::string how, words(verified.error()));
  c.add("ghost_replay", true, fmt::format("with empty kernels it fails on {}: {}", w.name, how));
  return {};
}

/// Where the target itself does not see races and the like: every tiny shape, in several orders.
base::Result<bool> watched(Certification& c) {
  if (!c.session.options.watch) return true;
  c.progress("certify: tiny shapes, watched");
  std::string at;
  const Tried<void> clean = c.session.options.watch(c.program.program, true, at);
  std::string how;
  if (!clean) {
    KS_TRY(how, words(clean.error()));
  }
  c.add("schedules", clean.has_value(),
        clean
            ? "every tiny shape watched in the engine under three orders of SIMD-groups: no race, "
              "no access out of bounds, nothing undefined, every output written"
            : fmt::format("{}: {}", at, how));
  return clean.has_value();
}

double rms(const std::vector<double>& a, const std::vector<double>* b = nullptr) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = b ? a[i] - (*b)[i] : a[i];
    sum += std::isfinite(d) ? d * d : 0;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// What one perturbed input did to the outputs, as shares of the change that the reference sees.
struct Response {
  double wanted = 0;  // rms of the reference's change over rms of its outputs
  double missed = 0;  // rms of (program's change - reference's) over the reference's change
  double noise = 0;   // what the tolerance alone allows of that
};

Response respond(const std::vector<OutputSpec>& specs, const Outputs& before, const Outputs& after,
                 const Outputs& got_before, const Outputs& got_after) {
  Response r;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const double change = rms(after[i], &before[i]);
    if (change == 0) continue;
    std::vector<double> difference(after[i].size());
    for (std::size_t k = 0; k < difference.size(); ++k)
      difference[k] = (got_after[i][k] - got_before[i][k]) - (after[i][k] - before[i][k]);
    const double size = std::max(rms(before[i]), rms(after[i]));
    const double wanted = change / size;
    if (wanted <= r.wanted) continue;
    r.wanted = wanted;
    r.missed = rms(difference) / change;
    r.noise = 3 * specs[i].tolerance.relative_rms / wanted;
  }
  return r;
}

/// The largest tiny shape of each combination of types, parameters and absent inputs.
std::vector<const kernel::Workload*> sensitivity_shapes(const Certification& c) {
  std::map<std::string, std::pair<std::int64_t, const kernel::Workload*>> largest;
  const auto& list = c.session.tiny.empty() ? c.session.heldout : c.session.tiny;
  for (const kernel::Workload& w : list) {
    std::string key;
    for (const auto& [name, type] : w.types) key += fmt::format("{}={} ", name, kernel::name(type));
    for (const auto& [name, value] : w.params)
      if (!std::holds_alternative<double>(value))
        key += fmt::format("{}={} ", name, kernel::to_text(value));
    for (const auto& name : w.absent) key += "-" + name;
    std::int64_t n = 0;
    for (const auto& t : c.truth->maker(w).tensors()) n += t.elements();
    auto& best = largest[key];
    if (n > best.first) best = {n, &w};
  }
  std::vector<const kernel::Workload*> shapes;
  for (const auto& [key, best] : largest) shapes.push_back(best.second);
  return shapes;
}

/// Perturbs each input in turn: the output must change as the reference does. A term that was
/// dropped because it is small hides in the tolerance of the whole output, not in that of the
/// change.
base::Result<void> sensitivity(Certification& c) {
  SessionState& s = c.session;
  KS_TRY(const std::unique_ptr<target::Worker> worker, c.start());
  base::Json details = base::Json::array();
  std::set<std::string> seen, conclusive;
  std::vector<std::string> failed;
  for (const kernel::Workload* w : sensitivity_shapes(c)) {
    c.progress("sensitivity: " + w->name);
    const task::InputMaker& maker = c.truth->maker(*w);
    Rig rig(*worker, maker, s.outputs(*w));
    if (auto prepared = rig.prepare(*w, &c.plan(*w), 2); !prepared) {
      KS_TRY(const std::string how, words(prepared.error()));
      failed.push_back(how);
      break;
    }
    const task::Content content{8, 0}, other{9, 0};
    for (const kernel::TensorShape& t : maker.tensors()) {
      if (t.access == kernel::Access::out) continue;
      seen.insert(t.name);
      const Poison poison{c.random.next()};
      rig.fill(0, content, poison);
      rig.fill(1, content, poison);
      rig.fill_input(1, t.name, other);
      const int order[] = {0, 1};
      if (auto done = rig.run(order, true, s.limit_of(w->name)); !done) {
        KS_TRY(const std::string how, words(done.error()));
        failed.push_back(fmt::format("{} on {}: {}", t.name, w->name, how));
        break;
      }
      const auto base = c.truth->of(*w, content);
      if (!base) return std::unexpected(gone(base.error()));
      const auto moved = c.truth->perturbed(*w, content, t.name, other);
      if (!moved) return std::unexpected(gone(moved.error()));
      Outputs got_base, got_moved;
      rig.outputs_as_numbers(0, got_base);
      rig.outputs_as_numbers(1, got_moved);
      const Response r = respond(rig.outputs(), **base, **moved, got_base, got_moved);
      details.push_back({{"workload", w->name},
                         {"input", t.name},
                         {"reference_change", r.wanted},
                         {"missed", r.missed}});
      if (r.wanted == 0 || r.noise > 0.5) continue;  // no influence here, or below what is resolved
      conclusive.insert(t.name);
      if (!(r.missed <= std::max(0.02, r.noise)))
        failed.push_back(fmt::format("{} on {}: {:.0f}% of the change that it causes is missing",
                                     t.name, w->name, 100 * r.missed));
    }
  }
  std::vector<std::string> open;
  std::ranges::set_difference(seen, conclusive, std::back_inserter(open));
  c.add("sensitivity", failed.empty() && open.empty(),
        !failed.empty() ? fmt::format("{}", fmt::join(failed, "; "))
        : !open.empty()
            ? fmt::format("no tiny shape shows the influence of {}", fmt::join(open, ", "))
            : fmt::format("perturbing {} moves the output as it moves the reference",
                          fmt::join(seen, ", ")),
        std::move(details));
  return {};
}

}  // namespace

base::Result<bool> certify_right(Certification& c) {
  KS_TRY(bool right, watched(c));
  if (!right) return false;
  KS_TRY(right, held_out(c));
  KS_RETURN_IF_ERROR(trivial(c));
  if (!right) return false;
  KS_RETURN_IF_ERROR(ghost(c));
  KS_RETURN_IF_ERROR(sensitivity(c));
  return true;
}

}  // namespace ksearch::evaluate
