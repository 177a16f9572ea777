// A worker alone, for tests that run before there is a `ksearch`.
#include "target/cpu/worker_main.h"

int main() { return ksearch::target::run_cpu_worker(); }
