#include "toolchain/diagnostics.h"

#include <gtest/gtest.h>

namespace ksearch::toolchain {
namespace {

TEST(TrimLog, TakesFoldersOut) {
  EXPECT_EQ(trim_log("/home/u/work/src/a.cpp:1:2: error: /home/u/work no\n",
                     {"/home/u/work", "/home/u/work/src"}),
            "a.cpp:1:2: error:  no");
}

TEST(TrimLog, DropsWarningsAndTheirNotes) {
  EXPECT_EQ(trim_log("a.cpp:1:1: warning: w\n  1 | x\na.cpp:2:1: note: n\na.cpp:3:1: error: "
                     "e\na.cpp:4:1: note: kept\n",
                     {}),
            "a.cpp:3:1: error: e\na.cpp:4:1: note: kept");
}

TEST(TrimLog, KeepsTheFirstErrorsWithinTheLimit) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "a.cpp:" + std::to_string(i) + ":1: error: something\n";
  const std::string kept = trim_log(log, {}, 200);
  EXPECT_LE(kept.size(), 200u);
  EXPECT_TRUE(kept.starts_with("a.cpp:0:1: error: something\na.cpp:1:1"));
  EXPECT_TRUE(kept.ends_with("... (more follows)"));
}

TEST(TrimLog, DropsControlCharacters) { EXPECT_EQ(trim_log("a\x1b[31mb\x01\x7f", {}), "a[31mb"); }

TEST(TrimLog, EveryTruncationIsHandled) {
  const std::string log = "a.cpp:1:1: warning: w\n\n\na.cpp: error: \xff\xfe\n";
  for (std::size_t n = 0; n <= log.size(); ++n) trim_log(log.substr(0, n), {"a", ""}, 30);
}

}  // namespace
}  // namespace ksearch::toolchain
