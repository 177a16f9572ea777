// The functions that clang's instrumentation calls (-fsanitize=kernel-memory: every load and store,
// with the definedness of values carried along; -fsanitize=alignment,array-bounds), handed on to
// the engine. What touches a thread's own memory is answered here. Nothing here is instrumented
// itself. Without KS_TRACED, nothing calls them and most is left out.
#pragma once
#include "ks_abi.h"

#define KS_PLAIN                                    \
  __attribute__((disable_sanitizer_instrumentation, \
                 no_sanitize("alignment", "array-bounds", "local-bounds")))
#define KS_HOOK extern "C" KS_PLAIN __attribute__((noinline, used))
#define KS_HERE __builtin_return_address(0)
#define KS_IN_LINE __attribute__((always_inline))
#if KS_TRACED
/// For small functions on the engine's own data, which nobody is to watch.
#define KS_UNWATCHED KS_PLAIN __attribute__((noinline)) inline
#else
#define KS_UNWATCHED __attribute__((always_inline)) inline
#endif

namespace ks {

/// Initialisers of a kernel's constants run before there is an engine: all they use is defined.
struct Idle {
  static constexpr u64 kWidest = 4096;
  inline static char zeros[kWidest], waste[kWidest];
  KS_PLAIN static Meta load(const void*, u64, const void*) { return {zeros, zeros}; }
  KS_PLAIN static Meta store(void*, u64, const void*) { return {waste, waste}; }
  KS_PLAIN static void copy(void* to, const void* from, u64 bytes, const void*) {
    __builtin_memmove(to, from, bytes);
  }
  KS_PLAIN static void fill(void* to, int byte, u64 bytes, const void*) {
    __builtin_memset(to, byte, bytes);
  }
  KS_PLAIN static void undefined(u32, const void*) {}
  KS_PLAIN static void misaligned(const void*, u64, const void*) {}
  KS_PLAIN static void outside(const void*) {}
};
inline constexpr Engine kIdle{Idle::load,      Idle::store,      Idle::copy,    Idle::fill,
                              Idle::undefined, Idle::misaligned, Idle::outside, nullptr,
                              nullptr,         nullptr,          nullptr,       nullptr,
                              nullptr,         nullptr};

inline const Engine* engine = &kIdle;
inline PrivateMemory private_memory;
inline char idle_call_state[8192];
// One of each for every OS thread. Lanes never change theirs.
inline constinit thread_local Lane* lane = nullptr;
inline constinit thread_local void* call_state = nullptr;

KS_UNWATCHED Lane* this_lane() { return lane; }
KS_UNWATCHED const Engine* this_engine() { return engine; }

}  // namespace ks

#if KS_TRACED

namespace ks {

/// Where clang's instrumentation passes the definedness of arguments and of what is returned:
/// kmsan_context_state. An argument of up to eight bytes has eight.
struct CallState {
  u64 arguments[100];
  u64 returned;
  char others[2400];  // more of what is returned, variable arguments
  u32 argument_origins[200];
  u32 returned_origin;
};
static_assert(__builtin_offsetof(CallState, argument_origins) == 4 * 800 + 8);

__attribute__((always_inline)) KS_PLAIN inline bool own(const void* at, u64& offset) {
  offset = u64(at) - private_memory.begin;
  return offset < private_memory.bytes;
}
__attribute__((always_inline)) KS_PLAIN inline Meta own_meta(u64 offset) {
  return {private_memory.shadow + offset, private_memory.origin + (offset & ~3ul)};
}

/// Whether what all 32 lanes posted is defined, and was posted in words.
KS_PLAIN inline bool all_defined(Post* const* lanes) {
  bool all = true;
  for (u32 l = 0; l < 32; ++l) all &= lanes[l]->clean;
  return all;
}
KS_PLAIN inline void define(void* at, u64 bytes) {
  __builtin_memset(private_memory.shadow + (u64(at) - private_memory.begin), 0, bytes);
}

}  // namespace ks

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

#else

namespace ks {

inline bool all_defined(Post* const*) { return true; }
inline void define(void*, u64) {}

}  // namespace ks

#endif  // KS_TRACED

// libgcc 12 has no conversion to bfloat16: nearest, ties to even, a NaN stays one.
KS_HOOK __bf16 __truncsfbf2(float value) {
  ks::u32 bits = __builtin_bit_cast(ks::u32, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    bits |= 0x400000u;
  else
    bits += 0x7fffu + ((bits >> 16) & 1u);
  return __builtin_bit_cast(__bf16, ks::u16(bits >> 16));
}
