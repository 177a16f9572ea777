/// Elements [at, at + 4) of a row, `count` of them there; the others are `fill`.
template <typename P>
inline float4 load4(P from, int at, int count, float fill) {
  if (count >= 4) return float4(from[at], from[at + 1], from[at + 2], from[at + 3]);
  float4 v = fill;
  if (count > 0) v.x = from[at];
  if (count > 1) v.y = from[at + 1];
  if (count > 2) v.z = from[at + 2];
  return v;
}

template <typename T>
inline void store4(device T* to, int at, int count, float4 v) {
  if (count >= 4) {
    to[at] = T(v.x), to[at + 1] = T(v.y), to[at + 2] = T(v.z), to[at + 3] = T(v.w);
    return;
  }
  if (count > 0) to[at] = T(v.x);
  if (count > 1) to[at + 1] = T(v.y);
  if (count > 2) to[at + 2] = T(v.z);
}

/// Maximum over the group, for all its threads. `part`: a place a SIMD-group, for this call alone.
inline float group_max(float v, threadgroup float* part, uint lane, uint simd, uint simds) {
  v = simd_max(v);
  if (lane == 0) part[simd] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_max(lane < simds ? part[lane] : -INFINITY);
}

/// Sum over the group, for all its threads. `part`: a place a SIMD-group, for this call alone.
inline float group_sum(float v, threadgroup float* part, uint lane, uint simd, uint simds) {
  v = simd_sum(v);
  if (lane == 0) part[simd] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < simds ? part[lane] : 0.0f);
}

/// Largest value so far and, against it, the sum of 2^(v - max), of values in base 2.
struct Running {
  float max, sum;
};
inline void add(thread Running& r, float4 v) {
  const float top = max(r.max, max(max(v.x, v.y), max(v.z, v.w)));
  const float4 e = exp2(v - top);
  r.sum = fma(r.sum, exp2(r.max - top), (e.x + e.y) + (e.z + e.w));
  r.max = top;
}
