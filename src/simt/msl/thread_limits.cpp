// [[max_total_threads_per_threadgroup(n)]]: a kernel that says so looks how many there are.
#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {

void check_thread_limits(Source& source, const Scopes& scopes) {
  for (const Function& function : scopes.functions)
    for (std::size_t i = function.head; i < function.open; ++i) {
      if (source.tokens[i].kind != Token::Kind::attribute) continue;
      for (const Attribute& attribute : source.attributes[source.tokens[i].attributes])
        if (attribute.name == "max_total_threads_per_threadgroup" && !attribute.argument.empty())
          source.tokens[function.open].written += " ks::limit_threads(" + attribute.argument + ");";
    }
}

}  // namespace ksearch::simt::msl
