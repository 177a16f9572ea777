#include "evaluate/certificate.h"

#include <gtest/gtest.h>

namespace ksearch::evaluate {
namespace {

Certificate sample() {
  Certificate c;
  c.passed = true;
  c.checks = {{"held_out", true, "right on 5 shapes", {{{"workload", "a"}, {"error", 1e-6}}}},
              {"a_a_ratio", true, "1.001 (0.99 to 1.01)", nullptr}};
  kernel::WorkloadTiming t;
  t.workload = "a";
  t.samples_ns = {1000, 1100};
  t.median_ns = 1050;
  t.low_ns = 900;
  t.high_ns = 1200;
  t.ratios["expert"] = {1.5, 1.4, 1.6, 12};
  t.expert = "torch";
  t.tunables = {{"B", 64}};
  c.heldout = {t};
  c.feedback = {t};
  c.baseline = "expert";
  c.heldout_ratio = {1.5, 1.4, 1.6, 12};
  c.feedback_ratio = {1.6, 1.5, 1.7, 12};
  c.basis = {{"seeds", {{"session", 1}}}};
  return c;
}

TEST(Certificate, RoundTrip) {
  const base::Json json = to_json(sample());
  EXPECT_EQ(json["format"], "ksearch.certificate/1");
  EXPECT_EQ(json["verdict"], "passed");
  const auto read = parse_certificate(json, "c.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_json(*read), json);
}

TEST(Certificate, SummaryNamesTheFirstFailure) {
  Certificate c = sample();
  EXPECT_EQ(c.summary(), "passed");
  c.passed = false;
  c.checks[1].passed = false;
  EXPECT_EQ(c.summary(), "failed: a_a_ratio: 1.001 (0.99 to 1.01)");
}

TEST(Certificate, AVerdictThatItsChecksDoNotBearIsRefused) {
  base::Json json = to_json(sample());
  json["checks"][0]["passed"] = false;
  EXPECT_EQ(parse_certificate(json, "c.json").error().text(),
            "c.json: the verdict is passed but a check is not");
}

TEST(Certificate, NewerVersionsAreRefused) {
  base::Json json = to_json(sample());
  json["format"] = "ksearch.certificate/2";
  EXPECT_FALSE(parse_certificate(json, "c.json"));
}

TEST(Certificate, UnknownKeysAreErrors) {
  base::Json json = to_json(sample());
  json["extra"] = 1;
  EXPECT_FALSE(parse_certificate(json, "c.json"));
}

}  // namespace
}  // namespace ksearch::evaluate
