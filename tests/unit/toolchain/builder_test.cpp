#include "toolchain/builder.h"

#include <gtest/gtest.h>

#include <thread>

#include "toolchain/prune.h"

namespace ksearch::toolchain {
namespace {
namespace fs = std::filesystem;

/// Each way of confining; one that this machine forbids is skipped loudly.
class BuilderTest : public testing::TestWithParam<os::SandboxWay> {
 protected:
  void SetUp() override {
    const auto sandbox = os::Sandbox::find({.force = GetParam()});
    if (!sandbox) GTEST_SKIP() << sandbox.error().text();
    const auto compiler = find_compiler(os::current_environment());
    ASSERT_TRUE(compiler) << compiler.error().text();
    compiler_ = *compiler;
    sandbox_ = *sandbox;
    auto folder = os::TempFolder::create("ks-builder");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  Builder builder(CompileLimits limits = {}) const {
    return Builder(compiler_, sandbox_, folder_->path(), limits);
  }
  static CompileRequest request(std::string text) {
    return {.files = {{"sub/a.cpp", std::move(text)}},
            .main = "sub/a.cpp",
            .flags = {"-std=c++20", "-O0", "-shared", "-fPIC"}};
  }
  static CompileFault fault(const base::Result<std::variant<Built, CompileFault>>& result) {
    EXPECT_TRUE(result) << result.error().text();
    if (result && std::holds_alternative<CompileFault>(*result))
      return std::get<CompileFault>(*result);
    ADD_FAILURE() << "it was built";
    return {};
  }

  Compiler compiler_;
  os::Sandbox sandbox_;
  std::optional<os::TempFolder> folder_;
};

TEST_P(BuilderTest, BuildsOnceAndThenFindsIt) {
  const auto first = builder().build(request("int f() { return 1; }"));
  ASSERT_TRUE(first && std::holds_alternative<Built>(*first));
  EXPECT_FALSE(std::get<Built>(*first).cached);
  EXPECT_TRUE(fs::exists(std::get<Built>(*first).file));
  const auto second = builder().build(request("int f() { return 1; }"));
  EXPECT_TRUE(std::get<Built>(*second).cached);
  EXPECT_EQ(std::get<Built>(*second).file, std::get<Built>(*first).file);
}

TEST_P(BuilderTest, TheKeyCoversEverything) {
  const Builder b = builder();
  CompileRequest r = request("int f();");
  const std::string key = b.key(r);
  CompileRequest text = r, flag = r, library = r, name = r;
  text.files[0].second += " ";
  flag.flags.push_back("-DX=1");
  library.libraries = {"-lm"};
  name.files[0].first = "sub/b.cpp";
  for (const CompileRequest& other : {text, flag, library, name}) EXPECT_NE(b.key(other), key);
  Compiler newer = compiler_;
  newer.version += "x";
  EXPECT_NE(Builder(newer, sandbox_, folder_->path()).key(r), key);
}

TEST_P(BuilderTest, ManyAtOnceAgree) {
  std::vector<std::thread> threads;
  std::vector<fs::path> files(4);
  for (std::size_t i = 0; i < files.size(); ++i)
    threads.emplace_back([&, i] {
      const auto built = builder().build(request("int g() { return 2; }"));
      if (built && std::holds_alternative<Built>(*built)) files[i] = std::get<Built>(*built).file;
    });
  for (std::thread& t : threads) t.join();
  for (const fs::path& file : files) EXPECT_EQ(file, files[0]);
  EXPECT_TRUE(fs::exists(files[0]));
  EXPECT_TRUE(fs::is_empty(folder_->path() / "work"));
}

TEST_P(BuilderTest, ErrorsAreShortAndNameNoFolderOfThisMachine) {
  const CompileFault f = fault(builder().build(request("int f() { return nonsense; }")));
  EXPECT_EQ(f.kind, CompileFault::Kind::errors);
  EXPECT_TRUE(f.log.starts_with("sub/a.cpp: In function")) << f.log;
  EXPECT_EQ(f.log.find(folder_->path().string()), std::string::npos);
  EXPECT_LE(f.log.size(), 4096u);
}

TEST_P(BuilderTest, TooLongIsAFaultOfItsOwn) {
  // Two to the thirtieth template instances.
  const CompileFault f =
      fault(builder({.time = std::chrono::seconds(1)})
                .build(request("template <int N, int M> struct A { static constexpr int v = A<N - "
                               "1, 2 * M>::v + A<N - 1, 2 * M + 1>::v; };"
                               "template <int M> struct A<0, M> { static constexpr int v = 1; };"
                               "int x = A<30, 0>::v;")));
  EXPECT_EQ(f.kind, CompileFault::Kind::time);
}

TEST_P(BuilderTest, TooMuchMemoryIsAFaultOfItsOwn) {
  std::string text = "#define A0 0,0,0,0,0,0,0,0,0,0\n";  // times ten with every line
  for (int i = 1; i < 9; ++i) {
    text += "#define A" + std::to_string(i) + " ";
    for (int j = 0; j < 10; ++j) text += (j ? "," : "") + ("A" + std::to_string(i - 1));
    text += "\n";
  }
  const CompileFault f =
      fault(builder({.memory_bytes = 300 << 20}).build(request(text + "int a[] = {A8};\n")));
  EXPECT_EQ(f.kind, CompileFault::Kind::memory) << f.log;
}

TEST_P(BuilderTest, HeadersOfTheUserCannotBeIncluded) {
  ASSERT_TRUE(os::write_file(folder_->path() / "secret.h", "int hunter2 = ;"));
  const CompileFault f = fault(
      builder().build(request("#include \"" + (folder_->path() / "secret.h").string() + "\"\n")));
  EXPECT_EQ(f.log.find("hunter2"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Ways, BuilderTest,
                         testing::Values(os::SandboxWay::namespaces, os::SandboxWay::landlock),
                         [](const auto& info) { return std::string(os::name(info.param)); });

TEST(PruneBuilds, RemovesTheLongestUnusedFirstAndNothingOfToday) {
  const auto folder = *os::TempFolder::create("ks-prune");
  const auto entry = [&](const char* name, int days) {
    const fs::path path = folder.path() / "ab" / name;
    ASSERT_TRUE(os::write_file(path / "kernel.so", std::string(1000, 'x')));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * days + 1));
  };
  entry("old", 9);
  entry("older", 30);
  entry("used", 2);
  entry("today", 0);
  EXPECT_EQ(prune_builds(folder.path(), 2500), 2000u);
  EXPECT_FALSE(fs::exists(folder.path() / "ab" / "older"));
  EXPECT_FALSE(fs::exists(folder.path() / "ab" / "old"));
  EXPECT_TRUE(fs::exists(folder.path() / "ab" / "used"));
  fs::last_write_time(folder.path() / "ab" / "today", fs::file_time_type::clock::now());
  prune_builds(folder.path(), 0);
  EXPECT_TRUE(fs::exists(folder.path() / "ab" / "today"));
  EXPECT_EQ(prune_builds(folder.path() / "missing", 0), 0u);
}

TEST(PruneBuilds, LooksThroughThemOnceAnInterval) {
  const auto folder = *os::TempFolder::create("ks-prune");
  const auto old_entry = [&] {
    const fs::path path = folder.path() / "ab" / "old";
    EXPECT_TRUE(os::write_file(path / "kernel.so", std::string(1000, 'x')));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(99));
    return path;
  };
  prune_when_due(folder.path(), 500);
  const fs::path first = old_entry();
  prune_when_due(folder.path(), 500);
  EXPECT_TRUE(fs::exists(first));
  fs::last_write_time(folder.path() / "pruned",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  prune_when_due(folder.path(), 500);
  EXPECT_FALSE(fs::exists(first));
}

TEST(FindCompiler, SaysWhatToDoWhereThereIsNone) {
  const auto compiler = find_compiler({{"PATH", "/nowhere"}});
  ASSERT_FALSE(compiler);
  EXPECT_EQ(compiler.error().kind, base::ErrorKind::environment);
  EXPECT_NE(compiler.error().todo.find("apt install g++"), std::string::npos);
}

TEST(FindCompiler, TakesTheOneThatIsNamed) {
  const auto compiler = find_compiler({{"PATH", "/usr/bin"}, {"CXX", "/usr/bin/g++"}});
  ASSERT_TRUE(compiler) << compiler.error().text();
  EXPECT_EQ(compiler->path, "/usr/bin/g++");
  EXPECT_NE(compiler->version.find("g++"), std::string::npos);
  EXPECT_FALSE(compiler->clang);
}

}  // namespace
}  // namespace ksearch::toolchain
