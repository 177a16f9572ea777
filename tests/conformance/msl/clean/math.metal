// Floating-point functions: default and precise to the last bits, fast:: by the formulas that the
// language's specification gives for them. x covers -4 to 4 where a function takes it.
#include <metal_stdlib>
using namespace metal;

//# launch exponentials size=64
//# buffer x=f32:64:iota:-4:0.125
//# buffer y=f32:192
//# expect y[i] = i < 64 ? exp(x[i]) : i < 128 ? pow(2, x[i - 64]) : pow(10, x[i - 128]) within 3e-7
kernel void exponentials(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  y[i] = exp(x[i]);
  y[64 + i] = exp2(x[i]);
  y[128 + i] = exp10(x[i]);
}

//# launch logarithms size=64
//# buffer x=f32:64:iota:0.125:0.125
//# buffer y=f32:192
//# expect y[i] = i < 64 ? log(x[i]) : i < 128 ? log(x[i - 64]) / log(2) : log(x[i - 128]) / log(10) within 2e-7
kernel void logarithms(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = log(x[i]);
  y[64 + i] = log2(x[i]);
  y[128 + i] = log10(x[i]);
}

//# launch powers size=64
//# buffer x=f32:64:iota:0.125:0.125
//# buffer y=f32:256
//# expect y[i] = i < 64 ? pow(x[i], 2.5) : i < 128 ? pow(x[i - 64], -1.5) : i < 192 ? sqrt(x[i - 128]) : 1 / sqrt(x[i - 192]) within 2e-7
kernel void powers(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = pow(x[i], 2.5f);
  y[64 + i] = powr(x[i], -1.5f);
  y[128 + i] = sqrt(x[i]);
  y[192 + i] = rsqrt(x[i]);
}

//# launch circular size=64
//# buffer x=f32:64:iota:-4:0.125
//# buffer y=f32:384
//# expect y[i] = i < 64 ? sin(x[i]) : i < 128 ? cos(x[i - 64]) : i < 192 ? tan(x[i - 128]) : i < 256 ? sin(pi * x[i - 192]) : i < 320 ? cos(pi * x[i - 256]) : tan(pi * (x[i - 320] / 16)) within 3e-7
kernel void circular(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] = sin(x[i]);
  y[64 + i] = cos(x[i]);
  y[128 + i] = tan(x[i]);
  y[192 + i] = sinpi(x[i]);
  y[256 + i] = cospi(x[i]);
  y[320 + i] = tanpi(x[i] / 16);
}

//# launch inverses size=63
//# buffer x=f32:63:iota:-0.96875:0.03125
//# buffer y=f32:252
//# expect y[i] = i < 63 ? asin(x[i]) : i < 126 ? acos(x[i - 63]) : i < 189 ? atan(x[i - 126]) : atan2(x[i - 189], -0.5) within 2e-7
kernel void inverses(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] = asin(x[i]);
  y[63 + i] = acos(x[i]);
  y[126 + i] = atan(x[i]);
  y[189 + i] = atan2(x[i], -0.5f);
}

//# launch hyperbolic size=63
//# buffer x=f32:63:iota:-0.96875:0.03125
//# buffer y=f32:378
//# expect y[i] = i < 63 ? sinh(x[i]) : i < 126 ? cosh(x[i - 63]) : i < 189 ? tanh(x[i - 126]) : i < 252 ? log(x[i - 189] + sqrt(x[i - 189] * x[i - 189] + 1)) : i < 315 ? log(x[i - 252] + 2 + sqrt((x[i - 252] + 2) * (x[i - 252] + 2) - 1)) : 0.5 * log((1 + x[i - 315]) / (1 - x[i - 315])) within 3e-7
kernel void hyperbolic(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = sinh(x[i]);
  y[63 + i] = cosh(x[i]);
  y[126 + i] = tanh(x[i]);
  y[189 + i] = asinh(x[i]);
  y[252 + i] = acosh(x[i] + 2);
  y[315 + i] = atanh(x[i]);
}

//# launch rounding size=32
//# buffer x=f32:32:iota:-4:0.25
//# buffer y=f32:192
//# expect y[i] = i < 32 ? floor(x[i]) : i < 64 ? ceil(x[i - 32]) : i < 96 ? trunc(x[i - 64]) : i < 128 ? round(x[i - 96]) : i < 160 ? even(x[i - 128]) : x[i - 160] - floor(x[i - 160])
kernel void rounding(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] = floor(x[i]);
  y[32 + i] = ceil(x[i]);
  y[64 + i] = trunc(x[i]);
  y[96 + i] = round(x[i]);
  y[128 + i] = rint(x[i]);
  y[160 + i] = fract(x[i]);
}

//# launch pairs size=32
//# buffer x=f32:32:iota:-4:0.25
//# buffer y=f32:256
//# expect y[i] = i < 32 ? x[i] - trunc(x[i] / 1.5) * 1.5 : i < 64 ? max(x[i - 32] - 1, 0) : i < 96 ? -abs(x[i - 64]) : i < 128 ? min(x[i - 96], 0.5) : i < 160 ? max(x[i - 128], 0.5) : i < 192 ? x[i - 160] / 8 : i < 224 ? (x[i - 192] < 0.5 ? 0 : 1) : abs(x[i - 224])
kernel void pairs(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fmod(x[i], 1.5f);
  y[32 + i] = fdim(x[i], 1.0f);
  y[64 + i] = copysign(x[i], -2.0f);
  y[96 + i] = fmin(x[i], 0.5f);
  y[128 + i] = fmax(x[i], 0.5f);
  y[160 + i] = divide(x[i], 8.0f);
  y[192 + i] = step(0.5f, x[i]);
  y[224 + i] = fabs(x[i]);
}

//# launch threes size=32
//# buffer x=f32:32:iota:-4:0.25
//# buffer y=f32:288
//# expect y[i] = i < 32 ? 2 * x[i] + 1 : i < 64 ? min(min(x[i - 32], 1), -2) : i < 96 ? max(max(x[i - 64], 1), -2) : i < 128 ? max(min(x[i - 96], 1), -2) : i < 160 ? min(max(x[i - 128], 0), 1) : i < 192 ? min(max(x[i - 160], -1), 2) : i < 224 ? 1 + 2 * x[i - 192] : i < 256 ? (x[i - 224] > 0 ? 1 : x[i - 224] < 0 ? -1 : 0) : min(max((x[i - 256] + 2) / 4, 0), 1) * min(max((x[i - 256] + 2) / 4, 0), 1) * (3 - 2 * min(max((x[i - 256] + 2) / 4, 0), 1)) within 1e-7
kernel void threes(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = fma(2.0f, x[i], 1.0f);
  y[32 + i] = fmin3(x[i], 1.0f, -2.0f);
  y[64 + i] = fmax3(x[i], 1.0f, -2.0f);
  y[96 + i] = fmedian3(x[i], 1.0f, -2.0f);
  y[128 + i] = saturate(x[i]);
  y[160 + i] = clamp(x[i], -1.0f, 2.0f);
  y[192 + i] = mix(1.0f, 3.0f, x[i]);
  y[224 + i] = sign(x[i]);
  y[256 + i] = smoothstep(-2.0f, 2.0f, x[i]);
}

//# launch min_max_of_floats size=32
//# buffer x=f32:32:iota:-4:0.25
//# buffer y=f32:192
//# expect y[i] = i < 32 ? min(x[i], 1) : i < 64 ? max(x[i - 32], 1) : i < 96 ? min(min(x[i - 64], 1), -2) : i < 128 ? max(max(x[i - 96], 1), -2) : i < 160 ? max(min(x[i - 128], 1), -2) : abs(x[i - 160])
kernel void min_max_of_floats(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  y[i] = min(x[i], 1.0f);
  y[32 + i] = max(x[i], 1.0f);
  y[64 + i] = min3(x[i], 1.0f, -2.0f);
  y[96 + i] = max3(x[i], 1.0f, -2.0f);
  y[128 + i] = median3(x[i], 1.0f, -2.0f);
  y[160 + i] = abs(x[i]);
}

// Functions with two results, of scalars and of vectors.
//# launch two_results size=16
//# buffer x=f32:16:iota:0.625:1.25
//# buffer y=f32:144
//# expect y[i] = i < 16 ? x[i] - trunc(x[i]) : i < 32 ? trunc(x[i - 16]) : i < 48 ? x[i - 32] : i < 64 ? floor(log(x[i - 48]) / log(2)) + 1 : i < 80 ? 4 * x[i - 64] : i < 96 ? floor(log(x[i - 80]) / log(2)) : i < 112 ? sin(x[i - 96]) : i < 128 ? cos(x[i - 112]) : x[i - 128] * 2 - trunc(x[i - 128] * 2) within 2e-7
kernel void two_results(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  float whole, cosine;
  int exponent;
  y[i] = modf(x[i], whole);
  y[16 + i] = whole;
  const float mantissa = frexp(x[i], exponent);
  y[32 + i] = ldexp(mantissa, exponent);
  y[48 + i] = float(exponent);
  y[64 + i] = ldexp(x[i], 2);
  y[80 + i] = float(ilogb(x[i]));
  y[96 + i] = sincos(x[i], cosine);
  y[112 + i] = cosine;
  float2 wholes;
  y[128 + i] = modf(float2(x[i], 2 * x[i]), wholes).y;
}

//# launch special_values size=1
//# buffer x=f32:4:ints:1:2:3:4
//# buffer y=f32:20
//# expect y = nan, inf, -inf, 0, nan, 1, 1, nan, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1.00000011920928955, 0.99999994039535522
kernel void special_values(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  const float one = x[0], zero = one - 1.0f;
  y[0] = sqrt(-one);
  y[1] = one / zero;
  y[2] = log(zero);
  y[3] = exp(-INFINITY);
  y[4] = powr(-one, 2.0f);
  y[5] = fmax(NAN, one);
  y[6] = min(one, NAN);
  y[7] = INFINITY - one / zero;
  y[8] = isnan(one);
  y[9] = isinf(NAN);
  y[10] = isnan(NAN) ? 1 : 0;
  y[11] = isinf(-INFINITY);
  y[12] = isfinite(INFINITY);
  y[13] = isnormal(one);
  y[14] = signbit(-zero);
  y[15] = isordered(one, zero);
  y[16] = isordered(one, NAN);
  y[17] = isunordered(one, NAN);
  y[18] = nextafter(one, 2.0f);
  y[19] = nextafter(one, 0.0f);
}

// precise:: is exact to the last bits too.
//# launch precise_forms size=64
//# buffer x=f32:64:iota:0.125:0.125
//# buffer y=f32:640
//# expect y[i] = i < 64 ? exp(x[i]) : i < 128 ? log(x[i - 64]) : i < 192 ? sqrt(x[i - 128]) : i < 256 ? 1 / sqrt(x[i - 192]) : i < 320 ? tanh(x[i - 256]) : i < 384 ? sin(x[i - 320]) : i < 448 ? cos(x[i - 384]) : i < 512 ? pow(x[i - 448], 1.5) : i < 576 ? tan(x[i - 512]) : x[i - 576] / 3 within 3e-7
kernel void precise_forms(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = precise::exp(x[i]);
  y[64 + i] = precise::log(x[i]);
  y[128 + i] = precise::sqrt(x[i]);
  y[192 + i] = precise::rsqrt(x[i]);
  y[256 + i] = precise::tanh(x[i]);
  y[320 + i] = precise::sin(x[i]);
  y[384 + i] = precise::cos(x[i]);
  y[448 + i] = precise::pow(x[i], 1.5f);
  y[512 + i] = precise::tan(x[i]);
  y[576 + i] = precise::divide(x[i], 3.0f);
}

//# launch fast_forms size=64
//# buffer x=f32:64:iota:0.125:0.0625
//# buffer y=f32:768
//# expect y[i] = i < 64 ? exp(x[i]) : i < 128 ? pow(2, x[i - 64]) : i < 192 ? log(x[i - 128]) : i < 256 ? log(x[i - 192]) / log(2) : i < 320 ? pow(x[i - 256], 1.5) : i < 384 ? sin(x[i - 320]) : i < 448 ? cos(x[i - 384]) : i < 512 ? tanh(x[i - 448]) : i < 576 ? sqrt(x[i - 512]) : i < 640 ? 1 / sqrt(x[i - 576]) : i < 704 ? x[i - 640] / 3 : max(x[i - 704], 1) within 4e-6
kernel void fast_forms(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = fast::exp(x[i]);
  y[64 + i] = fast::exp2(x[i]);
  y[128 + i] = fast::log(x[i]);
  y[192 + i] = fast::log2(x[i]);
  y[256 + i] = fast::pow(x[i], 1.5f);
  y[320 + i] = fast::sin(x[i]);
  y[384 + i] = fast::cos(x[i]);
  y[448 + i] = fast::tanh(x[i]);
  y[512 + i] = fast::sqrt(x[i]);
  y[576 + i] = fast::rsqrt(x[i]);
  y[640 + i] = fast::divide(x[i], 3.0f);
  y[704 + i] = fast::max(x[i], 1.0f);
}

// What the formulas of fast:: do at the edges: tanh is (t - 1) / (t + 1) with t = exp(2 x), and t
// overflows; subnormal results are flushed to zero.
//# launch fast_edges size=1
//# buffer x=f32:2:ints:50:-100
//# buffer y=f32:5
//# expect y = nan, 1, 0, 3.72e-44, inf within 1e-44
kernel void fast_edges(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  y[0] = fast::tanh(x[0]);
  y[1] = precise::tanh(x[0]);
  y[2] = fast::exp(x[1]);
  y[3] = precise::exp(x[1]);
  y[4] = fast::cosh(2 * x[0]);
}

// A function of vectors works on each component; a scalar beside a vector counts for all.
//# launch vector_forms size=8
//# buffer x=f32:32:iota:-4:0.25
//# buffer y=f32:256
//# expect y[i] = i < 32 ? exp(x[i]) : i < 64 ? pow(abs(x[i - 32]), 2) : i < 96 ? max(x[i - 64], 0) : i < 128 ? min(max(x[i - 96], -1), 1) : i < 160 ? 2 * x[i - 128] + 1 : i < 192 ? x[i - 160] + 0.25 * (1 - x[i - 160]) : i < 224 ? (x[i - 192] < 0 ? 0 : x[i - 192]) : x[i - 224] - floor(x[i - 224]) within 1e-6
kernel void vector_forms(device const float4* x [[buffer(0)]], device float4* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  y[i] = exp(x[i]);
  y[8 + i] = pow(abs(x[i]), 2.0f);
  y[16 + i] = max(x[i], 0.0f);
  y[24 + i] = clamp(x[i], -1.0f, 1.0f);
  y[32 + i] = fma(x[i], float4(2.0f), float4(1.0f));
  y[40 + i] = mix(x[i], float4(1.0f), 0.25f);
  y[48 + i] = select(x[i], float4(0.0f), x[i] < 0.0f);
  y[56 + i] = fract(x[i]);
}

//# launch geometry size=1
//# buffer x=f32:6:ints:3:4:12:1:0:0
//# buffer y=f32:20
//# expect y = 3, 13, 169, 12.806248474865697, 164, 0.23076923076923078, 0.30769230769230771, 0.92307692307692313, 0, 12, -4, -3, 4, 12, 3, 4, 12, 1, 0, 1 within 1e-6
kernel void geometry(device const packed_float3* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  const float3 a = float3(x[0]), b = float3(x[1]);
  y[0] = dot(a, b);
  y[1] = length(a);
  y[2] = length_squared(a);
  y[3] = distance(a, b);
  y[4] = distance_squared(a, b);
  const float3 n = normalize(a);
  y[5] = n.x, y[6] = n.y, y[7] = n.z;
  const float3 c = cross(a, b);
  y[8] = c.x, y[9] = c.y, y[10] = c.z;
  const float3 r = reflect(a, b);
  y[11] = r.x, y[12] = r.y, y[13] = r.z;
  const float3 f = faceforward(a, -b, b);
  y[14] = f.x, y[15] = f.y, y[16] = f.z;
  y[17] = any(a > 11.0f) ? 1 : 0;
  y[18] = all(a > 11.0f) ? 1 : 0;
  y[19] = refract(b, -b, 1.0f).x;
}
