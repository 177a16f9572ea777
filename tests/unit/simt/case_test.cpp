#include "simt/case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "os/files.h"
#include "simt/fill.h"

namespace ksearch::simt {
namespace {

std::vector<float> floats(const Init& init, std::size_t n) {
  Buffer buffer{.name = "x", .shape = {static_cast<std::int64_t>(n)}, .init = init};
  std::vector<float> values(n);
  EXPECT_TRUE(fill(buffer, std::as_writable_bytes(std::span(values))));
  return values;
}

// The values are the format's own check (seed 1, elements 0 to 3).
TEST(Fill, UniformIsTheFormats) {
  const auto v = floats({.kind = Init::Kind::uniform, .seed = 1, .low = -1, .high = 1}, 4);
  EXPECT_FLOAT_EQ(v[0], 0.90816438f);
  EXPECT_FLOAT_EQ(v[1], -0.84276056f);
  EXPECT_FLOAT_EQ(v[2], -0.20501029f);
  EXPECT_FLOAT_EQ(v[3], -0.60170126f);
}

TEST(Fill, NormalIsTheFormats) {
  const auto v = floats({.kind = Init::Kind::normal, .seed = 1}, 4);
  EXPECT_FLOAT_EQ(v[0], 1.1087441f);
  EXPECT_FLOAT_EQ(v[1], -0.36168659f);
  EXPECT_FLOAT_EQ(v[2], -1.3094239f);
  EXPECT_FLOAT_EQ(v[3], 2.0257142f);
}

TEST(Fill, IntsAreTheFormats) {
  const auto v = floats({.kind = Init::Kind::ints, .seed = 1, .low = 0, .high = 1000}, 4);
  EXPECT_EQ(v, (std::vector<float>{911, 666, 715, 55}));
}

TEST(Fill, IotaStartsAgainAtModulo) {
  Init init{.kind = Init::Kind::iota, .start = 1, .step = 2};
  init.modulo = 3;
  EXPECT_EQ(floats(init, 5), (std::vector<float>{1, 3, 5, 1, 3}));
}

TEST(Fill, HalfIsRoundedOnce) {
  // 1 + 2^-11 + 2^-40 is above the tie between 1 and 1 + 2^-10; in float32 it is the tie.
  Buffer buffer{.name = "x", .dtype = kernel::DType::float16, .shape = {1}};
  buffer.init = {.kind = Init::Kind::constant, .value = 1 + 0x1p-11 + 0x1p-40};
  std::uint16_t bits = 0;
  ASSERT_TRUE(fill(buffer, std::as_writable_bytes(std::span(&bits, 1))));
  EXPECT_EQ(bits, 0x3c01);
}

TEST(Fill, HalfIsTheNearestAndEvenInTheMiddle) {
  const auto half = [](double value) {
    const std::string bytes = encode(kernel::DType::float16, value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data(), sizeof(bits));
    return bits;
  };
  // Each half, what lies in the middle between it and the next one, and a hair beside that.
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    const auto above = static_cast<std::uint16_t>(bits + 1);
    const double value = kernel::float_from_half(bits);
    const double next = above < 0x7c00 ? kernel::float_from_half(above) : 65536;
    const double middle = (value + next) / 2;
    ASSERT_EQ(half(value), bits);
    ASSERT_EQ(half(-value), bits | 0x8000) << value;
    ASSERT_EQ(half(middle), bits % 2 == 0 ? bits : above) << middle;
    ASSERT_EQ(half(std::nextafter(middle, 0)), bits) << middle;
    ASSERT_EQ(half(std::nextafter(middle, 1e300)), above) << middle;
  }
  EXPECT_EQ(half(1e300), 0x7c00);
  EXPECT_EQ(half(-1e-300), 0x8000);
  EXPECT_EQ(half(std::numeric_limits<double>::quiet_NaN()), 0x7e00);
}

TEST(Fill, RefusesAListOfAnotherLength) {
  Buffer buffer{.name = "x", .shape = {2}};
  buffer.init = {.kind = Init::Kind::ints, .values = std::vector<double>{1, 2, 3}};
  float values[2];
  const auto result = fill(buffer, std::as_writable_bytes(std::span(values)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), "x: 3 values are given for 2 elements");
}

constexpr const char* kCase = R"({
  "style": "full",
  "launches": [{"kernel": "k", "groups": [4, 1, 1], "group_size": [64, 1, 1],
                "grid_threads": [250, 1, 1], "group_memory_bytes": [128],
                "function_constants": {"3": 2, "7": true}, "bind": {"0": "x"}}],
  "buffers": [{"name": "x", "index": 0, "dtype": "float16", "shape": [2, 3], "role": "inout",
               "init": {"kind": "const", "params": {"value": 1}}}],
  "expect": {"verdict": "clean"}, "reference": "return {}", "origin": "here"
})";

TEST(Case, ReadsALaunch) {
  const auto all = parse_case(kCase, "case.json", "source");
  ASSERT_TRUE(all) << all.error().text();
  ASSERT_EQ(all->launches.size(), 1u);
  const Launch& launch = all->launches[0];
  EXPECT_EQ(launch.groups[0], 4u);
  EXPECT_EQ((*launch.threads)[0], 250u);
  EXPECT_EQ(launch.group_memory, (std::vector<std::uint32_t>{128}));
  EXPECT_EQ(launch.constants.at(3), "2");
  EXPECT_EQ(launch.constants.at(7), "true");
  EXPECT_EQ(all->buffers[0].bytes(), 12u);
  EXPECT_EQ(all->buffers[0].role, Role::inout);
}

TEST(Case, NamesAnUnknownKey) {
  const auto all = parse_case(R"({"launches": [], "buffers": [], "lunches": 1})", "c.json", "");
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().text().find("lunches"), std::string::npos);
}

TEST(Case, RefusesABoundBufferThatIsNone) {
  std::string text = kCase;
  text.replace(text.find("\"0\": \"x\""), 8, "\"0\": \"z\"");
  const auto all = parse_case(text, "c.json", "");
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().text(), "c.json: bind names \"z\", which is no buffer");
}

TEST(Case, ABuffersNameIsAFileOfTheDumpAndItsIndexSmall) {
  const auto with = [](std::string_view before, std::string_view after) {
    std::string text = kCase;
    text.replace(text.find(before), before.size(), after);
    const auto all = parse_case(text, "c.json", "");
    return all ? "" : all.error().text();
  };
  EXPECT_NE(with("\"name\": \"x\"", "\"name\": \"../x\"").find("without /"), std::string::npos);
  EXPECT_NE(with("\"index\": 0", "\"index\": 4294967296").find("0 to 30"), std::string::npos);
}

TEST(Case, EveryTruncationIsAnError) {
  const std::string text = kCase;
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_FALSE(parse_case(text.substr(0, n), "c.json", "")) << n;
}

TEST(Case, StartContentsMayBeAFileBesideIt) {
  const auto folder = os::TempFolder::create("case-test");
  ASSERT_TRUE(folder);
  const auto write = [&](const char* name, std::string_view text) {
    ASSERT_TRUE(os::write_file(folder->path() / name, text));
  };
  write("kernel.metal", "y[0] = x[0];");
  write("x.start", std::string_view("\0\0\x80\x3f\0\0\0\x40", 8));
  write("case.json", R"({"style": "metal_kernel_body", "body": {"inputs": ["x"], "outputs": ["y"],
    "math_mode": "fast"},
    "launches": [{"kernel": "k", "group_size": [1], "grid_threads": [1]}],
    "buffers": [{"name": "x", "dtype": "float32", "shape": [2, 1], "strides": [1, 7], "role": "in",
                 "init": {"kind": "file", "params": {"path": "x.start"}}},
                {"name": "y", "dtype": "float32", "shape": [1], "role": "out"}]})");
  const auto all = load_case(folder->path() / "case.json");
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_TRUE(all->body->fast_math);
  EXPECT_EQ(all->buffers[0].bytes(), 8u);  // the last dimension has one element
  std::vector<float> values(2);
  ASSERT_TRUE(fill(all->buffers[0], std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
}

TEST(Case, ABufferWithStridesHoldsWhatLiesBetween) {
  Buffer buffer{.name = "x", .shape = {4, 2}};
  buffer.strides = {8, 3};
  EXPECT_EQ(buffer.elements(), 8);
  EXPECT_EQ(buffer.bytes(), 28 * 4u);
  buffer.shape = {0, 2};
  EXPECT_EQ(buffer.bytes(), 0u);
}

TEST(ParseBuffer, ReadsEachPart) {
  const auto x = parse_buffer("x=f16:64x128:uniform:-1:1");
  ASSERT_TRUE(x) << x.error().text();
  EXPECT_EQ(x->name, "x");
  EXPECT_EQ(x->dtype, kernel::DType::float16);
  EXPECT_EQ(x->shape, (std::vector<std::int64_t>{64, 128}));
  EXPECT_EQ(x->role, Role::in);
  EXPECT_EQ(x->init.low, -1);
  const auto out = parse_buffer("out=float32:8");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->role, Role::out);
}

TEST(ParseBuffer, SaysWhatIsWrong) {
  for (const char* text : {"x", "=f32:1", "x=f33:1", "x=f32", "x=f32:a", "x=f32:1:sometimes",
                           "x=f32:1:const:z", "x=f32:1x"})
    EXPECT_FALSE(parse_buffer(text)) << text;
}

}  // namespace
}  // namespace ksearch::simt
