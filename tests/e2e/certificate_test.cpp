// A certificate on the real CPU target.
#include <gtest/gtest.h>

#include "cpu_lab.h"

namespace ksearch::evaluate {
namespace {

TEST(CpuCertificate, AnHonestKernelPassesEveryCheckButPerhapsTheNoisyOnes) {
  testing::CpuLab lab;
  CpuSession& session = lab.session("softmax");
  const auto program = lab.program("softmax", testing::honest_softmax(0));
  const auto c = session.certify(program, {}, [](std::string_view) {});
  ASSERT_TRUE(c) << c.error().text();
  // A test asserts no time: a busy machine may fail these.
  const std::set<std::string> timed{"a_a_ratio", "ratio", "empty_floor"};
  for (const auto& check : c->checks) {
    std::printf("    %s %s: %s\n", check.passed ? "ok  " : "FAIL", check.name.c_str(),
                check.finding.c_str());
    if (!timed.contains(check.name))
      EXPECT_TRUE(check.passed) << check.name << ": " << check.finding;
  }
  EXPECT_TRUE(parse_certificate(to_json(*c), "c"));
}

TEST(CpuCertificate, AKernelThatIsWrongOnAHeldOutShapeFails) {
  testing::CpuLab lab;
  std::string source = testing::honest_softmax(1);
  source.insert(source.find("  for (long r"), "  if (cols == 333) rows /= 2;\n");
  const auto c =
      lab.session("softmax").certify(lab.program("softmax", source), {}, [](std::string_view) {});
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_FALSE(c->passed);
  EXPECT_EQ(c->checks.at(0).name, "held_out");
  EXPECT_NE(c->checks.at(0).finding.find("h100x333"), std::string::npos) << c->checks.at(0).finding;
}

}  // namespace
}  // namespace ksearch::evaluate
