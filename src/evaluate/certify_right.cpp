// Checks of a certificate that need no clock: is it right on what the search never saw, and would
// anything less than the real work have passed?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/counted.h"
#include "evaluate/certify.h"
#include "evaluate/empty_program.h"
#include "evaluate/trivial.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {

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
        "outputs began as NaNs with a secret payload in " + base::counted(runs, "run") +
            "; none was left");
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
    c.add("ghost_replay", true, "does not apply: kernels that take structs are not replaced");
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

}  // namespace

base::Result<bool> certify_right(Certification& c) {
  KS_TRY(bool right, watched(c));
  if (!right) return false;
  KS_TRY(right, held_out(c));
  KS_RETURN_IF_ERROR(trivial(c));
  if (!right) return false;
  KS_RETURN_IF_ERROR(ghost(c));
  KS_RETURN_IF_ERROR(certify_sensitivity(c));
  return true;
}

}  // namespace ksearch::evaluate
