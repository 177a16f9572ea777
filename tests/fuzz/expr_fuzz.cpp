// Any text is an expression or an error; what parses evaluates to a value or an error.
#include <cstdint>
#include <string_view>

#include "kernel/expr.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ksearch::kernel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto e = Expr::parse(text, "fuzz");
  if (!e) return 0;
  Scope scope;
  for (const auto& name : e->names()) scope.set(name, std::int64_t{3});
  for (const auto& name : e->tensors()) scope.set_present(name, true);
  (void)e->eval(scope);
  return 0;
}
