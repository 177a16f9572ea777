// __launch_bounds__(n, ...), which comes as an attribute of ours (ks_cuda_macros.h): a kernel that
// says so looks how many threads its block has.
#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

/// The end of an attribute's first argument: its arguments are [from, to).
std::size_t first_argument(const Source& source, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const Token& token = source.tokens[i];
    if (token.is(",")) return i;
    if (token.is("(") || token.is("[") || token.is("{")) i = source.after_closing(i) - 1;
    if (token.is("<") && source.after_angle(i) > i) i = source.after_angle(i) - 1;
  }
  return to;
}

}  // namespace

void check_thread_limits(Source& source, const Scopes& scopes) {
  for (const Function& function : scopes.functions)
    for (std::size_t i = function.head; i + 1 < function.open; ++i) {
      if (!source.tokens[i].is("ks_launch_bounds") || !source.tokens[i + 1].is("(")) continue;
      const std::size_t end = first_argument(source, i + 2, source.after_closing(i + 1) - 1);
      const std::string most = source.text(i + 2, end);
      if (!most.empty())
        source.tokens[function.open].written += " ks::limit_threads(" + most + ");";
    }
}

}  // namespace ksearch::simt::cuda
