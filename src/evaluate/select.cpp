#include "evaluate/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/check.h"

namespace ksearch::evaluate {
namespace {

constexpr std::size_t kMostRules = 4;
constexpr double kIllegal = 1e3;  // in logarithms: any legal choice is better

using Rows = std::vector<const ChoiceTimes*>;

double log_time(const ChoiceTimes& row, const kernel::TunableChoice& choice) {
  const auto found = row.ns.find(choice);
  return found == row.ns.end() ? kIllegal : std::log(found->second);
}

double squared_error(const ChoiceTimes& row, const kernel::TunableChoice& choice) {
  const auto found = row.error.find(choice);
  return found == row.error.end() ? 0 : found->second * found->second;
}

struct Best {
  kernel::TunableChoice choice;
  double log_sum = 0;
};

/// Variance of the gain, in logarithms, of rows that change from one choice to another.
double gain_variance(const Rows& rows, const kernel::TunableChoice& from,
                     const kernel::TunableChoice& to) {
  double sum = 0;
  for (const ChoiceTimes* row : rows)
    if (from != to) sum += squared_error(*row, from) + squared_error(*row, to);
  return sum;
}

Best best_choice(const Rows& rows) {
  std::set<kernel::TunableChoice> all;
  for (const ChoiceTimes* row : rows)
    for (const auto& [choice, ns] : row->ns) all.insert(choice);
  Best best{{}, std::numeric_limits<double>::infinity()};
  for (const auto& choice : all) {
    double sum = 0;
    for (const ChoiceTimes* row : rows) sum += log_time(*row, choice);
    if (sum < best.log_sum) best = {choice, sum};
  }
  return best;
}

/// Conditions that split the workloads in two, as text, simplest first.
std::vector<std::string> conditions(const kernel::Definition& definition, const Rows& rows) {
  std::vector<std::string> list;
  for (const auto& [name, allowed] : definition.types) {
    std::set<kernel::DType> seen;
    for (const ChoiceTimes* row : rows)
      if (const auto t = row->workload->types.find(name); t != row->workload->types.end())
        seen.insert(t->second);
    if (seen.size() < 2) continue;
    for (const kernel::DType t : seen)
      list.push_back(fmt::format("{} == {}", name, kernel::name(t)));
  }
  for (const kernel::Param& p : definition.params) {
    if (p.kind != kernel::ParamKind::boolean) continue;
    list.push_back(p.name);
    list.push_back("not " + p.name);
  }
  for (const kernel::Axis& axis : definition.axes) {
    if (axis.constant) continue;
    std::set<std::int64_t> seen;
    for (const ChoiceTimes* row : rows) seen.insert(row->workload->axes.at(axis.name));
    for (auto next = seen.begin(); next != seen.end(); ++next) {
      if (next == seen.begin()) continue;
      // The geometric middle: sizes are compared by their ratio.
      const auto low = static_cast<double>(*std::prev(next)), high = static_cast<double>(*next);
      const auto cut = static_cast<std::int64_t>(std::floor(std::sqrt(low * high)));
      list.push_back(fmt::format("{} <= {}", axis.name, cut));
      list.push_back(fmt::format("{} > {}", axis.name, cut));
    }
  }
  return list;
}

struct Split {
  kernel::Expr when;
  Best inside;
  Rows rows_inside, rest;
  double log_sum = 0;  // of both sides
};

std::optional<Split> best_split(const kernel::Definition& definition, const Rows& rows) {
  std::optional<Split> best;
  for (const std::string& text : conditions(definition, rows)) {
    const auto expr = kernel::Expr::parse(text, "select");
    KS_CHECK(expr, "conditions are written by us");
    Rows inside, rest;
    for (const ChoiceTimes* row : rows) {
      const auto holds = expr->eval_boolean(kernel::scope_of(definition, *row->workload));
      KS_CHECK(holds, "and use names that workloads bind");
      (*holds ? inside : rest).push_back(row);
    }
    if (inside.empty() || rest.empty()) continue;
    Split split{*expr, best_choice(inside), inside, rest, 0};
    split.log_sum = split.inside.log_sum + best_choice(rest).log_sum;
    if (!best || split.log_sum < best->log_sum - 1e-12) best = std::move(split);
  }
  return best;
}

}  // namespace

kernel::Select select_tunables(const kernel::Definition& definition,
                               const std::vector<ChoiceTimes>& times, double least_gain) {
  Rows rows;
  for (const ChoiceTimes& t : times) rows.push_back(&t);
  const auto all = static_cast<double>(rows.size());
  kernel::Select select;
  Best rest = best_choice(rows);
  while (select.size() + 1 < kMostRules) {
    std::optional<Split> split = best_split(definition, rows);
    if (!split) break;
    const double gain = rest.log_sum - split->log_sum;
    const double variance =
        gain_variance(split->rows_inside, rest.choice, split->inside.choice) +
        gain_variance(split->rest, rest.choice, best_choice(split->rest).choice);
    if (gain / all < std::log1p(least_gain) || gain < 2 * std::sqrt(variance)) break;
    select.push_back({split->when, split->inside.choice});
    rows = split->rest;
    rest = best_choice(rows);
  }
  if (!rest.choice.empty() || !select.empty()) select.push_back({std::nullopt, rest.choice});
  return select;
}

std::string describe_choices(const std::vector<ChoiceTimes>& times) {
  constexpr std::size_t kMostShown = 5;
  if (times.empty()) return {};
  std::vector<std::pair<double, std::string>> all;
  for (const auto& [choice, ns] : times.front().ns) {
    double sum = 0;
    for (const ChoiceTimes& row : times) sum += log_time(row, choice);
    if (sum >= kIllegal) continue;
    std::string name;
    for (const auto& [tunable, value] : choice)
      name += fmt::format("{}{}={}", name.empty() ? "" : ",", tunable, value);
    all.emplace_back(std::exp(sum / static_cast<double>(times.size())), std::move(name));
  }
  if (all.size() < 2) return {};
  std::ranges::sort(all);
  std::string text = "tunables over all workloads: " + all.front().second;
  for (std::size_t i = 1; i < std::min(all.size(), kMostShown); ++i)
    text += fmt::format("; {} {:.3g}x its time", all[i].second, all[i].first / all.front().first);
  return text;
}

}  // namespace ksearch::evaluate
