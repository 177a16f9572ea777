# 1 "kernel.metal"
constant int act [[function_constant(3)]];
template <typename T, int N>
[[kernel]] void f(device const T* x [[buffer(0)]], constant uint& n [[buffer(1), function_constant(act)]],
                  uint3 g [[thread_position_in_grid]]) {
  threadgroup vec<T, 4> a[N][2], b;
  if (is_function_constant_defined(act)) a[0][0] = metal::simd_sum(simd_max(x[g.x]));
  threadgroup_barrier(mem_flags::mem_none);
}
template [[host_name("one")]] [[kernel]] decltype(f<float, 2>) f<float, 2>;
template [[host_name("two")]] [[kernel]] void f<half, 4>(device const half*, constant uint&, uint3);
kernel void sum(device float* y, threadgroup float* t [[threadgroup(0)]]) { y[0] = 1.5h + 2bf; }
