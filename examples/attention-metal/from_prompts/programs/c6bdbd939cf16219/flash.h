// Eight neighbouring elements of a row as the matrices take them: half as half, the rest as float. `tile`
// puts 16 bytes of memory into a tile, whose elements are of type F: bfloat is widened there, once a group.
template <typename T> struct Pack;
template <> struct Pack<half> {
  typedef half F;
  enum { WIDE = 1 };
  static inline void tile(threadgroup uint4* p, uint4 u) { *p = u; }
  static inline void get8(const device uint4* p, thread half* o) {
    const device half4* h = (const device half4*)p;
    half4 a = h[0], b = h[1];
    o[0] = a.x; o[1] = a.y; o[2] = a.z; o[3] = a.w;
    o[4] = b.x; o[5] = b.y; o[6] = b.z; o[7] = b.w;
  }
  static inline void get8(const threadgroup uint4* p, thread half* o) {
    const threadgroup half4* h = (const threadgroup half4*)p;
    half4 a = h[0], b = h[1];
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
  enum { WIDE = 1 };
  static inline void tile(threadgroup uint4* p, uint4 u) { *p = u; }
  template <typename P> static inline void get8(P p, thread float* o) {
    uint4 u = p[0], w = p[1];
    o[0] = as_type<float>(u.x); o[1] = as_type<float>(u.y); o[2] = as_type<float>(u.z); o[3] = as_type<float>(u.w);
    o[4] = as_type<float>(w.x); o[5] = as_type<float>(w.y); o[6] = as_type<float>(w.z); o[7] = as_type<float>(w.w);
  }
  static inline void put8(device float* p, thread const float* x) {
    *(device float4*)p = float4(x[0], x[1], x[2], x[3]);
    *(device float4*)(p + 4) = float4(x[4], x[5], x[6], x[7]);
  }
};
template <> struct Pack<bfloat> {
  typedef float F;
  enum { WIDE = 2 };
  static inline void tile(threadgroup uint4* p, uint4 u) {
    p[0] = uint4(u.x << 16, u.x & 0xffff0000u, u.y << 16, u.y & 0xffff0000u);
    p[1] = uint4(u.z << 16, u.z & 0xffff0000u, u.w << 16, u.w & 0xffff0000u);
  }
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
// N elements of a tile: eight, or the four of 16 bytes of floats.
template <typename F, int N> struct Get {
  static inline void get(const threadgroup uint4* p, thread F* o) { Pack<F>::get8(p, o); }
};
template <typename F> struct Get<F, 4> {
  static inline void get(const threadgroup uint4* p, thread F* o) {
    uint4 u = *p;
    o[0] = F(as_type<float>(u.x)); o[1] = F(as_type<float>(u.y));
    o[2] = F(as_type<float>(u.z)); o[3] = F(as_type<float>(u.w));
  }
};
// A thread's share of a tile: every STEP-th row of one column; `left` rows are there.
template <int IT, int STEP, int SRC>
static inline void fetch(thread uint4* x, const device uint4* from, bool whole, int left) {
  if (whole) {
    for (int t = 0; t < IT; ++t) x[t] = from[t * STEP * SRC];
  } else {
    for (int t = 0; t < IT; ++t) {
      x[t] = uint4(0);
      if (t * STEP < left) x[t] = from[t * STEP * SRC];
    }
  }
}
