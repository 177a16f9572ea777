// Stacks that take turns on one OS thread, for each processor.
//
// A switch is in line, not a call: it ends with an indirect jump, and lanes that all wait in one
// function find its return address predicted as for any other call. A `ret` to another stack is
// predicted wrong nearly always (measured: 13 ns, in line 1.5 ns). Rounding modes are not kept:
// nothing here changes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ksearch::simt {

#if defined(__x86_64__)

/// What a stack that waits has on top: where it goes on, and a word of its own.
struct FiberTop {
  void (*resume)() = nullptr;
  std::uintptr_t frame = 0;
};

#ifdef __AVX512F__
#define KSEARCH_WIDE_REGISTERS                                                                  \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", \
      "k7"
#else
#define KSEARCH_WIDE_REGISTERS
#endif

/// Leaves the running stack, its top in `*from`, and goes on at `to`. Returns when somebody
/// switches back.
[[gnu::always_inline]] inline void switch_fiber(void** from, void* to) noexcept {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n"  // below the red zone
      "pushq %%rbp\n"
      "leaq 1f(%%rip), %%rax\n"
      "pushq %%rax\n"
      "movq %%rsp, (%%rdi)\n"
      "movq %%rsi, %%rsp\n"
      "popq %%rax\n"
      "jmpq *%%rax\n"
      "1:\n"
      "popq %%rbp\n"
      "leaq 128(%%rsp), %%rsp\n"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc" KSEARCH_WIDE_REGISTERS);
}
#undef KSEARCH_WIDE_REGISTERS

#elif defined(__aarch64__)

struct FiberTop {
  std::uintptr_t frame = 0;
  void (*resume)() = nullptr;
};

[[gnu::always_inline]] inline void switch_fiber(void** from, void* to) noexcept {
  register void** from_register __asm__("x0") = from;
  register void* to_register __asm__("x1") = to;
  __asm__ volatile(
      "sub sp, sp, #128\n"  // Apple's red zone
      "adr x16, 1f\n"
      "stp x29, x16, [sp, #-16]!\n"
      "mov x17, sp\n"
      "str x17, [x0]\n"
      "mov sp, x1\n"
      "ldp x29, x16, [sp], #16\n"
      "br x16\n"
      "1:\n"
      "add sp, sp, #128\n"
      : "+r"(from_register), "+r"(to_register)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17",
#ifndef __APPLE__
        "x18",  // Apple's own; a register like any other elsewhere
#endif
        "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1",
        "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
        "v29", "v30", "v31", "memory", "cc");
}

#else
#error "no switch of stacks for this processor"
#endif

/// The top to switch to so that `entry` starts on the stack that ends at `end`, a multiple of 16.
/// It must not return.
inline void* prepare_fiber(std::byte* end, void (*entry)()) noexcept {
  // Zeros above: where a caller's return address would be. `entry` finds the stack as a call would
  // leave it.
  constexpr std::size_t kRoom = 32;
  static_assert(sizeof(FiberTop) == 16);
  std::byte* const top = end - kRoom;
  std::memset(top, 0, kRoom);
  const FiberTop words{.resume = entry};
  std::memcpy(top, &words, sizeof(words));
  return top;
}

}  // namespace ksearch::simt
