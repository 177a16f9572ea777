#include "simt/headers.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace ksearch::simt {
namespace {

TEST(Headers, AreReadInOrderByTheirPathInTheFolder) {
  const auto folder = os::TempFolder::create("ks-headers");
  ASSERT_TRUE(folder);
  for (const char* name : {"b.h", "a.hpp", "deep/c.metal", "d.txt"})
    ASSERT_TRUE(os::write_file(folder->path() / name, name));
  const auto deep = read_headers(folder->path(), true);
  ASSERT_TRUE(deep);
  ASSERT_EQ(deep->size(), 3u);
  EXPECT_EQ((*deep)[0].first, "a.hpp");
  EXPECT_EQ((*deep)[2].first, "deep/c.metal");
  EXPECT_EQ((*deep)[2].second, "deep/c.metal");
  EXPECT_EQ(read_headers(folder->path(), false)->size(), 2u);
}

TEST(Headers, NoFolderIsAnError) { EXPECT_FALSE(read_headers("/nowhere/at/all", true)); }

}  // namespace
}  // namespace ksearch::simt
