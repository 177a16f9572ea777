#include "report/tree_lines.h"

#include <gtest/gtest.h>

#include "golden.h"

namespace ksearch::report {
namespace {

std::vector<TreeRow> rows() {
  const auto row = [](std::string id, std::string parent, std::string title, NodeStatus status,
                      std::optional<double> score, std::optional<double> predicted,
                      std::optional<double> measured, std::string remark = "") {
    return TreeRow{std::move(id), std::move(parent), std::move(title), status,
                   score,         predicted,         measured,         std::move(remark)};
  };
  return {row("root", "", "naive", NodeStatus::root, 0.02, {}, {}),
          row("a", "root", "online softmax", NodeStatus::passed, 0.05, 2.0, 2.5),
          row("b", "a", "block queries and keys", NodeStatus::passed, 0.3, 5.0, 6.0),
          row("c", "b", "registers hold a tile of scores", NodeStatus::working, {}, 2.0, {}),
          row("d", "b", "prefetch", NodeStatus::failed, {}, 1.1, {}, "WrongResult"),
          row("e", "a", "half-size accumulators", NodeStatus::open, {}, {}, {}),
          row("f", "root", "two passes", NodeStatus::open, {}, {}, {})};
}

std::string text(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "|\n";
  return all;
}

TreeLook look(int width, int height) {
  TreeLook look;
  look.width = width;
  look.height = height;
  look.best = "b";
  look.baseline = "expert";
  return look;
}

TEST(TreeLines, LooksAsItShould) {
  std::string all;
  for (const int width : {100, 60, 44, 30, 20})
    all += text(tree_lines({.color = false, .utf8 = true}, rows(), look(width, 0))) + "\n";
  all += text(tree_lines({.color = false, .utf8 = false}, rows(), look(70, 0)));
  tests::expect_golden("report/tree_lines.txt", all);
}

TEST(TreeLines, KeepsWhatMattersWhereFewLinesFit) {
  std::string all;
  for (const int height : {7, 5, 3, 1})
    all += text(tree_lines({.color = false, .utf8 = true}, rows(), look(60, height))) + "\n";
  tests::expect_golden("report/tree_lines_low.txt", all);
}

TEST(TreeLines, AProgramThatItsCertificateThrewOutHasAMarkAndWords) {
  std::vector<TreeRow> all = rows();
  all[2].status = NodeStatus::thrown_out;
  all[2].title = "block queries and keys, and say so in a title that is far too long for its line";
  all[2].remark = "thrown out by its certificate (held_out)";
  const std::vector<std::string> lines =
      tree_lines({.color = false, .utf8 = true}, all, look(100, 0));
  EXPECT_EQ(lines[3],
            "│ ├─✗ block queries and keys, an…: thrown out by its certificate (held_out)  0.30x"
            "   6.00x     5.00x");
}

TEST(TreeLines, NoLineIsWiderThanAskedFor) {
  for (int width = 1; width < 130; ++width)
    for (const bool utf8 : {true, false})
      for (const std::string& line :
           tree_lines({.color = true, .utf8 = utf8}, rows(), look(width, 0)))
        EXPECT_LE(columns(line), width) << line;
}

TEST(TreeLines, HeightIsKeptForAnyTree) {
  std::vector<TreeRow> deep = rows();
  for (int i = 0; i < 300; ++i) {
    TreeRow row;
    row.id = "n" + std::to_string(i);
    row.parent = i == 0 ? "root" : "n" + std::to_string(i - 1);
    row.title = "step";
    deep.push_back(row);
  }
  for (int height = 1; height < 40; ++height)
    EXPECT_LE(tree_lines({}, deep, look(40, height)).size(), static_cast<std::size_t>(height));
}

}  // namespace
}  // namespace ksearch::report
