// The plain loop that the SIMT engine is measured against.
#pragma once

namespace ksearch::bench {

/// Attention forward, [heads, length, 64], in float. Softmax of each row with its maximum taken
/// out.
void attention_loop(const float* q, const float* k,
                    const float* v, float* o, int heads, int length);

}  // namespace ksearch::bench
