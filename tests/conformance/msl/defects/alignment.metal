// Addresses that are no multiple of the type's alignment.
#include <metal_stdlib>
using namespace metal;

//# launch vectors_from_odd_rows size=4
//# buffer x=f32:21:iota
//# buffer y=f32:16
//# finds misaligned_access
kernel void vectors_from_odd_rows(device const float* x [[buffer(0)]], device float4* y [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
  y[i] = 2.0f * *(device const float4*)(x + 5 * i); //! misaligned_access
}

//# launch words_of_blocks size=4
//# buffer q=u8:72:iota
//# buffer y=u32:4
//# finds misaligned_access
kernel void words_of_blocks(device const uchar* q [[buffer(0)]], device uint* y [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = *(device const uint*)(q + 18 * i); //! misaligned_access
}

//# launch matrices_of_halves size=2
//# buffer x=f16:34:iota
//# buffer y=f32:2
//# finds misaligned_access
kernel void matrices_of_halves(device const half* x [[buffer(0)]], device float* y [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
  device const half4x4* m = (device const half4x4*)(x + 17 * i);
  y[i] = float((*m)[1][1]); //! misaligned_access
}
