#include "os/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/shared_memory.h"

namespace ksearch::os {
namespace {
namespace fs = std::filesystem;

TEST(Files, WritesWhatItReads) {
  const auto folder = TempFolder::create("ks-test");
  ASSERT_TRUE(folder) << folder.error().text();
  const fs::path path = folder->path() / "deep" / "a.txt";
  ASSERT_TRUE(write_file(path, std::string_view("a\0b", 3)));
  EXPECT_EQ(*read_file(path), std::string("a\0b", 3));
}

TEST(Files, LeavesNoTemporaryFileBehind) {
  const auto folder = TempFolder::create("ks-test");
  ASSERT_TRUE(write_file(folder->path() / "a", "1"));
  ASSERT_TRUE(write_file(folder->path() / "a", "2"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 1);
}

TEST(Files, MissingFileNamesItsPath) {
  const auto bytes = read_file("/no/such/file");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().text(), "/no/such/file: cannot open: No such file or directory");
}

TEST(Files, RefusesMoreThanTheLimit) {
  const auto folder = TempFolder::create("ks-test");
  ASSERT_TRUE(write_file(folder->path() / "a", "123456"));
  EXPECT_FALSE(read_file(folder->path() / "a", 5));
  EXPECT_TRUE(read_file(folder->path() / "a", 6));
}

TEST(TempFolder, IsPrivateAndRemovedAtTheEnd) {
  fs::path path;
  {
    const auto folder = TempFolder::create("ks-test");
    path = folder->path();
    std::ofstream(path / "x") << "y";
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(CacheFolder, FollowsTheXdgSpecification) {
  EXPECT_EQ(cache_folder({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), fs::path("/x/ksearch"));
  EXPECT_EQ(cache_folder({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}),
            fs::path("/h/.cache/ksearch"));
  EXPECT_TRUE(cache_folder({}).is_absolute());
}

TEST(SharedMemory, GrowsAndKeepsItsBytes) {
  auto memory = SharedMemory::create("test");
  ASSERT_TRUE(memory) << memory.error().text();
  ASSERT_TRUE(memory->resize(4096));
  memory->bytes()[5] = std::byte{7};
  ASSERT_TRUE(memory->resize(1 << 20));
  EXPECT_EQ(memory->bytes().size(), std::size_t{1} << 20);
  EXPECT_EQ(memory->bytes()[5], std::byte{7});
}

TEST(SharedMemory, CannotBeShrunkByWhoeverHoldsIt) {
  auto memory = SharedMemory::create("test");
  ASSERT_TRUE(memory->resize(8192));
  EXPECT_NE(::ftruncate(memory->descriptor(), 0), 0);
}

}  // namespace
}  // namespace ksearch::os
