#include "report/tree_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/numbers.h"

namespace ksearch::report {
namespace {

constexpr int kScoreWidth = 7;
constexpr int kGainWidth = 8;
constexpr int kPredictedWidth = 10;
constexpr int kLeastTitle = 12;  // beside a remark
constexpr int kWidthForGain = 44;
constexpr int kWidthForPredicted = 60;
constexpr int kWidthForWideIndent = 50;

struct Line {
  const TreeRow* row = nullptr;
  std::string indent;
  std::size_t parent = 0;  ///< index of the parent's line; its own for the root
};

/// Lays rows out depth first.
class Layout {
 public:
  Layout(const std::vector<TreeRow>& rows, const Style& style, int width)
      : rows_(rows), wide_(width >= kWidthForWideIndent), utf8_(style.utf8) {
    most_indent_ = std::max(1, width / 3);
    std::map<std::string_view, bool> known;
    for (const TreeRow& row : rows) known[row.id] = true;
    for (std::size_t i = 0; i < rows.size(); ++i)
      // A row whose parent is not among the rows stands beside the root, so that nothing is lost.
      children_[known.contains(rows[i].parent) ? std::string_view(rows[i].parent) : ""].push_back(
          i);
    for (const std::size_t top : children_[""]) add(top, "", "", 0, lines_.size());
  }
  std::vector<Line> take() { return std::move(lines_); }

 private:
  void add(std::size_t row, std::string indent, const std::string& below, int depth,
           std::size_t parent) {
    if (depth > 256) return;
    if (columns(indent) > most_indent_) indent = utf8_ ? "⋯" : "..";
    const std::size_t mine = lines_.size();
    lines_.push_back({&rows_[row], std::move(indent), depth == 0 ? mine : parent});
    const auto found = children_.find(rows_[row].id);
    if (found == children_.end()) return;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      const bool last = i + 1 == found->second.size();
      add(found->second[i], below + mark(last ? 1 : 0), below + mark(last ? 3 : 2), depth + 1,
          mine);
    }
  }
  std::string mark(std::size_t which) const {
    static constexpr const char* kWide[2][4] = {{"|-", "`-", "| ", "  "}, {"├─", "└─", "│ ", "  "}};
    static constexpr const char* kNarrow[2][4] = {{"|", "`", "|", " "}, {"├", "└", "│", " "}};
    return wide_ ? kWide[utf8_ ? 1 : 0][which] : kNarrow[utf8_ ? 1 : 0][which];
  }

  const std::vector<TreeRow>& rows_;
  bool wide_, utf8_;
  int most_indent_ = 1;
  std::map<std::string_view, std::vector<std::size_t>> children_;
  std::vector<Line> lines_;
};

/// Which lines stay when only `room` fit: always with their ancestors.
std::vector<bool> keep(const std::vector<Line>& lines, std::size_t room, const std::string& best) {
  std::vector<bool> kept(lines.size(), room >= lines.size());
  if (room >= lines.size()) return kept;
  const auto rank = [&](std::size_t i) {
    const TreeRow& row = *lines[i].row;
    if (row.status == NodeStatus::working) return 0;
    if (row.id == best) return 1;
    if (row.status == NodeStatus::passed) return 2;
    return row.status == NodeStatus::failed || row.status == NodeStatus::thrown_out ? 4 : 3;
  };
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, rank);
  std::size_t used = 0;
  for (const std::size_t wanted : order) {
    std::vector<std::size_t> missing;
    for (std::size_t i = wanted; !kept[i]; i = lines[i].parent) {
      missing.push_back(i);
      if (lines[i].parent == i) break;
    }
    // What matters most is shown even where its ancestors do not fit.
    if (used + missing.size() > room && rank(wanted) <= 1 && used < room) missing.resize(1);
    if (used + missing.size() > room) continue;
    for (const std::size_t i : missing) kept[i] = true;
    used += missing.size();
  }
  return kept;
}

std::string mark_of(const Style& style, const TreeRow& row, bool best) {
  const bool u = style.utf8;
  if (best && row.status != NodeStatus::thrown_out) return paint(style, Paint::good, u ? "★" : "*");
  switch (row.status) {
    case NodeStatus::root:
      return u ? "●" : "@";
    case NodeStatus::open:
      return paint(style, Paint::dim, u ? "○" : "o");
    case NodeStatus::working:
      return paint(style, Paint::busy, u ? "▶" : ">");
    case NodeStatus::passed:
      return paint(style, Paint::good, u ? "✓" : "+");
    case NodeStatus::failed:
    case NodeStatus::thrown_out:
      return paint(style, Paint::bad, u ? "✗" : "x");
  }
  return "?";
}

std::string gain_text(const std::optional<double>& gain) { return gain ? ratio_text(*gain) : ""; }

std::string line_text(const Style& style, const Line& line, const TreeLook& look) {
  const TreeRow& row = *line.row;
  const bool best = !look.best.empty() && row.id == look.best;
  const bool gain = look.width >= kWidthForGain;
  const bool predicted = look.width >= kWidthForPredicted;
  const int right = kScoreWidth + (gain ? kGainWidth : 0) + (predicted ? kPredictedWidth : 0);
  std::string title = printable(style, row.title);
  if (!row.remark.empty()) {
    const std::string remark = ": " + printable(style, row.remark);
    const int room = look.width - right - columns(line.indent) - 2 - columns(remark);
    title = cut(style, title, std::max(kLeastTitle, room)) + remark;
  }
  const Paint look_of_title = best                                ? Paint::strong
                              : row.status == NodeStatus::working ? Paint::busy
                              : row.status == NodeStatus::open    ? Paint::dim
                                                                  : Paint::plain;
  std::string left = paint(style, Paint::dim, line.indent) + mark_of(style, row, best) + " " +
                     paint(style, look_of_title, title);
  left = pad(style, left, look.width - right);
  left += pad_left(style, gain_text(row.score), kScoreWidth);
  if (gain) left += pad_left(style, gain_text(row.measured), kGainWidth);
  if (predicted)
    left += paint(style, Paint::dim, pad_left(style, gain_text(row.predicted), kPredictedWidth));
  return cut(style, left, look.width);
}

}  // namespace

std::vector<std::string> tree_lines(const Style& style, const std::vector<TreeRow>& rows,
                                    const TreeLook& look) {
  const std::vector<Line> lines = Layout(rows, style, look.width).take();
  std::vector<std::string> out;
  std::string top =
      pad_left(style, look.baseline.empty() ? "score" : "/" + look.baseline,
               look.width >= kWidthForPredicted ? look.width - kGainWidth - kPredictedWidth
               : look.width >= kWidthForGain    ? look.width - kGainWidth
                                                : look.width);
  if (look.width >= kWidthForGain) top += pad_left(style, "gain", kGainWidth);
  if (look.width >= kWidthForPredicted) top += pad_left(style, "predicted", kPredictedWidth);
  const bool limited = look.height > 0;
  const auto height = static_cast<std::size_t>(std::max(1, look.height));
  const bool with_heading = !limited || height >= 4;
  if (with_heading) out.push_back(paint(style, Paint::dim, top));
  std::size_t room = limited ? height - (with_heading ? 1 : 0) : lines.size();
  if (limited && room < lines.size() && room > 1) --room;  // for "+ 7 more"
  const std::vector<bool> kept = keep(lines, room, look.best);
  std::size_t missing = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (kept[i])
      out.push_back(line_text(style, lines[i], look));
    else
      ++missing;
  }
  if (missing > 0 && (!limited || out.size() < height))
    out.push_back(
        paint(style, Paint::dim, cut(style, fmt::format("  + {} more", missing), look.width)));
  return out;
}

}  // namespace ksearch::report
