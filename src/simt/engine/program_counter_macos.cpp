#include <sys/ucontext.h>

#include "simt/engine/program_counter.h"

namespace ksearch::simt {

CodePosition code_position(const void* context) {
  [[maybe_unused]] const auto& state = static_cast<const ucontext_t*>(context)->uc_mcontext->__ss;
#if defined(__aarch64__)
  return {.pc = reinterpret_cast<const void*>(state.__pc + 4),
          .link = reinterpret_cast<const void*>(state.__lr),
          .stack = reinterpret_cast<const std::byte*>(state.__sp)};
#elif defined(__x86_64__)
  return {.pc = reinterpret_cast<const void*>(state.__rip + 1),
          .stack = reinterpret_cast<const std::byte*>(state.__rsp)};
#else
  return {};
#endif
}

RefusedCall refused_call(const siginfo_t*, const void*) { return {}; }  // no filter refuses any

}  // namespace ksearch::simt
