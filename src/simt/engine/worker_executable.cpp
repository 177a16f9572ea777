// The worker alone, for tests: `ksearch worker simt` without the rest of ksearch.
#include "simt/engine/worker.h"

int main(int argc, char**) { return argc == 3 ? ksearch::simt::run_simt_worker() : 2; }
