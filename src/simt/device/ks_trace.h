// What a kernel that is traced calls (ir/instrument.h puts the calls in): handed on to the engine.
#pragma once
#include "ks_hooks.h"

/// `bytes`: how many, plus 1 << 16 for a store.
KS_HOOK void ks_trace_access(const void* at, ks::u32 site, ks::u32 bytes) {
  ks::engine->trace(at, site, bytes & 0xffffu, bytes >> 16 != 0);
}
KS_HOOK void ks_trace_range(const void* at, ks::u32 site, ks::u64 bytes, ks::u32 store) {
  ks::engine->trace(at, site, bytes, store != 0);
}
/// Of the thread that runs: one count a block.
KS_HOOK ks::u32* ks_trace_counters() { return ks::lane->counters; }
