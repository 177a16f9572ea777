// Written from the manual pages; not yet run.
#include <sys/time.h>

#include <csignal>

#include "simt/engine/cpu_tick.h"

namespace ksearch::simt {

void start_cpu_tick(int, int seconds) {
  itimerval each{};
  each.it_interval.tv_sec = each.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &each, nullptr);  // SIGPROF
}

}  // namespace ksearch::simt
