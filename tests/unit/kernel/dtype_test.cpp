#include "kernel/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ksearch::kernel {
namespace {

TEST(DType, NamesGoThereAndBack) {
  for (const char* text : {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "int64",
                           "int8", "uint16", "bool"}) {
    const auto type = parse_dtype(text);
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(name(*type), text);
  }
  EXPECT_FALSE(parse_dtype("float"));
}

// IEEE 754 binary16: 1 is 0x3c00, the largest finite 65504, 65520 rounds to infinity.
TEST(DType, HalfRoundsToNearestEven) {
  EXPECT_EQ(half_from_float(1.0f), 0x3c00);
  EXPECT_EQ(half_from_float(65504.0f), 0x7bff);
  EXPECT_EQ(half_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(half_from_float(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(float_from_half(0x3555), 0x1.554p-2f);
}

// bfloat16 keeps the upper 16 bits of binary32; a tie goes to the even one.
TEST(DType, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(bfloat16_from_float(1.0f), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(float_from_bfloat16(0xc000), -2.0f);
  EXPECT_TRUE(std::isnan(
      float_from_bfloat16(bfloat16_from_float(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace ksearch::kernel
