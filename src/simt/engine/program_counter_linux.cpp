#include <ucontext.h>

#include "simt/engine/program_counter.h"

namespace ksearch::simt {

const void* program_counter(const void* context) {
  [[maybe_unused]] const auto* c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(c->uc_mcontext.gregs[REG_RIP] + 1);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(c->uc_mcontext.pc + 4);
#else
  return nullptr;
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
