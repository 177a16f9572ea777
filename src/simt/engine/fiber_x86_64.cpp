#include <cstdint>
#include <cstring>

#include "simt/engine/fiber.h"

// System V: rbx, rbp, r12 to r15 are the callee's to keep. Rounding modes are not: nothing here
// changes them.
#ifdef __APPLE__
#define KS_SYMBOL "_ksearch_switch_fiber"
#else
#define KS_SYMBOL "ksearch_switch_fiber"
#endif
__asm__(".text\n.globl " KS_SYMBOL "\n" KS_SYMBOL
        ":\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n");

namespace ksearch::simt {

void* prepare_fiber(std::byte* end, void (*entry)()) noexcept {
  // Six registers, the address `ret` takes, and one word so that `entry` finds the stack as a call
  // would leave it: 8 below a multiple of 16.
  constexpr std::size_t kWords = 8;
  std::uintptr_t words[kWords] = {};
  words[6] = reinterpret_cast<std::uintptr_t>(entry);
  std::byte* top = end - sizeof(words);
  std::memcpy(top, words, sizeof(words));
  return top;
}

}  // namespace ksearch::simt
