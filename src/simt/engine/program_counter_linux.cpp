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

}  // namespace ksearch::simt
