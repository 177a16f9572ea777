#include "simt/ir/stack.h"

#include "simt/ir/module.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {

std::size_t stack_bytes(std::string_view text) {
  constexpr std::string_view kMade = " = alloca ";
  const Module module(text);
  std::size_t sum = 0;
  for (std::size_t at = text.find(kMade); at != std::string_view::npos;
       at = text.find(kMade, at + 1)) {
    const std::string_view rest = text.substr(at + kMade.size());
    const auto all = words(rest.substr(0, rest.find('\n')));
    if (!all.empty()) sum += static_cast<std::size_t>(bytes_of(module, all[0]));
  }
  return sum;
}

}  // namespace ksearch::simt::ir
