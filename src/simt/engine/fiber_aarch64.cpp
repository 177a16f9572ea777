#include <cstdint>
#include <cstring>

#include "simt/engine/fiber.h"

// AAPCS64: x19 to x30 and d8 to d15 are the callee's to keep.
#ifdef __APPLE__
#define KS_SYMBOL "_ksearch_switch_fiber"
#else
#define KS_SYMBOL "ksearch_switch_fiber"
#endif
__asm__(".text\n.globl " KS_SYMBOL "\n.p2align 2\n" KS_SYMBOL
        ":\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n");

namespace ksearch::simt {

void* prepare_fiber(std::byte* end, void (*entry)()) noexcept {
  constexpr std::size_t kWords = 20, kReturn = 11;  // x30
  std::uintptr_t words[kWords] = {};
  words[kReturn] = reinterpret_cast<std::uintptr_t>(entry);
  std::byte* top = end - sizeof(words);
  std::memcpy(top, words, sizeof(words));
  return top;
}

}  // namespace ksearch::simt
