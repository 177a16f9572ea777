// The plain loop that the SIMT engine is measured against.
#pragma once

#include <vector>

namespace ksearch::bench {

/// Attention forward, [heads, length, 64], in float. Softmax of each row with its maximum taken
/// out.
void attention_loop(const std::vector<float>& q, const std::vector<float>& k,
                    const std::vector<float>& v, std::vector<float>& o, int heads, int length);

}  // namespace ksearch::bench
