// The language around kernels: templates and their instantiations, address spaces in overloads and
// after methods, program-scope data, references, unions, enums, loops, macros, attributes.
#include <metal_stdlib>
#include "language_helpers.h"
using namespace metal;

template <typename T, int N>
[[kernel]] void scale_by(device const T* x [[buffer(0)]], device T* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  y[i] = T(x[i] * T(N));
}
// Both forms of instantiation.
template [[host_name("scale_float_3")]] [[kernel]] decltype(scale_by<float, 3>) scale_by<float, 3>;
template [[host_name("scale_half_2")]] [[kernel]] void scale_by<half, 2>(
    device const half* x [[buffer(0)]], device half* y [[buffer(1)]],
    uint i [[thread_position_in_grid]]);
#define instantiate_scale(name, type, n) \
  template [[host_name(name)]] [[kernel]] decltype(scale_by<type, n>) scale_by<type, n>;
instantiate_scale("scale_" "int_" "5", int, 5)

//# launch scale_float_3 size=8
//# buffer x=f32:8:iota
//# buffer y=f32:8
//# expect y[i] = 3 * x[i]
//# launch scale_half_2 size=8
//# buffer x=f16:8:iota
//# buffer y=f16:8
//# expect y[i] = 2 * x[i]
//# launch scale_int_5 size=8
//# buffer x=i32:8:iota:-3
//# buffer y=i32:8
//# expect y[i] = 5 * x[i]

// Arguments left to be deduced.
template <typename T>
[[kernel]] void negate(device const T* x, device T* y, uint i [[thread_position_in_grid]]) {
  y[i] = -x[i];
}
template [[host_name("negate_float")]] [[kernel]] void negate(device const float*, device float*,
                                                              uint);
//# launch negate_float size=4
//# buffer x=f32:4:iota
//# buffer y=f32:4
//# expect y[i] = -x[i]

// A function chosen by a template argument.
float twice(float x) { return 2 * x; }
float square(float x) { return x * x; }
template <float (*function)(float)>
kernel void apply(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = function(x[i]);
}
template [[host_name("apply_twice")]] kernel decltype(apply<twice>) apply<twice>;
template [[host_name("apply_square")]] kernel decltype(apply<square>) apply<square>;
//# launch apply_twice size=4
//# buffer x=f32:4:iota
//# buffer y=f32:4
//# expect y[i] = 2 * x[i]
//# launch apply_square size=4
//# buffer x=f32:4:iota
//# buffer y=f32:4
//# expect y[i] = x[i] * x[i]

// One name for each address space; methods and constructors with one after their parameters.
struct Pair {
  float a, b;
  Pair(float x) thread : a(x), b(2 * x) {}
  Pair(float x, float y) thread : a(x), b(y) {}
  float sum() const thread { return a + b; }
  float sum() const device { return a + b; }
  float sum() const constant { return a + b; }
  float sum() const threadgroup { return a + b; }
  thread Pair& operator+=(const thread Pair& other) thread {
    a += other.a, b += other.b;
    return *this;
  }
};
float first(device const float* x) { return x[0]; }
float first(constant float* x) { return x[0]; }
float first(threadgroup const float* x) { return x[0]; }
float first(thread const float* x) { return x[0]; }

//# launch address_spaces size=1
//# buffer x=f32:2:ints:3:4
//# buffer c=f32:2:ints:5:6
//# buffer y=f32:8
//# expect y = 3, 5, 1, 2, 7, 11, 9, 12
kernel void address_spaces(device const float* x [[buffer(0)]], constant float* c [[buffer(1)]],
                           device float* y [[buffer(2)]]) {
  threadgroup float shared[1];
  shared[0] = 1;
  thread float own[1] = {2};
  y[0] = first(x);
  y[1] = first(c);
  y[2] = first(shared);
  y[3] = first(own);
  y[4] = ((device const Pair*)x)->sum();
  y[5] = reinterpret_cast<constant Pair*>(c)->sum();
  Pair pair(3.0f);
  y[6] = pair.sum();
  pair += Pair(1.0f, 2.0f);
  y[7] = pair.sum();
}

// Data at program scope.
constant float kWeights[4] = {0.5f, 1.0f, 2.0f, 4.0f};
constant constexpr int kCount = 4;
constant uint kBits[] = {1u << 3, 1u << 5};
namespace inner {
constant float scale = 10;
inline float scaled(float x) { return scale * x; }
}  // namespace inner
//# launch program_scope size=4
//# buffer y=f32:4
//# expect y = 15, 20, 30, 50
kernel void program_scope(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = inner::scaled(kWeights[i % kCount]) + (kBits[1] > kBits[0] ? 10 : 0);
}

struct Params {
  uint count;
  float scale;
  packed_float3 shift;
  uchar flags[4];
};
//# launch struct_parameter size=3
//# buffer p=u32:6:ints:3:1073741824:1065353216:1073741824:1077936128:16909060
//# buffer y=f32:3
//# expect y = 5, 7, 9
kernel void struct_parameter(constant Params& p [[buffer(0)]], device float* y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  if (i < p.count) y[i] = p.scale * p.shift[i] + p.flags[1];
}

#define TWICE(x) ((x) + (x))
enum class Mode : uchar { add, multiply };
enum { kFirst = 2, kSecond = 3 };
float combine(Mode mode, float a, float b) {
  switch (mode) {
    case Mode::add:
      return a + b;
    case Mode::multiply:
      return a * b;
  }
  return 0;
}
//# launch enums_and_control size=1
//# buffer y=f32:6
//# expect y = 5, 6, 10, 3, 7, 4
kernel void enums_and_control(device float* y [[buffer(0)]]) {
  y[0] = combine(Mode::add, kFirst, kSecond);
  y[1] = combine(Mode::multiply, kFirst, kSecond);
  int i = 0, total = 0;
  while (true) {
    if (++i == 2) continue;
    if (i > 5) break;
    total += i;
  }
  y[2] = total - 3;
  do --total;
  while (total > 3);
  y[3] = total;
  int nested = 0;
#pragma unroll(TWICE(1))
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b) nested += a == b ? 1 : a + b == 3 ? 2 : 1;
  y[4] = nested;
  const int table[2][3] = {{0, 1, 2}, {3, 4, 5}};
  y[5] = table[1][1];
}

template <typename T, typename... More>
constexpr int count_of(T, More... more) {
  if constexpr (sizeof...(more) > 0)
    return 1 + count_of(more...);
  else
    return 1;
}
template <int n>
struct Factorial {
  static constant constexpr int value = n * Factorial<n - 1>::value;
};
template <>
struct Factorial<0> {
  static constant constexpr int value = 1;
};
template <typename T>
struct Doubled {
  static T of(T x) { return x + x; }
};
template <>
struct Doubled<bool> {
  static bool of(bool x) { return x; }
};
//# launch templates size=1
//# buffer y=i32:6
//# expect y = 3, 120, 14, 1, 9, 6
kernel void templates(device int* y [[buffer(0)]]) {
  y[0] = count_of(1, 2.0f, 'c');
  y[1] = Factorial<5>::value;
  y[2] = Doubled<int>::of(7);
  y[3] = Doubled<bool>::of(true);
  const auto add = [](int a, int b) { return a + b; };
  y[4] = add(4, 5);
  using Row = array<int, 3>;
  Row row = {{1, 2, 3}};
  int sum = 0;
  for (uint k = 0; k < row.size(); ++k) sum += row[k];
  y[5] = sum;
}

// Headers, references, macros, literals, comments between everything.
#define THRICE(x) \
  ((x) + (x) + (x))
//# launch headers_and_references size=1
//# buffer y=f32:5
//# expect y = 42, 8, 1.5, 3, 0.25
kernel void headers_and_references(device float* y [[buffer(0)]] /* output */) {
  y[0] = helpers::answer();
  float x = 3;
  thread float& alias = x;
  alias += 1;
  y[1] = THRICE(x) - x;
  y[2] = 1.5h;
  y[3] = float(0b11u) /* bits */;
  y[4] = 2.5e-1;
}

// Indices in another order than the parameters', an unattributed one, attributes on the function.
//# launch buffer_indices size=2
//# buffer@5 x=f32:2:iota:1
//# buffer@2 y=f32:2
//# buffer@0 n=u32:1:const:2
//# expect y[i] = 2 * x[i]
[[max_total_threads_per_threadgroup(64)]] kernel void buffer_indices(
    device const float* x [[buffer(5)]], device float* y [[buffer(2)]], constant uint& n,
    const uint i [[thread_position_in_grid]]) {
  y[i] = n * x[i];
}

// Pointers to pointers, casts between element types, pointer arithmetic.
//# launch pointers size=4
//# buffer x=u8:32:iota
//# buffer y=u32:4
//# expect y[i] = (x[8 * i] | x[8 * i + 1] << 8 | x[8 * i + 2] << 16 | x[8 * i + 3] << 24) + x[8 * i + 5]
kernel void pointers(device const uchar* x [[buffer(0)]], device uint* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  device const uint* words = reinterpret_cast<device const uint*>(x) + 2 * i;
  device const uchar* bytes = (device const uchar*)words + 4;
  device const uchar* thread* row = nullptr;
  row = &bytes;
  y[i] = *words + (*row)[1];
}

// The result of a conditional on types that differ; volatile; unsigned wrap-around; shifts.
//# launch arithmetic_conversions size=1
//# buffer x=u32:1:const:3
//# buffer y=f32:6
//# expect y = 4294967295, 1.5, -1, 250, 2, 65535
kernel void arithmetic_conversions(device const uint* x [[buffer(0)]],
                                   device float* y [[buffer(1)]]) {
  const uint three = x[0];
  y[0] = float(three - 4);
  y[1] = three == 3 ? 1.5f : 2;
  y[2] = float(int(three) - 4);
  y[3] = float(uchar(three + 247));
  volatile int kept = int(three);
  y[4] = float(kept - 1);
  y[5] = float(ushort(-1));
}
