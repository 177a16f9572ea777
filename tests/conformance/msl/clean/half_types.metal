// half and bfloat: storage, arithmetic that rounds once, conversions, vectors.
#include <metal_stdlib>
using namespace metal;

//# launch half_arithmetic size=32
//# buffer a=f16:32:normal
//# buffer b=f16:32:uniform:1:2
//# buffer y=f16:128
//# expect y[i] = i < 32 ? a[i] + b[i] : i < 64 ? a[i - 32] * b[i - 32] : i < 96 ? a[i - 64] / b[i - 64] : a[i - 96] - b[i - 96]
kernel void half_arithmetic(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                            device half* y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  y[i] = a[i] + b[i];
  y[32 + i] = a[i] * b[i];
  y[64 + i] = a[i] / b[i];
  y[96 + i] = a[i] - b[i];
}

//# launch bfloat_arithmetic size=32
//# buffer a=bf16:32:normal
//# buffer b=bf16:32:uniform:1:2
//# buffer y=bf16:128
//# expect y[i] = i < 32 ? a[i] + b[i] : i < 64 ? a[i - 32] * b[i - 32] : i < 96 ? a[i - 64] / b[i - 64] : a[i - 96] - b[i - 96]
kernel void bfloat_arithmetic(device const bfloat* a [[buffer(0)]],
                              device const bfloat* b [[buffer(1)]], device bfloat* y [[buffer(2)]],
                              uint i [[thread_position_in_grid]]) {
  y[i] = a[i] + b[i];
  y[32 + i] = a[i] * b[i];
  y[64 + i] = a[i] / b[i];
  y[96 + i] = a[i] - b[i];
}

//# launch conversions size=16
//# buffer x=f32:16:normal:0:3
//# buffer h=f16:16
//# buffer b=bf16:16
//# buffer y=f32:64
//# expect h[i] = f16(x[i])
//# expect b[i] = bf16(x[i])
//# expect y[i] = i < 16 ? bf16(f16(x[i])) : i < 32 ? f16(bf16(x[i - 16])) : i < 48 ? trunc(x[i - 32]) : trunc(f16(x[i - 48]))
kernel void conversions(device const float* x [[buffer(0)]], device half* h [[buffer(1)]],
                        device bfloat* b [[buffer(2)]], device float* y [[buffer(3)]],
                        uint i [[thread_position_in_grid]]) {
  h[i] = half(x[i]);
  b[i] = bfloat(x[i]);
  y[i] = float(static_cast<bfloat>(h[i]));
  y[16 + i] = float(static_cast<half>(b[i]));
  y[32 + i] = float(int(x[i]));
  y[48 + i] = float(short(h[i]));
}

//# launch ties_and_overflow size=1
//# buffer x=f32:3:ints:1:3:65504
//# buffer y=f32:8
//# expect y = 2048, 2052, 256, 260, inf, 0.333251953125, 0.333984375, 2.71875
kernel void ties_and_overflow(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  y[0] = float(half(2048.0f) + half(x[0]));
  y[1] = float(half(2048.0f) + half(x[1]));
  y[2] = float(bfloat(256.0f) + bfloat(x[0]));
  y[3] = float(bfloat(256.0f) + bfloat(x[1]));
  y[4] = float(half(x[2]) * 2.0h);
  y[5] = float(half(x[0] / x[1]));
  y[6] = float(bfloat(x[0] / x[1]));
  y[7] = float(exp(half(x[0])));
}

//# launch half_vectors size=8
//# buffer x=f16:32:normal
//# buffer y=f16:32
//# buffer z=f32:8
//# expect y[i] = max(f16(x[i] + x[i]), 0)
//# expect z[i] = x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3] within 1e-6
kernel void half_vectors(device const half4* x [[buffer(0)]], device half4* y [[buffer(1)]],
                         device float* z [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  y[i] = max(x[i] + x[i], 0.0h);
  z[i] = dot(float4(x[i]), float4(1.0f));
}

//# launch bfloat_vectors size=8
//# buffer x=bf16:32:normal
//# buffer y=bf16:32
//# expect y[i] = x[i] < 0 ? bf16(x[i] * 0.5) : x[i]
kernel void bfloat_vectors(device const bfloat4* x [[buffer(0)]], device bfloat4* y [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  y[i] = select(x[i], x[i] * bfloat4(0.5bf), x[i] < bfloat4(0.0bf));
}

// An accumulator in float, inputs in half: what every reduction does.
//# launch mixed_precision size=32
//# buffer a=f16:1024:normal
//# buffer b=bf16:1024:normal
//# buffer y=f32:32
//# expect y[i] = sum(k, 0, 32, a[32 * i + k] * b[32 * i + k]) within 1e-5
kernel void mixed_precision(device const half* a [[buffer(0)]], device const bfloat* b [[buffer(1)]],
                            device float* y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  float total = 0;
  for (uint k = 0; k < 32; ++k) total = fma(float(a[32 * i + k]), float(b[32 * i + k]), total);
  y[i] = total;
}
