// Rotary embedding in place, a pair of elements a thread.
__global__ void rope(float2* x, const int* positions, int heads, int pairs, float base) {
  const int token = blockIdx.x, head = blockIdx.y, i = threadIdx.x;
  if (i >= pairs) return;
  float s, c;
  sincosf(positions[token] * powf(base, -float(i) / pairs), &s, &c);
  float2& v = x[(token * heads + head) * pairs + i];
  v = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
