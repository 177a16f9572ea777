// Does a certified program compute with each of its inputs as the reference does?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "evaluate/certify.h"

namespace ksearch::evaluate {
namespace {

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

}  // namespace

base::Result<void> certify_sensitivity(Certification& c) {
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

}  // namespace ksearch::evaluate
