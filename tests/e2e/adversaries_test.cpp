// The adversarial kernels that lie beside the checkout (shared/cases/adversaries): each is answered
// as its case.json says.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cpu_lab.h"

namespace ksearch::evaluate {
namespace {

using testing::CpuLab;
using testing::one_call;
namespace fs = std::filesystem;

fs::path cases() { return fs::path(KSEARCH_SOURCE_DIR).parent_path() / "shared/cases/adversaries"; }

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  std::error_code ignored;
  for (const auto& e : fs::directory_iterator(cases(), ignored))
    if (fs::exists(e.path() / "case.json")) list.push_back(e.path().filename().string());
  std::sort(list.begin(), list.end());
  if (list.empty()) list.push_back("none");
  return list;
}

/// What the cases call it: Unsafe with an access outside is OutOfBounds, Measured is honest.
std::string answer(const kernel::Outcome& o) {
  const std::string kind(kernel::kind(o));
  if (kind == "Measured") return "Measured-honestly";
  if (const auto* u = std::get_if<kernel::Unsafe>(&o.verdict))
    for (const auto& f : u->findings)
      if (f.kind == "out_of_bounds") return "OutOfBounds";
  return kind;
}

/// Without the static check the sandbox, the limits and the comparison must do.
CpuLab& lab_of(bool static_check) {
  static CpuLab checked(true), open(false);
  return static_check ? checked : open;
}

class Adversaries : public ::testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(Adversaries, AreAnsweredAsTheirCasesSay) {
  const auto& [name, static_check] = GetParam();
  if (name == "none") GTEST_SKIP() << "no shared/cases/adversaries beside the checkout";
  const fs::path folder = cases() / name;
  const auto c = base::parse_json(read(folder / "case.json"), "case.json");
  ASSERT_TRUE(c);
  const std::string task = (*c)["task"];
  CpuLab& lab = lab_of(static_check);
  const std::string call = one_call(task);
  const auto honest = lab.program(task, read(cases() / "honest" / (task + ".cpp")) + call);
  for (const auto& effect : (*c)["forbidden_effects"])
    if (const std::string e = effect; e.starts_with("tmp:"))
      fs::remove(fs::temp_directory_path() / e.substr(4));

  const auto o = lab.judge(task, read(folder / "cand.cpp") + call, honest);
  std::set<std::string> right{(*c)["expect"].get<std::string>()};
  for (const auto& other : (*c)["also_ok"]) right.insert(other.get<std::string>());
  EXPECT_TRUE(right.contains(answer(o))) << kernel::summary(o);
  std::printf("    %s: %s\n", name.c_str(), kernel::summary(o).substr(0, 240).c_str());

  const std::string told = kernel::to_json(o).dump();
  for (const auto& effect : (*c)["forbidden_effects"]) {
    const std::string e = effect;
    if (e.starts_with("tmp:")) EXPECT_FALSE(fs::exists(fs::temp_directory_path() / e.substr(4)));
    if (e.starts_with("text of an included file")) {
      EXPECT_EQ(told.find("root:x:0"), std::string::npos);
      EXPECT_EQ(told.find("PATH="), std::string::npos);
    }
  }
  if (const auto* m = std::get_if<kernel::Measured>(&o.verdict);
      m && c->contains("max_gain_over_honest"))
    EXPECT_LE(m->ratios.at("parent").low, (*c)["max_gain_over_honest"].get<double>());

  const auto after = lab.judge(
      task, read(cases() / "honest" / (task + ".cpp")) + call + "\n#define AFTER_" + name + " 1\n");
  EXPECT_EQ(kernel::kind(after), "Measured") << kernel::summary(after);
}

INSTANTIATE_TEST_SUITE_P(Shared, Adversaries,
                         ::testing::Combine(::testing::ValuesIn(names()), ::testing::Bool()),
                         [](const auto& info) {
                           return "case_" + std::get<0>(info.param) +
                                  (std::get<1>(info.param) ? "" : "_without_static_check");
                         });

}  // namespace
}  // namespace ksearch::evaluate
