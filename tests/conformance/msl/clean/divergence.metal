// Which lanes take part where code branches: nested branches, loops of different lengths, helpers
// called from two places, through objects, and by operators.
#include <metal_stdlib>
using namespace metal;

//# launch branches size=32
//# buffer y=f32:32
//# expect y[i] = i < 4 ? 104 : i < 16 ? 212 : i < 24 ? 308 : 408
kernel void branches(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  float r;
  if (lane < 16) {
    if (lane < 4)
      r = 100 + simd_sum(1.0f);
    else
      r = 200 + simd_sum(1.0f);
  } else {
    r = (lane < 24 ? 300 + simd_sum(1.0f) : 400 + simd_sum(1.0f));
  }
  y[lane] = r;
}

// Lane l goes round l + 1 times; those that left wait for the others.
//# launch loops size=32
//# buffer y=f32:64
//# expect y[i] = i < 32 ? sum(k, 0, i + 1, 32 - k) : 32
kernel void loops(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  float r = 0;
  for (uint i = 0; i <= lane; ++i) r += simd_sum(1.0f);
  y[lane] = r;
  y[32 + lane] = simd_sum(1.0f);
}

//# launch breaks_and_continues size=32
//# buffer y=f32:32
//# expect y[i] = (i % 2 == 0 ? 16 : 0) + (i < 10 ? 0 : 22) + 32
kernel void breaks_and_continues(device float* y [[buffer(0)]],
                                 uint lane [[thread_index_in_simdgroup]]) {
  float r = 0;
  for (int i = 0; i < 2; ++i) {
    if (i == 0) {
      if (lane % 2 == 1) continue;
      r += simd_sum(1.0f);
      continue;
    }
    if (lane < 10) break;
    r += simd_sum(1.0f);
  }
  do {
    r += simd_sum(1.0f);
  } while (false);
  y[lane] = r;
}

float total(float v) { return simd_sum(v); }

//# launch helper_from_two_branches size=32
//# buffer y=f32:32
//# expect y[i] = i < 8 ? 8 : 48
kernel void helper_from_two_branches(device float* y [[buffer(0)]],
                                     uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = lane < 8 ? total(1.0f) : total(2.0f);
}

struct Adder {
  float scale;
  float add(float v) const thread { return scale * simd_sum(v); }
  static float plain(float v) { return simd_sum(v); }
  float operator()(float v) const thread { return simd_max(v); }
};

// The same method in both branches, through objects and pointers.
//# launch methods_from_two_branches size=32
//# buffer y=f32:96
//# expect y[i] = i < 32 ? (i < 8 ? 16 : 72) : i < 64 ? (i - 32 < 8 ? 8 : 24) : (i - 64 < 8 ? 7 : 31)
kernel void methods_from_two_branches(device float* y [[buffer(0)]],
                                      uint lane [[thread_index_in_simdgroup]]) {
  Adder two{2.0f}, three{3.0f};
  const thread Adder* p = &three;
  if (lane < 8) {
    y[lane] = two.add(1.0f);
    y[32 + lane] = Adder::plain(1.0f);
    y[64 + lane] = two(float(lane));
  } else {
    y[lane] = p->add(1.0f);
    y[32 + lane] = Adder::plain(1.0f);
    y[64 + lane] = three(float(lane));
  }
}

template <typename T>
struct Loader {
  const device T* from;
  threadgroup T* tile;
  void load(uint t) thread {
    tile[t] = from[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  T next(uint t) const thread { return tile[(t + 1) % 64]; }
};

//# launch barrier_in_a_method size=64
//# buffer x=f32:128:iota
//# buffer y=f32:64
//# expect y[i] = (i + 1) % 64 + 64 + (i + 1) % 64
kernel void barrier_in_a_method(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile_a[64], tile_b[64];
  Loader<float> loaders[2] = {{x, tile_a}, {x + 64, tile_b}};
  float r = 0;
  for (int k = 0; k < 2; ++k) {
    loaders[k].load(t);
    r += loaders[k].next(t);
  }
  y[t] = r;
}

//# launch early_return_of_whole_simdgroups size=96
//# buffer y=f32:96
//# expect y[i] = i < 64 ? 32 : 1
kernel void early_return_of_whole_simdgroups(device float* y [[buffer(0)]],
                                             uint t [[thread_index_in_threadgroup]],
                                             uint simd [[simdgroup_index_in_threadgroup]]) {
  if (simd == 2) {
    y[t] = 1;
    return;
  }
  y[t] = simd_sum(1.0f);
}

// Operations in arguments, conditions and initialisers.
//# launch nested_operations size=32
//# buffer y=f32:32
//# expect y[i] = 31 + 32 + (i < 31 ? 1 : 0)
kernel void nested_operations(device float* y [[buffer(0)]],
                              uint lane [[thread_index_in_simdgroup]]) {
  const float r = simd_max(simd_prefix_exclusive_sum(1.0f)) + simd_broadcast(simd_sum(1.0f), 0);
  y[lane] = r + (simd_shuffle_and_fill_down(1.0f, 0.0f, 1) > 0.5f ? 1.0f : 0.0f);
}

// Lambdas and a switch, each with operations.
//# launch lambdas_and_switches size=32
//# buffer y=f32:32
//# expect y[i] = i % 3 == 0 ? 11 : i % 3 == 1 ? 11 : 10
kernel void lambdas_and_switches(device float* y [[buffer(0)]],
                                 uint lane [[thread_index_in_simdgroup]]) {
  const auto count = [&](float v) { return simd_sum(v); };
  float r = 0;
  switch (lane % 3) {
    case 0:
      r = count(1.0f);
      break;
    case 1:
      r = simd_sum(1.0f);
      break;
    default:
      r = count(1.0f);
  }
  y[lane] = r;
}

struct Larger {
  static float of(float a, float b) { return max(a, b); }
};
template <typename T>
struct Fragment {
  template <typename Op>
  static T row(T v) {
    return Op::of(v, simd_shuffle_xor(v, 1));
  }
};
template <typename T>
struct Tile {
  using Fragment_t = Fragment<T>;
  T held;
  template <typename Op>
  T reduce() const thread {
    return Fragment_t::template row<Op>(held);
  }
};
//# launch dependent_names size=32
//# buffer y=f32:32
//# expect y[i] = i < 16 ? (floor(i / 2) * 2 + 1) : 2 * (floor(i / 2) * 2 + 1)
kernel void dependent_names(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  Tile<float> tile{float(lane)};
  if (lane < 16)
    y[lane] = tile.template reduce<Larger>();
  else
    y[lane] = 2 * tile.template reduce<Larger>();
}
