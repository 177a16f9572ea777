// The worker alone, for tests: `ksearch worker simt JOB` without the rest of ksearch.
#include "simt/engine/worker.h"

int main(int argc, char** argv) { return argc == 4 ? ksearch::simt::run_simt_worker(argv[3]) : 2; }
