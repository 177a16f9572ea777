// Eight neighbouring elements of a row as the matrices take them: half as half, the rest as float.
template <typename T> struct Pack;
template <> struct Pack<half> {
  typedef half F;
  template <typename P> static inline void get8(P p, thread half* o) {
    uint4 u = *p;
    half4 a = as_type<half4>(u.xy), b = as_type<half4>(u.zw);
    o[0] = a.x; o[1] = a.y; o[2] = a.z; o[3] = a.w;
    o[4] = b.x; o[5] = b.y; o[6] = b.z; o[7] = b.w;
  }
  static inline void put8(device half* p, thread const float* x) {
    uint2 a = as_type<uint2>(half4(half(x[0]), half(x[1]), half(x[2]), half(x[3])));
    uint2 b = as_type<uint2>(half4(half(x[4]), half(x[5]), half(x[6]), half(x[7])));
    *(device uint4*)p = uint4(a, b);
  }
};
template <> struct Pack<float> {
  typedef float F;
  template <typename P> static inline void get8(P p, thread float* o) {
    uint4 u = p[0], w = p[1];
    float4 a = as_type<float4>(u), b = as_type<float4>(w);
    o[0] = a.x; o[1] = a.y; o[2] = a.z; o[3] = a.w;
    o[4] = b.x; o[5] = b.y; o[6] = b.z; o[7] = b.w;
  }
  static inline void put8(device float* p, thread const float* x) {
    *(device float4*)p = float4(x[0], x[1], x[2], x[3]);
    *(device float4*)(p + 4) = float4(x[4], x[5], x[6], x[7]);
  }
};
template <> struct Pack<bfloat> {
  typedef float F;
  template <typename P> static inline void get8(P p, thread float* o) {
    uint4 u = *p;
    o[0] = as_type<float>(u.x << 16); o[1] = as_type<float>(u.x & 0xffff0000u);
    o[2] = as_type<float>(u.y << 16); o[3] = as_type<float>(u.y & 0xffff0000u);
    o[4] = as_type<float>(u.z << 16); o[5] = as_type<float>(u.z & 0xffff0000u);
    o[6] = as_type<float>(u.w << 16); o[7] = as_type<float>(u.w & 0xffff0000u);
  }
  static inline void put8(device bfloat* p, thread const float* x) {
    for (int j = 0; j < 8; ++j) p[j] = bfloat(x[j]);
  }
};
