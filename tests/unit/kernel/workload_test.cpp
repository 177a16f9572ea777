#include "kernel/workload.h"

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

std::string workload_error(const std::string& text) {
  const auto w = parse_workload(*base::parse_json(text, "w"), definition(), "w");
  return w ? "fine" : w.error().text();
}

TEST(Workload, GoesThereAndBack) {
  const Workload w = workload();
  const auto again = parse_workload(to_json(w), definition(), "w");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(w));
}

TEST(Workload, BindsEverythingOnceWithinRange) {
  const std::string good = kWorkloadText;
  EXPECT_EQ(workload_error(good), "fine");
  EXPECT_EQ(workload_error(with(good, "\"B\": 3, ", "")), "w: axes.B: is missing");
  EXPECT_EQ(workload_error(with(good, "\"B\": 3", "\"B\": 0")),
            "w: axes.B: is out of range 1 .. 2^40");
  EXPECT_EQ(workload_error(with(good, "\"B\": 3", "\"B\": 3, \"N\": 16")).substr(0, 36),
            "w: axes.N: is not a key of this obje");
  EXPECT_EQ(workload_error(with(good, "bfloat16", "float16")),
            "w: types.T: \"float16\" is none of the definition's types");
  EXPECT_EQ(workload_error(with(good, "\"causal\": true", "\"causal\": 1")),
            "w: params.causal: is number, true or false is wanted");
  EXPECT_EQ(workload_error(with(good, "[\"w\"]", "[\"x\"]")),
            "w: absent: \"x\" is no optional input");
  EXPECT_EQ(workload_error(with(good, "\"L\": 8", "\"L\": 7")),
            "w: \"small\" breaks the constraint L % 2 == 0");
}

TEST(Workload, KnowsShapes) {
  const auto shapes = shapes_of(definition(), workload());
  ASSERT_TRUE(shapes);
  ASSERT_EQ(shapes->size(), 4u);  // w is absent
  EXPECT_EQ((*shapes)[0].name, "x");
  EXPECT_EQ((*shapes)[0].bytes(), 3u * 8 * 2);
  EXPECT_EQ((*shapes)[2].shape, (std::vector<std::int64_t>{4}));
  EXPECT_EQ((*shapes)[3].elements(), 12);
}

TEST(Workload, RefusesSizesThatOverflow) {
  EXPECT_NE(workload_error(with(with(kWorkloadText, "\"L\": 8", "\"L\": 1099511627776"), "\"B\": 3",
                                "\"B\": 1099511627776")),
            "fine");
}

TEST(Workload, CountsWork) {
  const auto work = work_of(definition(), workload());
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 24);
  EXPECT_EQ(work->bytes, 48);
}

}  // namespace
}  // namespace ksearch::kernel
