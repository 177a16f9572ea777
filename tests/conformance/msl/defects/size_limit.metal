// More threads than a group may have.
#include <metal_stdlib>
using namespace metal;

//# launch too_many size=32,33
//# buffer y=f32:1056
//# finds group_size_limit
kernel void too_many(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  y[t] = t;
}
