#include <ucontext.h>

#include "simt/engine/program_counter.h"

namespace ksearch::simt {

CodePosition code_position(const void* context) {
  [[maybe_unused]] const auto& state = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {.pc = reinterpret_cast<const void*>(state.gregs[REG_RIP] + 1),
          .stack = reinterpret_cast<const std::byte*>(state.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {.pc = reinterpret_cast<const void*>(state.pc + 4),
          .link = reinterpret_cast<const void*>(state.regs[30]),
          .stack = reinterpret_cast<const std::byte*>(state.sp)};
#else
  return {};
#endif
}

RefusedCall refused_call(const siginfo_t* info, const void* context) {
  [[maybe_unused]] const auto* c = static_cast<const ucontext_t*>(context);
  RefusedCall call{.number = info->si_syscall, .pc = info->si_call_addr};
#if defined(__x86_64__)
  call.first_argument = static_cast<std::uint64_t>(c->uc_mcontext.gregs[REG_RDI]);
#elif defined(__aarch64__)
  call.first_argument = c->uc_mcontext.regs[0];
#endif
  return call;
}

}  // namespace ksearch::simt
