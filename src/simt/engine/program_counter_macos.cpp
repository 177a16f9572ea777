#include <sys/ucontext.h>

#include "simt/engine/program_counter.h"

namespace ksearch::simt {

const void* program_counter(const void* context) {
  [[maybe_unused]] const auto* c = static_cast<const ucontext_t*>(context);
#if defined(__aarch64__)
  return reinterpret_cast<const void*>(c->uc_mcontext->__ss.__pc + 4);
#elif defined(__x86_64__)
  return reinterpret_cast<const void*>(c->uc_mcontext->__ss.__rip + 1);
#else
  return nullptr;
#endif
}

RefusedCall refused_call(const siginfo_t*, const void*) { return {}; }  // no filter refuses any

}  // namespace ksearch::simt
