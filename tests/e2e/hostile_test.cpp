// The hostile programs that issue after issue asks for: each gets its right outcome, and an honest
// kernel is measured right afterwards by the same session.
#include <dirent.h>
#include <gtest/gtest.h>

#include <set>

#include "cpu_lab.h"

namespace ksearch::evaluate {
namespace {

using testing::CpuLab;
using testing::honest_softmax;
using testing::one_call;

struct Hostile {
  const char* name;
  const char* source;              ///< defines `kernel` of the softmax convention
  std::set<std::string> expected;  ///< kinds of outcome that are right
  std::set<std::string>
      unchecked;  ///< without the static check: what the sandbox and the limits make of it
  bool honest_work = false;  ///< the source calls honest(...), which is put before it
};

constexpr char kHonest[] = R"(#include <cmath>
static void honest(const float* x, float* out, long rows, long cols) {
  for (long r = 0; r < rows; ++r) {
    float top = x[r * cols], sum = 0;
    for (long c = 0; c < cols; ++c) top = x[r * cols + c] > top ? x[r * cols + c] : top;
    for (long c = 0; c < cols; ++c) sum += out[r * cols + c] = std::exp(x[r * cols + c] - top);
    for (long c = 0; c < cols; ++c) out[r * cols + c] /= sum;
  }
}
)";

const Hostile kHostile[] = {
    {"syntax_error",
     "static void kernel(const float* x float* out, long rows, long cols) {}",
     {"CompileFailed"},
     {"CompileFailed"},
     false},
    {"infinite_loop",
     "static void kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, "
     "cols); volatile long n = 1; if (cols > 100) while (n) n = n | 1; }",
     {"TimedOut"},
     {"TimedOut"},
     true},
    {"segfault",
     "static void kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, "
     "cols); *(volatile float*)8 = 1; }",
     {"Crashed", "Unsafe"},
     {"Crashed", "Unsafe"},
     true},
    {"exit_in_a_constructor",
     "#include <cstdlib>\nstruct Leave { Leave() { std::exit(0); } } leave;\nstatic void "
     "kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, cols); }",
     {"Rejected", "Crashed"},
     {"Crashed", "Rejected"},
     true},
    {"one_past_the_end",
     "static void kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, "
     "cols); out[rows * cols] = 0; }",
     {"Unsafe"},
     {"Unsafe"},
     true},
    {"one_before_the_start",
     "static void kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, "
     "cols); out[-1] = 0; }",
     {"Unsafe"},
     {"Unsafe"},
     true},
    {"zeros",
     "static void kernel(const float*, float* out, long rows, long cols) { for (long i = 0; i < "
     "rows * cols; ++i) out[i] = 0; }",
     {"WrongResult"},
     {"WrongResult"},
     false},
    {"nan",
     "static void kernel(const float*, float* out, long rows, long cols) { for (long i = 0; i < "
     "rows * cols; ++i) out[i] = __builtin_nanf(\"\"); }",
     {"WrongResult"},
     {"WrongResult"},
     false},
    {"mutates_its_input",
     "static void kernel(const float* x, float* out, long rows, long cols) { honest(x, out, rows, "
     "cols); const_cast<float*>(x)[0] = 3; }",
     {"InputChanged", "Unsafe"},
     {"InputChanged", "Unsafe"},
     true},
    {"forks",
     "extern \"C\" int fork();\nstatic void kernel(const float* x, float* out, long rows, long "
     "cols) { for (int i = 0; i < 8; ++i) fork(); honest(x, out, rows, cols); }",
     {"Rejected", "Crashed"},
     {"Rejected", "Crashed"},
     true},
    {"allocates_without_end",
     "#include <cstdlib>\nstatic void kernel(const float* x, float* out, long rows, long cols) { "
     "for (;;) { volatile char* p = (char*)malloc(64 << 20); for (long i = 0; i < 64 << 20; i += "
     "4096) p[i] = 1; } honest(x, out, rows, cols); }",
     {"LimitExceeded", "Crashed"},
     {"LimitExceeded", "Crashed"},
     true},
    {"opens_a_socket",
     "extern \"C\" int socket(int, int, int);\nstatic void kernel(const float* x, float* out, long "
     "rows, long cols) { socket(2, 1, 0); honest(x, out, rows, cols); }",
     {"Rejected"},
     {"Rejected"},
     true},
    {"reads_a_file",
     "#include <cstdio>\nstatic void kernel(const float* x, float* out, long rows, long cols) { if "
     "(FILE* f = std::fopen(\"/etc/passwd\", \"r\")) out[0] = (float)std::fgetc(f); honest(x, out, "
     "rows, cols); }",
     {"Rejected"},
     {"Rejected"},
     true},
    {"prints_without_end",
     "#include <cstdio>\nstatic void kernel(const float* x, float* out, long rows, long cols) { "
     "for (long i = 0; i < 10000000000 / 64; ++i) "
     "std::puts(\"0123456789012345678901234567890123456789012345678901234567890123\"); honest(x, "
     "out, rows, cols); }",
     {"Rejected", "TimedOut", "Crashed"},
     {"Rejected", "TimedOut", "Crashed"},
     true},
    {"sleeps",
     "extern \"C\" int usleep(unsigned);\nstatic void kernel(const float* x, float* out, long "
     "rows, long cols) { usleep(20000); honest(x, out, rows, cols); }",
     {"Rejected", "Measured"},
     {"Rejected", "Measured"},
     true},
    {"detached_thread",
     "#include <thread>\nstatic void kernel(const float* x, float* out, long rows, long cols) { "
     "std::thread([=] { honest(x, out, rows, cols); }).detach(); }",
     {"Rejected", "CompileFailed"},
     {"Rejected", "WrongResult", "Crashed"},
     true},
};

/// Processes whose parent is this one.
int children() {
  int count = 0;
  if (DIR* d = opendir("/proc/self/task")) {
    while (const dirent* e = readdir(d)) {
      std::ifstream list(std::string("/proc/self/task/") + e->d_name + "/children");
      for (int pid; list >> pid;) ++count;
    }
    closedir(d);
  }
  return count;
}

class HostilePrograms : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static CpuLab& lab(bool static_check) {
    static CpuLab checked(true), open(false);
    return static_check ? checked : open;
  }
};

TEST_P(HostilePrograms, GetTheirOutcomeAndTheNextIsMeasured) {
  const auto [index, static_check] = GetParam();
  const Hostile& h = kHostile[index];
  CpuLab& l = lab(static_check);
  l.session("softmax");
  const int before = children();
  const auto o = l.judge(
      "softmax", (h.honest_work ? kHonest : "") + std::string(h.source) + one_call("softmax"));
  const std::string kind(kernel::kind(o));
  EXPECT_TRUE((static_check ? h.expected : h.unchecked).contains(kind)) << kernel::summary(o);
  EXPECT_LE(children(), before) << "a process was left";
  RecordProperty("outcome", kernel::summary(o));
  std::printf("    %s: %s\n", h.name, kernel::summary(o).substr(0, 200).c_str());
  const auto honest = l.judge("softmax", honest_softmax(index));
  EXPECT_EQ(kernel::kind(honest), "Measured") << kernel::summary(honest);
}

INSTANTIATE_TEST_SUITE_P(Softmax, HostilePrograms,
                         ::testing::Combine(::testing::Range(0,
                                                             static_cast<int>(std::size(kHostile))),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(kHostile[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) ? "" : "_without_static_check");
                         });

}  // namespace
}  // namespace ksearch::evaluate
