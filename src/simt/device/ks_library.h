// The functions that kernels call and that are compiled once, not with each kernel: what clang's
// instrumentation calls (-fsanitize=kernel-memory: every load and store, with the definedness of
// values carried along; -fsanitize=alignment,array-bounds), what a traced kernel calls
// (ir/instrument.h puts the calls in), and what every kernel starts with. All is handed on to the
// engine but what touches a thread's own memory. Nothing here is instrumented itself.
#pragma once
#include "ks_hooks.h"

#if KS_TRACED

#define KS_ACCESS(n)                                             \
  KS_HOOK ks::Meta __msan_metadata_ptr_for_load_##n(void* at) {  \
    if (ks::u64 i; ks::own(at, i)) [[likely]]                    \
      return ks::own_meta(i);                                    \
    return ks::engine->load(at, n, KS_HERE);                     \
  }                                                              \
  KS_HOOK ks::Meta __msan_metadata_ptr_for_store_##n(void* at) { \
    if (ks::u64 i; ks::own(at, i)) [[likely]]                    \
      return ks::own_meta(i);                                    \
    return ks::engine->store(at, n, KS_HERE);                    \
  }
KS_ACCESS(1)
KS_ACCESS(2)
KS_ACCESS(4)
KS_ACCESS(8)

KS_HOOK ks::Meta __msan_metadata_ptr_for_load_n(void* at, ks::u64 bytes) {
  if (ks::u64 i; ks::own(at, i)) [[likely]]
    return ks::own_meta(i);
  return ks::engine->load(at, bytes, KS_HERE);
}
KS_HOOK ks::Meta __msan_metadata_ptr_for_store_n(void* at, ks::u64 bytes) {
  if (ks::u64 i; ks::own(at, i)) [[likely]]
    return ks::own_meta(i);
  return ks::engine->store(at, bytes, KS_HERE);
}
KS_HOOK void* __msan_memcpy(void* to, const void* from, ks::u64 bytes) {
  ks::engine->copy(to, from, bytes, KS_HERE);
  return to;
}
KS_HOOK void* __msan_memmove(void* to, const void* from, ks::u64 bytes) {
  ks::engine->copy(to, from, bytes, KS_HERE);
  return to;
}
KS_HOOK void* __msan_memset(void* to, int byte, ks::u64 bytes) {
  ks::engine->fill(to, byte, bytes, KS_HERE);
  return to;
}
KS_HOOK void* __msan_get_context_state() {
  return ks::call_state ? ks::call_state : ks::idle_call_state;
}
KS_HOOK void __msan_warning(ks::u32 origin) { ks::engine->used_undefined(origin, KS_HERE); }
KS_HOOK ks::u32 __msan_chain_origin(ks::u32 origin) { return origin; }
/// A variable comes to life: its value is not defined, and this is where it came from.
KS_HOOK void __msan_poison_alloca(void* at, ks::u64 bytes, char*) {
  ks::u64 i;
  if (!ks::own(at, i)) return;
  const ks::u32 origin = ks::kOriginVariable << ks::kOriginPlaceBits |
                         ks::u32(ks::u64(KS_HERE) - ks::private_memory.object);
  __builtin_memset(ks::private_memory.shadow + i, 0xff, bytes);
  ks::u32* words = (ks::u32*)(ks::private_memory.origin + (i & ~3ul));
  for (ks::u64 k = 0; k < (bytes + (i & 3) + 3) / 4; ++k) words[k] = origin;
}
KS_HOOK void __msan_unpoison_alloca(void* at, ks::u64 bytes) {
  if (ks::u64 i; ks::own(at, i)) __builtin_memset(ks::private_memory.shadow + i, 0, bytes);
}
KS_HOOK void __msan_instrument_asm_store(void*, ks::u64) {}

/// The head of the record that clang passes: a place (file, line, column), the type, and the
/// logarithm of the alignment it needs.
struct KsTypeMismatch {
  const char* file;
  ks::u32 line, column;
  const void* type;
  unsigned char log_alignment, kind;
};
KS_HOOK void __ubsan_handle_type_mismatch_v1(KsTypeMismatch* data, ks::u64 at) {
  ks::engine->misaligned((const void*)at, 1ul << data->log_alignment, KS_HERE);
}
KS_HOOK void __ubsan_handle_out_of_bounds(void*, ks::u64) { ks::engine->outside_array(KS_HERE); }

#endif  // KS_TRACED

/// `bytes`: how many, plus 1 << 16 for a store.
KS_HOOK void ks_trace_access(const void* at, ks::u32 site, ks::u32 bytes) {
  ks::engine->trace(at, site, bytes & 0xffffu, bytes >> 16 != 0);
}
KS_HOOK void ks_trace_range(const void* at, ks::u32 site, ks::u64 bytes, ks::u32 store) {
  ks::engine->trace(at, site, bytes, store != 0);
}
/// Of the thread that runs: one count a block. Initialisers of a kernel's constants run before
/// there is one: `idle` is theirs.
KS_HOOK ks::u32* ks_trace_counters(ks::u32* idle) { return ks::lane ? ks::lane->counters : idle; }

// libgcc 12 has no conversion to bfloat16: nearest, ties to even, a NaN stays one.
KS_HOOK __bf16 __truncsfbf2(float value) {
  ks::u32 bits = __builtin_bit_cast(ks::u32, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    bits |= 0x400000u;
  else
    bits += 0x7fffu + ((bits >> 16) & 1u);
  return __builtin_bit_cast(__bf16, ks::u16(bits >> 16));
}

namespace ks {

KS_PLAIN Dim attribute(const Thread& t, Attribute which) {
  switch (which) {
    case Attribute::position_in_group:
      return t.position_in_group;
    case Attribute::group_position:
      return t.group_position;
    case Attribute::position_in_grid:
      return t.position_in_grid;
    case Attribute::group_size:
      return t.group_size;
    case Attribute::dispatch_group_size:
      return t.dispatch_group_size;
    case Attribute::groups:
      return t.groups;
    case Attribute::grid_size:
      return t.grid_size;
    case Attribute::grid_origin:
      return {0, 0, 0};
    case Attribute::index_in_group:
      return {t.index_in_group, 0, 0};
    case Attribute::lane:
      return {t.lane, 0, 0};
    case Attribute::simdgroup:
      return {t.simdgroup, 0, 0};
    case Attribute::simdgroups:
      return {t.simdgroups, 0, 0};
    case Attribute::simdgroup_size:
      return {32, 0, 0};
    case Attribute::quad_lane:
      return {t.index_in_group % 4, 0, 0};
    case Attribute::quad:
      return {t.index_in_group / 4, 0, 0};
    case Attribute::quads:
      return {(t.group_size.x * t.group_size.y * t.group_size.z + 3) / 4, 0, 0};
  }
  __builtin_unreachable();
}

}  // namespace ks
