// Kernels that do anything but compute: each ends as a finding or an error, none reaches the
// system, none hangs.
#include <filesystem>

#include "kernel_test.h"

namespace ksearch::simt {
namespace {

class Hostile : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (builder_ && builder_->sandbox().way() == os::SandboxWay::none)
      GTEST_SKIP() << "kernels run unconfined here";
  }
  /// What came of it: kinds of findings, or the error's text.
  std::string outcome(const std::string& before, const std::string& body) {
    const Case all = make(before +
                              "kernel void k(device uint* y [[buffer(0)]],\n"
                              "  uint i [[thread_position_in_grid]]) {\n  y[i] = i;\n  " +
                              body + "\n}\n",
                          1, 32, {"y=u32:32"});
    CheckOptions options;
    options.worker = test_worker();
    options.time = std::chrono::seconds(60);
    options.patience = std::chrono::seconds(1);
    const auto report = check(*builder_, all, options);
    if (!report) return report.error().text();
    std::string text;
    for (const Finding& finding : report->findings) text += finding.kind + ": " + finding.message;
    return text;
  }
  static testing::AssertionResult has(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << '"' << text << "\" lacks \"" << part << '"';
  }
};

#if defined(__x86_64__)
TEST_F(Hostile, ASystemCallIsAFinding) {
  const std::string call =
      "long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"({}), \"D\"({}), \"S\"({}), \"d\"(0)"
      " : \"rcx\", \"r11\", \"memory\");";
  const auto with = [&](const std::string& number, const std::string& first,
                        const std::string& second) {
    std::string text = call;
    for (const std::string& value : {number, first, second})
      text.replace(text.find("{}"), 2, value);
    return text;
  };
  EXPECT_TRUE(has(outcome("", with("57ul", "0ul", "0ul")), "system_call: It called fork"));
  EXPECT_TRUE(
      has(outcome("", with("2ul", "\"/etc/passwd\"", "0ul")), "system_call: It called open"));
  EXPECT_TRUE(has(outcome("", with("41ul", "2ul", "1ul")), "system_call: It called socket"));
  EXPECT_TRUE(has(outcome("", with("62ul", "1ul", "9ul")), "system_call: It called kill"));
  EXPECT_TRUE(has(outcome("", with("157ul", "4ul", "1ul")), "system_call: It called prctl"));
}
#endif

TEST_F(Hostile, TheCLibraryOpensNothing) {
  const std::string file = "/tmp/ksearch-simt-hostile";
  std::filesystem::remove(file);
  EXPECT_TRUE(has(
      outcome("extern \"C\" int creat(const char*, unsigned);\n", "creat(\"" + file + "\", 0600);"),
      "it called creat (makes a file)"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(
      has(outcome("extern \"C\" int fork();\n", "fork();"), "starts a thread or a process"));
  EXPECT_TRUE(has(outcome("extern \"C\" void abort();\n", "abort();"), "signal 6"));
}

TEST_F(Hostile, InitialisersOfTheObjectAreConfinedToo) {
  EXPECT_TRUE(has(outcome("extern \"C\" int creat(const char*, unsigned);\n"
                          "__attribute__((constructor)) static void early() {\n"
                          "  creat(\"/tmp/ksearch-simt-hostile\", 0600);\n}\n",
                          ""),
                  "it called creat (makes a file)"));
  EXPECT_TRUE(has(outcome("__attribute__((constructor)) static void early() {\n"
                          "  *(volatile int*)8 = 1;\n}\n",
                          ""),
                  "outside of its own code, signal 11"));
}

TEST_F(Hostile, MemoryHasAnEnd) {
  EXPECT_TRUE(
      has(outcome("extern \"C\" void* malloc(unsigned long);\n",
                  "for (;;) { volatile device char* p = (volatile device char*)malloc(1ul << 26);\n"
                  "  for (ulong n = 0; n < 1ul << 26; n += 4096) p[n] = 1; }"),
          "out_of_bounds: An access through a null pointer"));
}

TEST_F(Hostile, ALoopWithoutEndIsAFinding) {
  EXPECT_TRUE(has(outcome("", "for (uint n = 0; n != 1; n += 2) {}"), "livelock"));
}

TEST_F(Hostile, AGridThatNumbersCannotCountIsAnError) {
  Case all = make("kernel void k(device uint* y [[buffer(0)]]) { y[0] = 1; }\n", 1, 1, {"y=u32:1"});
  all.launches[0].groups = {65536, 65536, 1};
  EXPECT_TRUE(has(error(all), "a grid of 65536 x 65536 x 1 groups is too large"));
  all.launches[0].groups = {1u << 31, 1, 1};
  all.launches[0].group_size = {4, 1, 1};
  EXPECT_TRUE(has(error(all), "is too large"));
}

TEST_F(Hostile, AnEarlyExitIsAnError) {
  EXPECT_TRUE(has(outcome("extern \"C\" void _exit(int);\n", "_exit(0);"), "left with status 0"));
}

}  // namespace
}  // namespace ksearch::simt
