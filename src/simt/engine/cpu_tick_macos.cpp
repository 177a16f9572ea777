// Written from the manual pages; not yet run.
#include <sys/time.h>

#include <csignal>

#include "simt/engine/cpu_tick.h"

namespace ksearch::simt {

void start_cpu_tick(int, std::chrono::milliseconds each) {
  itimerval times{};
  times.it_interval.tv_usec = times.it_value.tv_usec =
      static_cast<suseconds_t>(std::chrono::microseconds(each).count());
  ::setitimer(ITIMER_PROF, &times, nullptr);  // SIGPROF
}

}  // namespace ksearch::simt
