#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/placeholder.h"
#include "llm/reply.h"

namespace ksearch::llm {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kPlan = "```json\n{\"launches\": []}\n```\n";

Read<ProgramReply> read(const std::string& text, RawReply::Stop stop = RawReply::Stop::stop,
                        const std::vector<std::string>& expected = {}) {
  return read_program({text, stop}, expected);
}
std::string fault(const Read<ProgramReply>& read) {
  return read ? "none" : std::string(name(read.error().fault));
}

TEST(ReadProgram, ABlockIsNamedInManyWays) {
  for (const std::string head :
       {"```cpp a/b.cpp", "```cpp:a/b.cpp", "``` a/b.cpp", "```a/b.cpp", "```cpp title=\"a/b.cpp\"",
        "```cpp {file=a/b.cpp}", "**a/b.cpp**\n\n```cpp", "### File: `a/b.cpp`\n```c++",
        "a/b.cpp:\n```", "`a/b.cpp` (complete)\n```cpp", "The whole of `a/b.cpp`:\n~~~cpp",
        "```cpp\n// a/b.cpp"}) {
    const std::string fence = head.find("~~~") == std::string::npos ? "```\n" : "~~~\n";
    const auto program = read(head + "\nint x;\n" + fence + kPlan);
    ASSERT_TRUE(program) << head << ": " << program.error().message;
    ASSERT_EQ(program->files.size(), 1u) << head;
    EXPECT_EQ(program->files[0].path, "a/b.cpp") << head;
    EXPECT_THAT(program->files[0].text, HasSubstr("int x;\n")) << head;
  }
}

TEST(ReadProgram, NeverGuessesAName) {
  EXPECT_EQ(fault(read(std::string("```cpp\nint x;\n```\n") + kPlan)), "missing_name");
  EXPECT_EQ(fault(read(std::string("**a.cpp**\n```cpp b.cpp\nint x;\n```\n") + kPlan)),
            "ambiguous");
  const auto one =
      read(std::string("```cpp\nint x;\n```\n") + kPlan, RawReply::Stop::stop, {"a.cpp"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->files[0].path, "a.cpp");
  EXPECT_THAT(one->notes, Contains(HasSubstr("was taken as a.cpp")));
  const auto snippet =
      read(std::string("```cpp\nfoo();\n```\n```cpp a.cpp\nint x;\n```\n") + kPlan);
  ASSERT_TRUE(snippet);
  EXPECT_THAT(snippet->notes, Contains(HasSubstr("line 1 was left aside")));
}

TEST(ReadProgram, RefusesFencesOfOneLengthWithinEachOther) {
  const auto nested =
      read(std::string("```cpp a.cpp\n/*\n```cpp\nfoo();\n```\n*/\nint x;\n```\n") + kPlan);
  EXPECT_EQ(fault(nested), "ambiguous");
  EXPECT_THAT(nested.error().message, HasSubstr("four backticks"));
  const auto fine =
      read(std::string("````cpp a.cpp\n/*\n```cpp\nfoo();\n```\n*/\nint x;\n````\n") + kPlan);
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->files[0].text, "/*\n```cpp\nfoo();\n```\n*/\nint x;\n");
}

TEST(ReadProgram, PlansAreOneAndSound) {
  const std::string file = "```cpp a.cpp\nint x;\n```\n";
  EXPECT_EQ(fault(read(file)), "missing_plan");
  EXPECT_EQ(fault(read(file + "```json\n{\"launches\": [}\n```\n")), "malformed_plan");
  EXPECT_EQ(read(file + "```json\n{\"launches\": [}\n```\n").error().files.size(), 1u);
  EXPECT_EQ(fault(read(file + kPlan + "```json\n{\"launches\": [1]}\n```\n")), "ambiguous");
  EXPECT_EQ(fault(read(file + "```json\n{\"launches\": [}\n```\n" + kPlan)), "none");
  EXPECT_EQ(fault(read(file + "```json\n{\"note\": 1}\n```\n" + kPlan)), "none");
  EXPECT_EQ(fault(read(kPlan)), "missing_files");
  EXPECT_EQ(fault(read("I cannot help with that.")), "missing_files");
}

TEST(ReadProgram, AnAuthorMaySayThatNothingIsLeftToTry) {
  const auto done = read("```json\n{\"exhausted\": \"bound by memory\"}\n```");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exhausted, "bound by memory");
}

TEST(ReadProgram, TheSameFileTwiceIsOneAndTwoTextsAreNone) {
  const std::string file = "```cpp a.cpp\nint x;\n```\n";
  EXPECT_EQ(read(file + file + kPlan)->files.size(), 1u);
  EXPECT_EQ(fault(read(file + "```cpp a.cpp\nint y;\n```\n" + kPlan)), "ambiguous");
}

TEST(ReadProgram, RefusesPathsThatLeaveTheFolder) {
  for (const char* path :
       {"/etc/a.cpp", "../a.cpp", "a/../b.cpp", "a\\b.cpp", "./a.cpp", "a//b.cpp"})
    EXPECT_EQ(fault(read(std::string("```cpp ") + path + "\nint x;\n```\n" + kPlan)), "unsafe_path")
        << path;
}

TEST(ReadProgram, EveryTruncationIsAFaultAndNeverHalfAFile) {
  const std::string whole = std::string("Text.\n```cpp a.cpp\nint x;\nint y;\n```\n") + kPlan;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto part = read(whole.substr(0, n), RawReply::Stop::max_tokens);
    if (part) {
      EXPECT_GE(n, whole.size() - 2) << "only the last line feed may be missing";
      EXPECT_EQ(part->files[0].text, "int x;\nint y;\n");
    } else {
      EXPECT_TRUE(fault(part) == "truncated" || fault(part) == "empty_reply") << n << fault(part);
    }
  }
}

TEST(ReadProgram, ManyPartsAreRefusedBeforeAnyIsRead) {
  const auto times = [](int n, const std::string& text) {
    std::string all;
    for (int i = 0; i < n; ++i) all += text;
    return all;
  };
  const auto blocks = read(times(60000, "```json\n{}\n```\n"));
  EXPECT_EQ(fault(blocks), "ambiguous");
  EXPECT_THAT(blocks.error().message, HasSubstr("60000 fenced blocks, at most 100"));
  const auto thoughts = read(times(60000, "<think>x</think> </thinking>") + "end");
  EXPECT_EQ(fault(thoughts), "missing_files");
  EXPECT_FALSE(read_edits({times(250000, "{}\n"), RawReply::Stop::stop}));
  EXPECT_FALSE(read_edits({times(250000, "{\n"), RawReply::Stop::stop}));
}

TEST(Placeholder, IsAStandInForCodeAndNothingElse) {
  for (const char* line :
       {"// ... rest unchanged ...", "  // ... (helpers as before)", "/* ... existing code ... */",
        "...", "// rest of the code remains the same", "// (unchanged)",
        "int x; // ... same as above", "// \xe2\x80\xa6 remaining code", " * ... rest omitted",
        "// your code here"})
    EXPECT_TRUE(find_placeholder(std::string("int a;\n") + line + "\n")) << line;
  for (const char* line :
       {"int printf(const char* f, ...);", "// tail: cols % 8 ...", "template <class... T>",
        "// the rest of the row", "f(args...);", "int g(const char* f,\n  ...\n);",
        "// the same as the scalar loop, eight at a time", "// original layout: rows, then columns",
        "// sums stay unchanged by the order of lanes", "auto s = \"... rest\";"})
    EXPECT_FALSE(find_placeholder(std::string("int a;\n") + line + "\n")) << line;
  EXPECT_EQ(find_placeholder("a\nb\n// ... unchanged\n")->line, 3u);
}

}  // namespace
}  // namespace ksearch::llm
