#include "cli/live_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "report/numbers.h"

namespace ksearch::cli {
namespace {

using report::Paint;
using report::Style;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// `left` and `right` at the two ends of a line; `right` goes first where both do not fit.
std::string two_ends(const Style& style, const std::string& left, const std::string& right,
                     int width) {
  const int room = width - report::columns(right) - 1;
  if (right.empty() || room < 12) return report::cut(style, left, width);
  return report::pad(style, left, room) + " " + right;
}

std::string title_line(const Style& style, const LiveState& state, int width) {
  const char* dot = style.utf8 ? " · " : ", ";
  std::string left = report::paint(style, Paint::strong, "ksearch " + state.run.task);
  if (width >= 60 && !state.run.target.empty())
    left += report::paint(style, Paint::dim,
                          fmt::format("{}{}{}{} engineer{}{}", dot, state.run.target, dot,
                                      state.run.engineer, dot, state.run.strategy));
  std::string time = report::seconds_text(seconds(state.elapsed));
  if (state.run.limits.wall) time += " / " + report::seconds_text(seconds(*state.run.limits.wall));
  return two_ends(style, left, time, width);
}

std::string best_line(const Style& style, const LiveState& state, int width) {
  if (!state.naive && !state.expert)
    return report::paint(style, Paint::dim, report::cut(style, "best  nothing yet", width));
  const bool wide = width >= 40;
  const char* dot = !wide ? " " : style.utf8 ? " · " : ", ";
  std::string text = width >= 30 ? "best  " : "";
  const auto add = [&](const kernel::Ratio& ratio, const std::string& to, bool first) {
    if (!first) text += dot;
    text += report::paint(style, Paint::good, report::ratio_text(ratio.value));
    text += " " + to;
    if (width >= 76)
      text +=
          report::paint(style, Paint::dim, fmt::format(" [{:.2f}, {:.2f}]", ratio.low, ratio.high));
  };
  if (state.naive) add(*state.naive, wide ? "naive" : "n", true);
  if (state.expert)
    add(*state.expert, wide ? report::printable(style, state.expert_name) : "e", !state.naive);
  if (state.modelled) text += " (modelled)";
  return report::cut(style, text, width);
}

std::string budget_line(const Style& style, const LiveState& state, int width) {
  std::string right = base::counted(state.spent.evaluations, "evaluation");
  if (state.run.limits.evaluations)
    right =
        fmt::format("{}/{} evaluations", state.spent.evaluations, *state.run.limits.evaluations);
  if (width < 40) right = right.substr(0, right.find(' '));
  if (width >= 60 && (state.spent.cost_usd > 0 || state.run.limits.cost_usd)) {
    right += fmt::format(", {:.2f} USD", state.spent.cost_usd);
    if (state.run.limits.cost_usd) right += fmt::format(" of {:.2f}", *state.run.limits.cost_usd);
  } else if (width >= 60 && state.spent.tokens > 0) {
    right += fmt::format(", {} k tokens", (state.spent.tokens + 500) / 1000);
  }
  const auto share = budget_share(state);
  if (!share) return report::cut(style, "budget  no limit, " + right, width);
  const std::string percent = fmt::format(" {:>3.0f}%", *share * 100);
  const int bar =
      std::min(40, width - 6 - static_cast<int>(percent.size()) - 2 - report::columns(right));
  if (bar < 4) return report::cut(style, fmt::format("spent{}  {}", percent, right), width);
  const int full = static_cast<int>(*share * bar + 0.5);
  std::string text = "spent ";
  std::string done, rest;
  for (int i = 0; i < bar; ++i)
    (i < full ? done : rest) += style.utf8 ? (i < full ? "█" : "░") : (i < full ? "#" : ".");
  text += report::paint(style, Paint::good, done) + report::paint(style, Paint::dim, rest);
  return report::cut(style, text + percent + "  " + right, width);
}

std::string now_line(const Style& style, const LiveState& state, int width) {
  if (!state.ended.empty()) return report::cut(style, "ended " + state.ended, width);
  std::string text = state.stopping ? "stops " : "now   ";
  const auto row = std::ranges::find(state.rows, state.working_node, &report::TreeRow::id);
  if (row != state.rows.end() && !state.working_node.empty()) {
    if (state.certifying) text += "certifies ";
    text += report::paint(style, Paint::busy, report::printable(style, row->title));
    if (state.attempt > 1) text += fmt::format(", attempt {}", state.attempt);
    if (!state.now.empty()) text += ": ";
  }
  text += report::printable(style, state.now);
  if (state.stopping) text += " (again Ctrl-C: at once)";
  return report::cut(style, text, width);
}

}  // namespace

std::optional<double> budget_share(const LiveState& state) {
  const event::Limits& limits = state.run.limits;
  std::optional<double> share;
  const auto add = [&](double spent, double limit) {
    if (limit > 0) share = std::max(share.value_or(0), spent / limit);
  };
  if (limits.evaluations)
    add(static_cast<double>(state.spent.evaluations), static_cast<double>(*limits.evaluations));
  if (limits.wall) add(seconds(state.elapsed), seconds(*limits.wall));
  if (limits.tokens)
    add(static_cast<double>(state.spent.tokens), static_cast<double>(*limits.tokens));
  if (limits.cost_usd) add(state.spent.cost_usd, *limits.cost_usd);
  if (share) share = std::clamp(*share, 0.0, 1.0);
  return share;
}

std::vector<std::string> live_lines(const Style& style, const LiveState& state, Size size) {
  const int width = std::max(1, size.width);
  const int height = std::max(1, size.height);
  std::vector<std::string> lines{title_line(style, state, width), best_line(style, state, width),
                                 budget_line(style, state, width), now_line(style, state, width)};
  int room = height - static_cast<int>(lines.size());
  if (room >= 8) {
    lines.emplace_back();
    --room;
  }
  // The log gets what the tree leaves, and a fifth of the screen in any case.
  const int rows = static_cast<int>(state.rows.size()) + 1;
  const int log_lines = room < 8 ? 0
                                 : std::clamp(std::max(room - rows - 1, height / 5), 0,
                                              static_cast<int>(state.log.size()));
  report::TreeLook look;
  look.width = width;
  look.height = room - (log_lines > 0 ? log_lines + 1 : 0);
  look.best = state.best_node;
  look.baseline = state.expert ? "expert" : "naive";
  if (look.height > 0 && !state.rows.empty())
    for (std::string& line : report::tree_lines(style, state.rows, look))
      lines.push_back(std::move(line));
  if (log_lines > 0) {
    lines.emplace_back();
    for (std::size_t i = state.log.size() - static_cast<std::size_t>(log_lines);
         i < state.log.size(); ++i)
      lines.push_back(report::paint(
          style, Paint::dim, report::cut(style, report::printable(style, state.log[i]), width)));
  }
  if (lines.size() > static_cast<std::size_t>(height))
    lines.resize(static_cast<std::size_t>(height));
  return lines;
}

}  // namespace ksearch::cli
