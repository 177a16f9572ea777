// Function constants: each launch has its own, as each pipeline of Metal has.
#include <metal_stdlib>
using namespace metal;

constant bool use_bias [[function_constant(0)]];
constant int width [[function_constant(7)]];
#define FIRST 1
constant float factor [[function_constant(FIRST + 2)]];
constant bool has_factor = is_function_constant_defined(factor);
constant float used_factor = has_factor ? factor : 10.0f;

//# launch constants name=with_bias size=4 const=0:true,7:3
//# buffer x=f32:4:iota
//# buffer@2 y=f32:4
//# buffer@1 bias=f32:4:iota:100
//# expect y[i] = 3 * x[i] * 10 + bias[i]
//# launch constants name=without size=4 const=0:false,7:5,3:0.5
//# buffer x=f32:4:iota
//# buffer@2 y=f32:4
//# expect y[i] = 5 * x[i] * 0.5
kernel void constants(device const float* x [[buffer(0)]],
                      device const float* bias [[buffer(1), function_constant(use_bias)]],
                      device float* y [[buffer(FIRST + 1)]], uint i [[thread_position_in_grid]]) {
  float r = width * x[i] * used_factor;
  if (use_bias) r += bias[i];
  y[i] = r;
}

template <typename T>
[[kernel]] void tiles(device T* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup T tile[64];
  for (int k = 0; k < width; ++k)
    if (t == uint(k)) tile[k] = T(k);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = int(t) < width ? tile[width - 1 - t] : T(-1);
}
template [[host_name("tiles_float")]] [[kernel]] decltype(tiles<float>) tiles<float>;
//# launch tiles_float name=narrow size=8 const=0:false,7:3
//# buffer y=f32:8
//# expect y = 2, 1, 0, -1, -1, -1, -1, -1
//# launch tiles_float name=wide size=8 const=0:false,7:8
//# buffer y=f32:8
//# expect y = 7, 6, 5, 4, 3, 2, 1, 0
