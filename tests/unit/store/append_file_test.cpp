#include "store/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "os/files.h"

namespace ksearch::store {
namespace {

/// No file of this process may grow past `bytes`: what a full disk does to a write.
class Full {
 public:
  explicit Full(rlim_t bytes) {
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~Full() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = nullptr;
};

TEST(AppendFile, OfAWriteThatFailsNothingStays) {
  const os::TempFolder temp = os::TempFolder::create("ksearch-append").value();
  const auto path = temp.path() / "file";
  AppendFile file = AppendFile::open(path, 0).value();
  ASSERT_TRUE(file.append("whole\n"));
  {
    const Full full(10);
    const auto torn = file.append("does not fit\n");
    ASSERT_FALSE(torn);
    EXPECT_EQ(torn.error().where, path.string());
  }
  EXPECT_EQ(os::read_file(path).value(), "whole\n");
  ASSERT_TRUE(file.append("fits again\n"));
  EXPECT_EQ(os::read_file(path).value(), "whole\nfits again\n");
}

}  // namespace
}  // namespace ksearch::store
