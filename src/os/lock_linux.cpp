#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <malloc.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "os/lock.h"

namespace ksearch::os {
namespace {

/// An allow-list filter in the making: whatever is not allowed traps (SIGSYS), which names the
/// call.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_TRAP)) {
    if (!context_) failed_ = ENOMEM;
    note(seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1));
    note(seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2));
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;

  void allow(int call) { note(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 0)); }
  void allow_if(int call, std::initializer_list<scmp_arg_cmp> conditions) {
    note(seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, call,
                                static_cast<unsigned>(conditions.size()), conditions.begin()));
  }
  std::string load() {
    if (failed_ == 0) note(seccomp_load(context_));
    return failed_ == 0 ? "" : fmt::format("seccomp: {}", std::strerror(failed_));
  }

 private:
  void note(int code) {
    if (code < 0 && failed_ == 0) failed_ = -code;
  }
  scmp_filter_ctx context_;
  int failed_ = 0;
};

/// Memory, waiting, the clock, the control socket, leaving: what the harness and <vector> need.
void allow_running(Filter& filter, int control) {
  const auto fd = static_cast<scmp_datum_t>(control);
  for (const int call :
       {SCMP_SYS(munmap), SCMP_SYS(brk), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(sched_yield),
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(exit_group),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(getpid), SCMP_SYS(gettid),
        SCMP_SYS(restart_syscall), SCMP_SYS(getrandom)})
    filter.allow(call);
  for (const int call : {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvfrom), SCMP_SYS(sendto)})
    filter.allow_if(call, {SCMP_A0(SCMP_CMP_EQ, fd)});
  // What stdio and pthread_create do before the call that is to be reported: look at the descriptor
  // of an output, set glibc's own two signals.
  for (const scmp_datum_t output : {1, 2})
    for (const int call : {SCMP_SYS(fstat), SCMP_SYS(newfstatat)})
      filter.allow_if(call, {SCMP_A0(SCMP_CMP_EQ, output)});
  for (const scmp_datum_t signal : {32, 33})
    filter.allow_if(SCMP_SYS(rt_sigaction), {SCMP_A0(SCMP_CMP_EQ, signal)});
  // Only waits without a time: a kernel may not sleep.
  filter.allow_if(SCMP_SYS(futex), {SCMP_A3(SCMP_CMP_EQ, 0)});
  filter.allow_if(SCMP_SYS(futex), {SCMP_A1(SCMP_CMP_EQ, FUTEX_WAKE_PRIVATE)});
  // abort() reports as a crash; every other signal to oneself is refused.
  filter.allow_if(SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())),
                                     SCMP_A2(SCMP_CMP_EQ, SIGABRT)});
}

}  // namespace

std::string lock_for_loading(int control) {
#ifdef __GLIBC__
  // An arena of a thread's own asks /proc how memory is overcommitted when it shrinks, and a kernel
  // that merely frees a vector would be taken for one that opens files.
  ::mallopt(M_ARENA_MAX, 1);
#endif
  Filter filter;
  allow_running(filter, control);
  for (const int call :
       {SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
        SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
        SCMP_SYS(getcwd), SCMP_SYS(seccomp)})  // the second lock
    filter.allow(call);
  filter.allow_if(SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, PR_SET_NO_NEW_PRIVS)});
  filter.allow(SCMP_SYS(read));
  constexpr scmp_datum_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  filter.allow_if(SCMP_SYS(openat), {SCMP_A2(SCMP_CMP_MASKED_EQ, kWriting, 0)});
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_NPROC, &none);
  return filter.load();
}

std::string lock_for_running(int control) {
  Filter filter;
  allow_running(filter, control);
  const scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  filter.allow_if(SCMP_SYS(mmap), {no_code});
  filter.allow_if(SCMP_SYS(mprotect), {no_code});
  return filter.load();
}

}  // namespace ksearch::os
