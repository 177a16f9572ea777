// More threadgroup memory than a group may have.
#include <metal_stdlib>
using namespace metal;

//# launch too_much size=32
//# buffer y=f32:32
//# finds group_memory_limit
kernel void too_much(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[9000];
  tile[t] = t;
  y[t] = tile[t];
}
