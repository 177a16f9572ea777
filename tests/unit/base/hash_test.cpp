#include "base/hash.h"

#include <gtest/gtest.h>

namespace ksearch::base {
namespace {

// FIPS 180-2, appendix B.1.
TEST(Hash, Sha256OfTheStandardsExample) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, ShortHashIsTheBeginning) { EXPECT_EQ(short_hash("abc"), "ba7816bf8f01cfea"); }

// Fowler, Noll, Vo: the published 64-bit FNV-1a of "a".
TEST(Hash, Fnv1aOfThePublishedExample) { EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cull); }

}  // namespace
}  // namespace ksearch::base
