#include "target/metal/gpu_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/files.h"

namespace ksearch::target {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kHardware = fs::path(KSEARCH_SOURCE_DIR) / "knowledge" / "hardware";

TEST(GpuProfile, EveryChipLoads) {
  const std::vector<std::string> names = list_gpu_profiles(kHardware);
  EXPECT_GE(names.size(), 18u);
  for (const std::string& name : names) {
    const auto profile = load_gpu_profile(kHardware, name);
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->name, name);
    EXPECT_TRUE(profile->architecture.starts_with("applegpu_g")) << name;
    for (const char* kind : {"float.fma", "int.add", "simd.shuffle", "matrix.half"})
      EXPECT_TRUE(profile->issue_cycles.contains(kind)) << name << " " << kind;
  }
}

// Published rates (philipturner/metal-benchmarks): 10.617 TFLOP/s, 8 KiB first level, 48 MiB SLC.
TEST(GpuProfile, M1MaxIsWhatWasPublished) {
  const GpuProfile p = load_gpu_profile(kHardware, "apple-m1-max").value();
  EXPECT_NEAR(p.flops() / 1e12, 10.617, 0.001);
  EXPECT_EQ(p.at("cores"), 32);
  EXPECT_EQ(p.at("slc_bytes"), 48 << 20);
  EXPECT_EQ(p.at("l1_bytes"), 8192);
  EXPECT_EQ(p.family, "apple7");
  ASSERT_EQ(p.thread_limits.size(), 10u);
  EXPECT_EQ(p.thread_limits[1].half_registers, 112);
  EXPECT_EQ(p.thread_limits[1].threads, 896);
  EXPECT_EQ(p.figures.at("clock_hz").confidence, 'A');
}

TEST(GpuProfile, AFamilyChangesWhatItSays) {
  const GpuProfile m1 = load_gpu_profile(kHardware, "apple-m1").value();
  const GpuProfile m5 = load_gpu_profile(kHardware, "apple-m5").value();
  EXPECT_EQ(m5.family, "apple10");
  EXPECT_EQ(m1.at("half_rate"), 1);
  EXPECT_EQ(m5.at("half_rate"), 2);
  EXPECT_EQ(m1.issue_cycles.at("int.mul").value, 4);
  EXPECT_EQ(m5.issue_cycles.at("int.mul").value, 2);
  EXPECT_EQ(m5.issue_cycles.at("float.add").value, m1.issue_cycles.at("float.add").value);
  // 10 cores * 128 lanes * 2 * 1.578 GHz
  EXPECT_NEAR(m5.flops() / 1e12, 4.04, 0.01);
}

TEST(GpuProfile, ExpressionsSeeIt) {
  const kernel::HardwareProfile h =
      as_hardware(load_gpu_profile(kHardware, "apple-m3-max").value());
  EXPECT_EQ(h.kind, "metal");
  EXPECT_EQ(h.group_memory, 32768);
  EXPECT_EQ(h.max_group_size, 1024);
  EXPECT_TRUE(h.features.contains("dynamic_caching"));
}

class OwnProfile : public testing::Test {
 protected:
  std::string fault(const std::string& text) {
    EXPECT_TRUE(os::write_file(folder_.path() / "sources.json", "{\"X\": \"a test\"}"));
    EXPECT_TRUE(os::write_file(folder_.path() / "apple-x.json", text));
    const auto profile = load_gpu_profile(folder_.path(), "apple-x");
    return profile ? "none" : profile.error().text();
  }
  os::TempFolder folder_ = os::TempFolder::create("ksearch-gpu").value();
};

TEST_F(OwnProfile, FaultsNameThePlace) {
  const std::string head = R"({"format": "ksearch.gpu/1", "name": "x", )";
  EXPECT_THAT(fault("[]"), HasSubstr("apple-x.json"));
  EXPECT_THAT(
      fault(head + R"("figures": {"speed": {"value": 1, "source": "X", "confidence": "A"}}})"),
      HasSubstr("\"speed\" is no figure"));
  EXPECT_THAT(
      fault(head + R"("figures": {"cores": {"value": 1, "source": "Y", "confidence": "A"}}})"),
      HasSubstr("\"Y\" is not in sources.json"));
  EXPECT_THAT(
      fault(head + R"("figures": {"cores": {"value": 1, "source": "X", "confidence": "Z"}}})"),
      HasSubstr("figures.cores.confidence"));
  EXPECT_THAT(
      fault(head + R"("figures": {"cores": {"value": 1, "source": "X", "confidence": "A"}}})"),
      HasSubstr("has clock_hz"));
  EXPECT_THAT(
      fault(R"({"format": "ksearch.gpu/1", "name": "x", "extends": "apple-x", "figures": {}})"),
      HasSubstr("without end"));
  EXPECT_THAT(load_gpu_profile(folder_.path(), "apple-y").error().text(), HasSubstr("apple-x"));
}

}  // namespace
}  // namespace ksearch::target
