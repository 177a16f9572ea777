// The functions that clang's instrumentation calls (-fsanitize=kernel-memory: every load and store,
// with the definedness of values carried along; -fsanitize=alignment,array-bounds), handed on to
// the engine. Nothing here is instrumented itself.
#pragma once
#include "ks_abi.h"

#define KS_PLAIN __attribute__((disable_sanitizer_instrumentation))
#define KS_HOOK extern "C" __attribute__((noinline, used, disable_sanitizer_instrumentation))
#define KS_HERE __builtin_return_address(0)

namespace ks {
inline const Engine* engine = nullptr;
inline Lane* lane = nullptr;
inline void* call_state = nullptr;
}  // namespace ks

#define KS_ACCESS(n)                                             \
  KS_HOOK ks::Meta __msan_metadata_ptr_for_load_##n(void* at) {  \
    return ks::engine->load(at, n, KS_HERE);                     \
  }                                                              \
  KS_HOOK ks::Meta __msan_metadata_ptr_for_store_##n(void* at) { \
    return ks::engine->store(at, n, KS_HERE);                    \
  }
KS_ACCESS(1)
KS_ACCESS(2)
KS_ACCESS(4)
KS_ACCESS(8)

KS_HOOK ks::Meta __msan_metadata_ptr_for_load_n(void* at, ks::u64 bytes) {
  return ks::engine->load(at, bytes, KS_HERE);
}
KS_HOOK ks::Meta __msan_metadata_ptr_for_store_n(void* at, ks::u64 bytes) {
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
KS_HOOK void* __msan_get_context_state() { return ks::call_state; }
KS_HOOK void __msan_warning(ks::u32 origin) { ks::engine->used_undefined(origin, KS_HERE); }
KS_HOOK ks::u32 __msan_chain_origin(ks::u32 origin) { return origin; }
KS_HOOK void __msan_poison_alloca(void* at, ks::u64 bytes, char*) {
  ks::engine->begin_variable(at, bytes, KS_HERE);
}
KS_HOOK void __msan_unpoison_alloca(void* at, ks::u64 bytes) {
  ks::engine->end_variable(at, bytes);
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

// libgcc 12 has no conversion to bfloat16: nearest, ties to even, a NaN stays one.
KS_HOOK __bf16 __truncsfbf2(float value) {
  ks::u32 bits = __builtin_bit_cast(ks::u32, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    bits |= 0x400000u;
  else
    bits += 0x7fffu + ((bits >> 16) & 1u);
  return __builtin_bit_cast(__bf16, ks::u16(bits >> 16));
}
