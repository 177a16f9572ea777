// Kernels of the families that public libraries have, small: normalisations, products, scans,
// sorting, attention, convolution, quantised weights.
#include <metal_stdlib>
using namespace metal;

//# launch softmax groups=4 size=64
//# buffer x=f32:400:normal:0:3
//# buffer y=f32:400
//# expect y[i] = exp(x[i]) / sum(k, 0, 100, exp(x[floor(i / 100) * 100 + k])) within 1e-6
kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint g [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[32];
  device const float* row = x + 100 * g;
  float high = -INFINITY;
  for (uint k = t; k < 100; k += 64) high = max(high, row[k]);
  high = simd_max(high);
  if (simd == 0) part[lane] = -INFINITY;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[simd] = high;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  high = simd_max(part[lane]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float total = 0;
  for (uint k = t; k < 100; k += 64) total += fast::exp(row[k] - high);
  total = simd_sum(total);
  if (simd == 0) part[lane] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[simd] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = simd_sum(part[lane]);
  for (uint k = t; k < 100; k += 64) y[100 * g + k] = fast::exp(row[k] - high) / total;
}

//# launch rms_norm groups=3 size=32
//# buffer x=f16:384:normal
//# buffer w=f16:128:uniform:0.5:1.5
//# buffer y=f16:384
//# expect y[i] = x[i] * w[i % 128] / sqrt(sum(k, 0, 128, x[floor(i / 128) * 128 + k] * x[floor(i / 128) * 128 + k]) / 128 + 0.00001) within 2e-3
kernel void rms_norm(device const half4* x [[buffer(0)]], device const half4* w [[buffer(1)]],
                     device half4* y [[buffer(2)]], uint g [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
  const float4 v = float4(x[32 * g + lane]);
  const float mean = simd_sum(dot(v, v)) / 128;
  y[32 * g + lane] = w[lane] * half4(v * precise::rsqrt(mean + 1e-5f));
}

//# launch layer_norm groups=2 size=128
//# buffer x=f32:256:normal:2:1
//# buffer y=f32:256
//# expect y[i] = (x[i] - sum(k, 0, 128, x[floor(i / 128) * 128 + k]) / 128) / sqrt(sum(k, 0, 128, x[floor(i / 128) * 128 + k] * x[floor(i / 128) * 128 + k]) / 128 - sum(k, 0, 128, x[floor(i / 128) * 128 + k]) / 128 * sum(k, 0, 128, x[floor(i / 128) * 128 + k]) / 128 + 0.00001) within 1e-5
kernel void layer_norm(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float2 part[4];
  const float2 mine = simd_sum(float2(x[i], x[i] * x[i]));
  if (lane == 0) part[simd] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float2 all = part[0] + part[1] + part[2] + part[3];
  const float mean = all.x / 128, variance = all.y / 128 - mean * mean;
  y[i] = (x[i] - mean) * rsqrt(variance + 1e-5f);
}

//# launch gemv groups=8 size=32
//# buffer a=f32:512:normal
//# buffer x=f32:64:uniform:-1:1
//# buffer y=f32:8
//# expect y[i] = sum(k, 0, 64, a[64 * i + k] * x[k]) within 1e-5
kernel void gemv(device const float2* a [[buffer(0)]], device const float2* x [[buffer(1)]],
                 device float* y [[buffer(2)]], uint g [[threadgroup_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]]) {
  const float total = simd_sum(dot(a[32 * g + lane], x[lane]));
  if (simd_is_first()) y[g] = total;
}

//# launch gemm_tiles groups=2,2 size=8,8
//# buffer a=f32:192:uniform:-1:1
//# buffer b=f32:192:normal
//# buffer y=f32:256
//# expect y[i] = sum(k, 0, 12, a[floor(i / 16) * 12 + k] * b[k * 16 + i % 16]) within 1e-5
kernel void gemm_tiles(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                       device float* y [[buffer(2)]], uint2 i [[thread_position_in_grid]],
                       uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float ta[8][9], tb[8][9];
  float total = 0;
  for (uint k = 0; k < 12; k += 8) {
    ta[t.y][t.x] = k + t.x < 12 ? a[i.y * 12 + k + t.x] : 0;
    tb[t.y][t.x] = k + t.y < 12 ? b[(k + t.y) * 16 + i.x] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = 0; e < 8; ++e) total = fma(ta[t.y][e], tb[e][t.x], total);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i.y * 16 + i.x] = total;
}

//# launch transpose_tiles threads=24,40 size=16,4
//# buffer x=f32:960:iota
//# buffer y=f32:960
//# expect y[i] = x[i % 40 * 24 + floor(i / 40)]
kernel void transpose_tiles(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint2 i [[thread_position_in_grid]]) {
  y[i.x * 40 + i.y] = x[i.y * 24 + i.x];
}

//# launch bitonic_sort groups=2 size=64
//# buffer x=f32:128:uniform:-5:5
//# buffer y=f32:128
//# buffer sorted=u32:2
//# expect sorted = 1, 1
kernel void bitonic_sort(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         device uint* sorted [[buffer(2)]], uint i [[thread_position_in_grid]],
                         uint t [[thread_index_in_threadgroup]],
                         uint g [[threadgroup_position_in_grid]]) {
  threadgroup float items[64];
  threadgroup atomic_int wrong;
  items[t] = x[i];
  if (t == 0) atomic_store_explicit(&wrong, 0, memory_order_relaxed);
  for (uint size = 2; size <= 64; size *= 2)
    for (uint step = size / 2; step > 0; step /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = t ^ step;
      if (other > t && (items[t] > items[other]) == ((t & size) == 0)) {
        const float kept = items[t];
        items[t] = items[other];
        items[other] = kept;
      }
    }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = items[t];
  if (t > 0 && items[t - 1] > items[t])
    atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) sorted[g] = atomic_load_explicit(&wrong, memory_order_relaxed) == 0;
}

//# launch block_scan groups=2 size=128
//# buffer x=i32:256:iota
//# buffer y=i32:256
//# expect y[i] = sum(k, 0, i % 128 + 1, floor(i / 128) * 128 + k)
kernel void block_scan(device const int* x [[buffer(0)]], device int* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup int totals[4];
  const int mine = simd_prefix_inclusive_sum(x[i]);
  if (lane == 31) totals[simd] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int before = 0;
  for (uint k = 0; k < simd; ++k) before += totals[k];
  y[i] = before + mine;
}

//# launch convolution threads=6,5 size=4,4
//# buffer x=f32:80:normal
//# buffer w=f32:9:uniform:-1:1
//# buffer y=f32:30
//# expect y[i] = sum(u, 0, 3, sum(v, 0, 3, w[3 * u + v] * (i % 6 + v - 1 < 0 ? 0 : x[(floor(i / 6) + u) * 10 + i % 6 + v - 1]))) within 1e-6
kernel void convolution(device const float* x [[buffer(0)]], constant float* w [[buffer(1)]],
                        device float* y [[buffer(2)]], uint2 i [[thread_position_in_grid]],
                        uint2 n [[threads_per_grid]]) {
  float total = 0;
  for (int u = 0; u < 3; ++u)
    for (int v = 0; v < 3; ++v) {
      const int column = int(i.x) + v - 1;
      if (column < 0) continue;
      total += w[3 * u + v] * x[(int(i.y) + u) * 10 + column];
    }
  y[i.y * n.x + i.x] = total;
}

//# launch rope threads=16,4 size=16,2
//# buffer x=f32:128:normal
//# buffer y=f32:128
//# expect y[i] = i % 32 < 16 ? x[i] * cos(floor(i / 32) * pow(10000, -(i % 16) / 16)) - x[i + 16] * sin(floor(i / 32) * pow(10000, -(i % 16) / 16)) : x[i - 16] * sin(floor(i / 32) * pow(10000, -(i % 16) / 16)) + x[i] * cos(floor(i / 32) * pow(10000, -(i % 16) / 16)) within 2e-6
kernel void rope(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 uint2 i [[thread_position_in_grid]]) {
  const float angle = float(i.y) * exp2(-float(i.x) / 16.0f * 13.287712379549449f);
  float cosine;
  const float sine = sincos(angle, cosine);
  const float a = x[32 * i.y + i.x], b = x[32 * i.y + i.x + 16];
  y[32 * i.y + i.x] = a * cosine - b * sine;
  y[32 * i.y + i.x + 16] = a * sine + b * cosine;
}

// Two values of four bits a byte, a scale for each 32.
//# launch quantised_gemv groups=4 size=32
//# buffer q=u8:128:uniform:0:255
//# buffer s=f16:8:uniform:0.01:0.1
//# buffer x=f32:64:normal
//# buffer y=f32:4
//# expect y[i] = sum(k, 0, 64, (k % 2 == 0 ? (q[32 * i + floor(k / 2)] & 15) : (q[32 * i + floor(k / 2)] >> 4)) * s[2 * i + floor(k / 32)] * x[k]) - 8 * sum(k, 0, 64, s[2 * i + floor(k / 32)] * x[k]) within 1e-4
kernel void quantised_gemv(device const uchar* q [[buffer(0)]], device const half* s [[buffer(1)]],
                           device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                           uint g [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  const uchar two = q[32 * g + lane];
  const float scale = float(s[2 * g + lane / 16]);
  const float low = float(int(two & 15) - 8), high = float(int(two >> 4) - 8);
  const float total = simd_sum(scale * (low * x[2 * lane] + high * x[2 * lane + 1]));
  if (lane == 0) y[g] = total;
}

// One query a SIMD-group, keys one by one, softmax as it goes.
//# launch attention groups=4 size=32
//# buffer q=f32:128:normal
//# buffer k=f32:640:uniform:-1:1
//# buffer v=f32:640:normal
//# buffer y=f32:128
//# expect y[i] = sum(j, 0, 20, exp(sum(e, 0, 32, q[floor(i / 32) * 32 + e] * k[32 * j + e]) / 4) * v[32 * j + i % 32]) / sum(j, 0, 20, exp(sum(e, 0, 32, q[floor(i / 32) * 32 + e] * k[32 * j + e]) / 4)) within 1e-5
kernel void attention(device const float* q [[buffer(0)]], device const float* k [[buffer(1)]],
                      device const float* v [[buffer(2)]], device float* y [[buffer(3)]],
                      uint g [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
  const float mine = q[32 * g + lane] / 4;
  float high = -INFINITY, total = 0, out = 0;
  for (uint j = 0; j < 20; ++j) {
    const float score = simd_sum(mine * k[32 * j + lane]);
    const float next = max(high, score);
    const float keep = exp(high - next), weight = exp(score - next);
    total = total * keep + weight;
    out = out * keep + weight * v[32 * j + lane];
    high = next;
  }
  y[32 * g + lane] = out / total;
}

//# launch argmax groups=3 size=64
//# buffer x=f32:192:uniform:0:100
//# buffer y=u32:3
//# buffer best=f32:3
//# expect best[i] = most(k, 0, 64, x[64 * i + k])
kernel void argmax(device const float* x [[buffer(0)]], device uint* y [[buffer(1)]],
                   device float* best [[buffer(2)]], uint g [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float values[2];
  threadgroup uint places[2];
  float value = x[64 * g + t];
  uint place = t;
  for (ushort step = 16; step > 0; step /= 2) {
    const float other = simd_shuffle_xor(value, step);
    const uint other_place = simd_shuffle_xor(place, step);
    if (other > value || (other == value && other_place < place)) {
      value = other;
      place = other_place;
    }
  }
  if (lane == 0) values[simd] = value, places[simd] = place;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t != 0) return;
  const uint first = values[1] > values[0] ? 1 : 0;
  y[g] = places[first];
  best[g] = x[64 * g + places[first]];
}

//# launch gather_rows threads=8,6 size=8,1
//# buffer table=f32:40:iota
//# buffer rows=i32:6:ints:4:0:2:2:1:3
//# buffer y=f32:48
//# expect y[i] = table[8 * rows[floor(i / 8)] + i % 8]
kernel void gather_rows(device const float* table [[buffer(0)]], constant int* rows [[buffer(1)]],
                        device float* y [[buffer(2)]], uint2 i [[thread_position_in_grid]]) {
  y[8 * i.y + i.x] = table[8 * rows[i.y] + i.x];
}

// Philox-like mixing: what random kernels do with 32-bit words.
//# launch random_bits size=64
//# buffer y=u32:64
//# expect y[i] = (i * 2654435769 & 4294967295) ^ ((i * 2654435769 & 4294967295) >> 16)
kernel void random_bits(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const uint x = i * 2654435769u;
  y[i] = x ^ (x >> 16);
}
