// Signal handlers of a CPU worker. They run in a process that candidate code may have damaged, so
// they touch nothing but their own stack, write one line and leave.
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>

#include "target/cpu/faults.h"

namespace ksearch::target {

FaultRegion g_fault_regions[2];

namespace {

// A signal frame with AVX-512 and AMX state takes about 11 KiB.
constexpr std::size_t kHandlerStack = 64 << 10;
constexpr std::size_t kProbe = 32 << 20;
constexpr int kFaultStatus = 99;
constexpr std::size_t kPathShown = 96;

int g_control = -1;
std::atomic<pid_t> g_reporter{0};

/// One JSON line on the stack, without the C library.
class Line {
 public:
  Line& text(const char* s) {
    while (*s) put(*s++);
    return *this;
  }
  Line& number(std::uint64_t n) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + n % 10);
    while (n /= 10);
    while (count) put(digits[--count]);
    return *this;
  }
  /// Of candidate code: everything but plain characters becomes '?'.
  Line& quoted(const char* s) {
    for (std::size_t i = 0; i < kPathShown && s[i]; ++i) {
      const char c = s[i];
      put(c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? '?' : c);
    }
    return *this;
  }
  void send() {
    put('\n');
    [[maybe_unused]] const ssize_t n = ::write(g_control, buffer_, size_);
  }

 private:
  void put(char c) {
    if (size_ < sizeof(buffer_)) buffer_[size_++] = c;
  }
  char buffer_[512];
  std::size_t size_ = 0;
};

/// Only the first thread that faults reports; the others wait for the process to end. A second
/// fault of the same thread is one of its own handler's: it reports that instead.
void claim_report() {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t nobody = 0;
  if (!g_reporter.compare_exchange_strong(nobody, self) && nobody != self)
    for (;;) {
    }
}

void on_refused_call(int, siginfo_t* info, void* context) {
  claim_report();
  Line line;
  line.text("{\"refused\":").number(static_cast<std::uint64_t>(info->si_syscall));
#if defined(__x86_64__)
  const auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  line.text(",\"first\":").number(static_cast<std::uint64_t>(r[REG_RDI]));
  if (info->si_syscall == SYS_openat && r[REG_RSI] != 0)
    line.text(",\"path\":\"").quoted(reinterpret_cast<const char*>(r[REG_RSI])).text("\"");
#else
  (void)context;
#endif
  line.text("}").send();
  ::_exit(kFaultStatus);
}

void on_crash(int signal, siginfo_t* info, void* context) {
  claim_report();
  Line line;
  line.text("{\"signal\":").number(static_cast<std::uint64_t>(signal));
  if (signal == SIGSEGV || signal == SIGBUS) {
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    line.text(",\"address\":").number(at);
    for (std::uint64_t i = 0; i < 2; ++i) {
      const auto start = reinterpret_cast<std::uintptr_t>(g_fault_regions[i].start.load());
      if (start && at >= start && at - start < g_fault_regions[i].bytes.load())
        line.text(",\"region\":").number(i).text(",\"offset\":").number(at - start);
    }
#if defined(__x86_64__)
    const auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    line.text(",\"write\":").text(r[REG_ERR] & 2 ? "true" : "false");
    const auto stack = static_cast<std::uintptr_t>(r[REG_RSP]);
    // A fault just below or above the stack pointer, in no mapping: the stack ran out.
    if (at + 65536 > stack && at < stack + 4096) line.text(",\"stack\":true");
#else
    (void)context;
#endif
    // A candidate that used up its memory meets a null pointer next.
    void* probe =
        ::mmap(nullptr, kProbe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) line.text(",\"memory\":true");
  }
  line.text("}").send();
  ::_exit(kFaultStatus);
}

}  // namespace

void prepare_thread() {
  stack_t stack{};
  stack.ss_size = kHandlerStack;
  stack.ss_sp =
      ::mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp != MAP_FAILED) ::sigaltstack(&stack, nullptr);
}

void install_fault_handlers(int control) {
  g_control = control;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_crash;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    ::sigaction(signal, &action, nullptr);
  action.sa_sigaction = on_refused_call;
  ::sigaction(SIGSYS, &action, nullptr);
}

void ask_for_matrix_unit() {
#if defined(__x86_64__)
  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA); before Linux 5.16 and without AMX it
  // fails, and the profile does not offer AMX.
  ::syscall(SYS_arch_prctl, 0x1023, 18);
#endif
}

}  // namespace ksearch::target
