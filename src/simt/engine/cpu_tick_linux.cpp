#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <csignal>

#include "simt/engine/cpu_tick.h"

namespace ksearch::simt {

void start_cpu_tick(int signal, std::chrono::milliseconds each) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
  itimerspec times{};
  times.it_value.tv_nsec = times.it_interval.tv_nsec = std::chrono::nanoseconds(each).count();
  ::timer_settime(timer, 0, &times, nullptr);
}

}  // namespace ksearch::simt
