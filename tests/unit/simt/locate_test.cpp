#include "simt/locate.h"

#include <gtest/gtest.h>

namespace ksearch::simt {
namespace {

TEST(Locate, TakesTheInnermostLineThatIsTheUsers) {
  const auto lines = parse_addr2line(
      "0x0000000000001f30\n/build/src/./ks_vector.h:41\n/build/src/./ks_simd.h:12\n"
      "/build/src/kernel.metal:22\n/build/src/kernel.metal:30\n"
      "0x0000000000001f40\n??:0\n"
      "0x0000000000001f50\nkernel.metal:7 (discriminator 2)\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines.at(0x1f30), (SourceLine{"kernel.metal", 22}));
  EXPECT_EQ(lines.at(0x1f50), (SourceLine{"kernel.metal", 7}));
}

}  // namespace
}  // namespace ksearch::simt
