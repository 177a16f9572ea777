#include "target/cpu/cpu_target.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/target/cpu_fixture.h"

namespace ksearch::target {
namespace {
using kernel::BoundScalar;
using kernel::BoundTensor;
using kernel::DType;
using kernel::ScalarKind;

TEST(CpuTarget, RunsAKernel) {
  CpuTarget target = make_target();
  Case c(kDouble, 7);
  const Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  EXPECT_EQ(run.out, (std::vector<float>{2, 4, 6, 8, 10, 12, 14}));
  EXPECT_TRUE(run.worker->canaries(0).empty());
}

TEST(CpuTarget, SpreadsGroupsOverThreads) {
  CpuTarget target = make_target({.threads = 3});
  Case c(R"(extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group* g) {
           out[g->id[0]] = x[g->id[0]] + (g->worker < g->workers && g->workers == 3 ? 0 : 1000);
         })",
         5000, 5000);
  const Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  for (std::size_t i = 0; i < run.out.size(); ++i) ASSERT_EQ(run.out[i], static_cast<float>(i + 1));
}

TEST(CpuTarget, TellsTheGroupWhereItIs) {
  CpuTarget target = make_target({.threads = 2});
  Case c(R"(extern "C" void kernel(const float*, float* out, int64_t, const ks_group* g) {
           out[(g->id[2] * g->count[1] + g->id[1]) * g->count[0] + g->id[0]] = float(g->id[0] + 10 * g->id[1] + 100 * g->id[2]);
         })",
         24);
  c.launch().groups = {4, 3, 2};
  const Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  EXPECT_EQ(run.out[0], 0);
  EXPECT_EQ(run.out[5], 11);
  EXPECT_EQ(run.out[23], 123);
}

TEST(CpuTarget, RunsTheSetsInTheOrderAskedAndTimesEachCall) {
  CpuTarget target = make_target();
  Case c(R"(static float calls = 0;
            extern "C" void kernel(const float*, float* out, int64_t, const ks_group*) { out[0] = ++calls; })",
         1, 1, 3);
  Trial run = run_case(target, c);  // the first call
  ASSERT_EQ(run.came_to, "done");
  const int order[] = {2, 0, 2, 1};
  const auto reply = run.worker->run(order, false, 20s);
  ASSERT_TRUE(std::holds_alternative<Done>(reply));
  const Done& done = std::get<Done>(reply);
  EXPECT_EQ(done.call_ns.size(), 4u);
  EXPECT_GT(done.bracket_ns, 0);
  EXPECT_GT(done.signal_ns, 0);
  EXPECT_GT(done.stop_ns, 0);
  EXPECT_EQ(floats(*run.worker, "out", 0)[0], 3);
  EXPECT_EQ(floats(*run.worker, "out", 1)[0], 5);
  EXPECT_EQ(floats(*run.worker, "out", 2)[0], 4);
}

TEST(CpuTarget, PassesScalarsStructsAndAbsentTensors) {
  CpuTarget target = make_target();
  Case c(R"(struct P { bool flag; int64_t big; float half; uint32_t u; };
            extern "C" void kernel(float* out, int32_t a, float b, bool c, const P p, const ks_bf16* none, const ks_group*) {
              out[0] = float(a); out[1] = b; out[2] = c; out[3] = p.flag; out[4] = float(p.big); out[5] = p.half;
              out[6] = float(p.u); out[7] = none == nullptr;
            })",
         8);
  c.launch().args = {
      BoundTensor{"out", 0, true, DType::float32, {}},
      BoundScalar{ScalarKind::i32, std::int64_t{-3}, "a"},
      BoundScalar{ScalarKind::f32, 0.25, "b"},
      BoundScalar{ScalarKind::boolean, std::int64_t{1}, "c"},
      kernel::BoundStruct{{BoundScalar{ScalarKind::boolean, std::int64_t{1}, "flag"},
                           BoundScalar{ScalarKind::i64, std::int64_t{1} << 40, "big"},
                           BoundScalar{ScalarKind::f32, 0.5, "half"},
                           BoundScalar{ScalarKind::u32, std::int64_t{4000000000}, "u"}}},
      BoundTensor{"", 0, false, DType::bfloat16, {}}};
  const Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  EXPECT_EQ(run.out, (std::vector<float>{-3, 0.25f, 1, 1, std::ldexp(1.0f, 40), 0.5f, 4e9f, 1}));
}

TEST(CpuTarget, AWrongSignatureShowsTheWantedOne) {
  CpuTarget target = make_target();
  Case c("extern \"C\" void kernel(const float* x, float* out, int n, const ks_group*) {}");
  const Trial run = run_case(target, c);
  EXPECT_NE(run.came_to.find("the plan calls it as: void kernel(const float* x, float* out, "
                             "int64_t n, const ks_group* group)"),
            std::string::npos)
      << run.came_to;
}

TEST(CpuTarget, AStructOfAnotherSizeIsACompileError) {
  CpuTarget target = make_target();
  Case c(
      "struct P { double d; }; extern \"C\" void kernel(float* out, P p, const ks_group*) { out[0] "
      "= float(p.d); }");
  c.launch().args = {BoundTensor{"out", 0, true, DType::float32, {}},
                     kernel::BoundStruct{{BoundScalar{ScalarKind::i32, std::int64_t{1}, "n"}}}};
  const std::string log = run_case(target, c).came_to;
  EXPECT_NE(log.find("the plan passes struct{int32_t n;}"), std::string::npos) << log;
}

TEST(CpuTarget, InitialisesArgumentsAndScratchBeforeEachCall) {
  CpuTarget target = make_target({.threads = 2});
  Case c(R"(extern "C" void kernel(const float*, float* out, float* sums, const ks_group*) {
              out[0] += 1; sums[2] += 1; out[1] = sums[2]; })",
         100000);
  c.launch().args = {BoundTensor{"x", 0, false, DType::float32, {}},
                     BoundTensor{"out", 0, true, DType::float32, 5.0},
                     BoundTensor{"sums", 0, true, DType::float32, {}}};
  c.plans[0].scratch = {{"sums", DType::float32, 3, 7.0}};
  Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  const int order[] = {0, 0, 0};
  ASSERT_TRUE(std::holds_alternative<Done>(run.worker->run(order, false, 20s)));
  const auto out = floats(*run.worker, "out");
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(out[1], 8);
  EXPECT_EQ(out[99999], 5);
}

TEST(CpuTarget, PoisonsScratchWhenAsked) {
  CpuTarget target = make_target();
  Case c(
      R"(extern "C" void kernel(const float*, float* out, float* s, const ks_group*) { out[0] = s[9]; s[9] = 3; })",
      1);
  c.launch().args[2] = BoundTensor{"s", 0, true, DType::float32, {}};
  c.plans[0].scratch = {{"s", DType::float32, 10, {}}};
  Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  EXPECT_TRUE(std::isnan(run.out[0]));
  const int order[] = {0};
  ASSERT_TRUE(std::holds_alternative<Done>(run.worker->run(order, false, 20s)));
  EXPECT_EQ(floats(*run.worker, "out")[0], 3);
}

TEST(CpuTarget, GivesEachThreadItsOwnGroupMemory) {
  CpuTarget target = make_target({.threads = 2});
  Case c(R"(extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group* g) {
              float* mine = static_cast<float*>(g->memory);
              for (int i = 0; i < 256; ++i) mine[i] = float(g->id[0]);
              float sum = 0;
              for (int i = 0; i < 256; ++i) sum += mine[i];
              out[g->id[0]] = sum / 256 + ((uintptr_t)mine % 64 ? 0.5f : 0); })",
         4000, 4000);
  c.launch().group_memory = {1024};
  const Trial run = run_case(target, c);
  ASSERT_EQ(run.came_to, "done");
  for (std::size_t i = 0; i < run.out.size(); ++i) ASSERT_EQ(run.out[i], static_cast<float>(i));
}

TEST(CpuTarget, GroupMemoryAndScratchEndAtGuards) {
  CpuTarget target = make_target();
  Case memory(
      R"(extern "C" void kernel(const float*, float*, int64_t, const ks_group* g) { static_cast<float*>(g->memory)[32] = 1; })");
  memory.launch().group_memory = {128};
  EXPECT_EQ(run_case(target, memory).came_to,
            "Unsafe: writes past the end of group_memory of 128 bytes, worker 0 (128 bytes long), "
            "0 bytes off");
  Case scratch(
      R"(extern "C" void kernel(const float*, float* out, const float* s, const ks_group*) { out[0] = s[16]; })");
  scratch.launch().args[2] = BoundTensor{"s", 0, false, DType::float32, {}};
  scratch.plans[0].scratch = {{"s", DType::float32, 16, {}}};
  EXPECT_EQ(run_case(target, scratch).came_to,
            "Unsafe: reads past the end of s (64 bytes long), 0 bytes off");
}

TEST(CpuTarget, OneElementPastTheEndIsFoundAtEverySize) {
  CpuTarget target = make_target();
  Case c(
      R"(extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) { out[n] = 0; })",
      1);
  const auto built = target.build({&c.program, &c.plans});
  ASSERT_TRUE(std::holds_alternative<Executable>(built));
  for (const std::int64_t n : {1, 2, 7, 15, 16, 17, 33, 1000, 1023, 1024, 1025}) {
    Case at("", n);
    at.job.plan = &at.plans[0];
    auto worker = target.start(std::get<Executable>(built));
    ASSERT_TRUE(worker) << worker.error().text();
    ASSERT_TRUE(std::holds_alternative<std::monostate>((*worker)->prepare(at.job)));
    const int order[] = {0};
    const auto reply = (*worker)->run(order, false, 20s);
    std::vector<kernel::Finding> findings;
    if (const auto* verdict = std::get_if<kernel::Verdict>(&reply))
      findings = std::get<kernel::Unsafe>(*verdict).findings;
    else
      findings = (*worker)->canaries(0);
    ASSERT_EQ(findings.size(), 1u) << n;
    EXPECT_EQ(findings[0].kind, "out_of_bounds");
    EXPECT_EQ(findings[0].buffer, "out") << n;
    EXPECT_TRUE(findings[0].message.starts_with("writes past the end of out"))
        << findings[0].message;
  }
}

TEST(CpuTarget, OneElementBeforeTheStartIsFound) {
  CpuTarget target = make_target();
  for (const std::int64_t n : {1, 33, 1024}) {
    Case c(
        R"(extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) { out[-1] = 0; })",
        n);
    Trial run = run_case(target, c);
    const std::string found =
        run.came_to == "done" ? run.worker->canaries(0).at(0).message : run.came_to;
    EXPECT_NE(found.find("writes before the start of out"), std::string::npos) << found;
  }
}

TEST(CpuTarget, ServesAnotherJobInTheSameProcess) {
  CpuTarget target = make_target();
  Case small(kDouble, 3), large(kDouble, 3'000'000);
  Trial run = run_case(target, small);
  ASSERT_EQ(run.came_to, "done");
  large.job.plan = &large.plans[0];
  ASSERT_TRUE(std::holds_alternative<std::monostate>(run.worker->prepare(large.job)));
  const auto x = floats(*run.worker, "x");
  x.back() = 21;
  const int order[] = {0};
  ASSERT_TRUE(std::holds_alternative<Done>(run.worker->run(order, false, 20s)));
  EXPECT_EQ(floats(*run.worker, "out").back(), 42);
}

TEST(CpuTarget, AWorkerThatFailedSaysSoAgain) {
  CpuTarget target = make_target();
  Case c(
      R"(extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) { __builtin_trap(); })");
  Trial run = run_case(target, c);
  const int order[] = {0};
  const auto again = run.worker->run(order, false, 20s);
  ASSERT_TRUE(std::holds_alternative<kernel::Verdict>(again));
  EXPECT_EQ(text(std::get<kernel::Verdict>(again)), run.came_to);
}

// What a kernel can do that knows the harness: it finds the string of the `done` it is expected to
// say on its caller's stack (pointer, length 27), and with it the batch's token.
constexpr const char* kFindDone = R"(
#include <cstdio>
#include <cstring>
#include <unistd.h>
static const char* find_done() {
  const uint64_t top = reinterpret_cast<uint64_t>(sbrk(0));
  for (uint64_t* w = static_cast<uint64_t*>(__builtin_frame_address(0));; ++w)
    if (w[1] == 27 && w[0] < top && w[0] > top - (64 << 20) &&
        !std::memcmp(reinterpret_cast<char*>(w[0]), "{\"done\":\"", 9))
      return reinterpret_cast<char*>(w[0]);
}
static void say_done(const char* token) {
  char text[64];
  write(3, text, snprintf(text, sizeof(text), "{\"done\":\"%.16s\"}\n{\"calls\":[1.0]}\n", token));
}
static void spin(int64_t n) { for (volatile int64_t i = 0; i < n; i = i + 1) { } }
)";

// It says `done` early and goes on. What it had not written when the parent stopped it is not
// there, and its real `done` is one too many.
TEST(CpuTarget, AForgedDoneWinsNothing) {
  CpuTarget target = make_target({.static_check = false});
  Case c(std::string(kFindDone) + R"(
extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) {
  say_done(find_done() + 9);
  spin(1000000000);
  for (int64_t i = 0; i < n; ++i) out[i] = 2 * x[i];
})",
         100);
  Trial run = run_case(target, c, 60s);
  ASSERT_EQ(run.came_to, "done");
  EXPECT_TRUE(std::isnan(run.out[0])) << "the output was written after the forged done";
  const int order[] = {0};
  const auto reply = run.worker->run(order, false, 60s);
  ASSERT_TRUE(std::holds_alternative<kernel::Verdict>(reply));
  EXPECT_TRUE(text(std::get<kernel::Verdict>(reply)).starts_with("Rejected: "))
      << text(std::get<kernel::Verdict>(reply));
}

// It takes the protocol over: answers every `arm` itself and works before it says `ready`, when the
// parent's clock does not run yet. The CPU time it used there is charged to it.
TEST(CpuTarget, WorkBeforeGoIsCharged) {
  CpuTarget target = make_target({.static_check = false});
  Case honest(std::string(kFindDone) + R"(
extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) {
  spin(30000000);
  out[0] = 2 * x[0];
})",
              1);
  Case cheat(std::string(kFindDone) + R"(
static void line(char* to) { for (; read(3, to, 1) == 1 && *to != '\n'; ++to) { } *to = 0; }
extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*) {
  static int calls = 0;
  out[0] = 2 * x[0];
  if (++calls < 2) return;
  char token[17] = {}, message[512];
  say_done(find_done() + 9);
  for (;;) {
    line(message);
    std::memcpy(token, std::strstr(message, "\"token\":\"") + 9, 16);
    spin(30000000);
    out[0] = 2 * x[0];
    write(3, message, snprintf(message, sizeof(message), "{\"ready\":\"%s\"}\n", token));
    line(message);
    say_done(token);
  }
})",
             1);
  const auto time = [&](Case& c) {
    Trial trial = run_case(target, c);
    EXPECT_EQ(trial.came_to, "done");
    double best = 1e18;
    const int order[] = {0};
    for (int i = 0; i < 10 && trial.worker; ++i) {
      const auto reply = trial.worker->run(order, false, 20s);
      const auto* done = std::get_if<Done>(&reply);
      EXPECT_NE(done, nullptr) << text(std::get<kernel::Verdict>(reply));
      if (!done) return 0.0;
      if (i > 1) best = std::min(best, done->bracket_ns);
    }
    return best;
  };
  const double honest_ns = time(honest), cheat_ns = time(cheat);
  RecordProperty("cheat_percent", static_cast<int>(100 * cheat_ns / honest_ns));
  // CPU time against wall time on a machine that may be busy; uncharged it would be a thousandth.
  EXPECT_GT(cheat_ns, honest_ns / 10) << "work outside the bracket was for nothing";
}

TEST(CpuTarget, AnExpertLinksALibraryAndHasItsEnvironment) {
  const auto folder = *os::TempFolder::create("ks-library");
  ASSERT_TRUE(os::write_file(
      folder.path() / "lib.cpp",
      "#include <cstdlib>\nextern \"C\" int from_library() { return atoi(getenv(\"ANSWER\")); }"));
  const auto compiled = os::run(
      {.argv = {test_compiler().path.string(), "-shared", "-fPIC", "-o",
                (folder.path() / "libks.so").string(), (folder.path() / "lib.cpp").string()},
       .environment = {{"PATH", "/usr/bin:/bin"}}},
      60s);
  ASSERT_TRUE(compiled && compiled->status.code == 0);
  const Trust trust{
      .compile_flags = {},
      .link_flags = {"-L" + folder.path().string(), "-lks", "-Wl,-rpath," + folder.path().string()},
      .folders = {folder.path().string()},
      .environment = {{"ANSWER", "42"}}};
  CpuTarget target = make_target();
  Case c(
      "extern \"C\" int from_library();\nextern \"C\" void kernel(const float*, float* out, "
      "int64_t, const ks_group*) { out[0] = float(from_library()); }",
      1);
  const Trial trial = run_case(target, c, 20s, &trust);
  ASSERT_EQ(trial.came_to, "done");
  EXPECT_EQ(trial.out[0], 42);
}

TEST(CpuTarget, APlanThatWasNotBuiltIsUnsupported) {
  CpuTarget target = make_target();
  Case c(kDouble, 3);
  const auto built = target.build({&c.program, &c.plans});
  auto worker = target.start(std::get<Executable>(built));
  ASSERT_TRUE(worker);
  Case other(kDouble, 3);
  other.launch().defines = {{"X", "1"}};
  other.job.plan = &other.plans[0];
  const auto reply = (*worker)->prepare(other.job);
  ASSERT_TRUE(std::holds_alternative<kernel::Verdict>(reply));
  EXPECT_EQ(text(std::get<kernel::Verdict>(reply)),
            "Unsupported: the plan uses defines that were not built");
}

TEST(CpuTarget, ABuildIsFoundAgain) {
  CpuTarget target = make_target();
  Case c(std::string(kDouble) + "\n// found again\n");
  const auto first = target.build({&c.program, &c.plans});
  const auto second = target.build({&c.program, &c.plans});
  ASSERT_TRUE(std::holds_alternative<Executable>(first));
  EXPECT_EQ(std::get<Executable>(first).id, std::get<Executable>(second).id);
}

TEST(CpuTarget, StaticCheckComesBeforeTheCompiler) {
  CpuTarget target = make_target();
  Case c("#include <unistd.h>\n");
  EXPECT_TRUE(run_case(target, c).came_to.starts_with(
      "Rejected: by static: kernel.cpp:1: includes <unistd.h>"));
}

TEST(CpuTarget, NothingOfAFileOutsideShowsInALog) {
  for (const auto way : {os::SandboxWay::namespaces, os::SandboxWay::landlock}) {
    if (!os::Sandbox::find({.force = way})) continue;
    CpuTarget target = make_target({.way = way, .static_check = false});
    for (const char* file : {"/etc/passwd", "/proc/self/environ", "/etc/hostname"}) {
      for (const std::string& source :
           {fmt::format("#include \"{}\"\n", file),
            fmt::format("#line 1 \"{}\"\nthis is no C++\n", file),
            fmt::format("asm(\".incbin \\\"{}\\\"\");\n#error done\n", file)}) {
        Case c(source);
        const std::string log = run_case(target, c).came_to;
        EXPECT_TRUE(log.starts_with("CompileFailed: ")) << log;
        for (const char* secret : {"root:", "PATH=", "HOME=", "/bin/bash"})
          EXPECT_EQ(log.find(secret), std::string::npos) << log;
      }
    }
    Case incbin(fmt::format(
        "asm(\".section .rodata\\nstolen:\\n.incbin \\\"/etc/hostname\\\"\\n.previous\");\n{}",
        kDouble));
    EXPECT_TRUE(run_case(target, incbin).came_to.starts_with("CompileFailed: "))
        << "it was embedded";
  }
}

}  // namespace
}  // namespace ksearch::target
