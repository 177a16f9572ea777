// Where lanes meet. Every call that waits for other lanes is given its number by the rewriter:
// at(number, call). Lanes that wait at different numbers are served in the order of the source, so
// that those that left a branch wait for those still in it; a path of numbers, not one, so that a
// function called from two places is two places.
#pragma once
#include "ks_hooks.h"
#include "ks_traits.h"

namespace ks {

struct LeaveCall {
  Lane* lane;
  u32 depth;
  KS_PLAIN __attribute__((always_inline)) ~LeaveCall() { lane->depth = depth; }
};

template <class F>
__attribute__((always_inline)) inline decltype(auto) at(u32 number, F&& call) {
  const LeaveCall leave{lane, lane->depth};
  if (lane->depth < Lane::kDeepest) lane->path[lane->depth] = number;
  ++lane->depth;
  return call();
}

/// Storage of a `threadgroup` variable: one for each group and each place in the source (`Place` is
/// a type of its own there).
template <class T, class Place>
__attribute__((always_inline)) inline T* group_array(Place, const char* name) {
  static char key;
  return static_cast<T*>(engine->group_array(&key, sizeof(T), alignof(T), name, nullptr));
}

}  // namespace ks

namespace metal {

enum class mem_flags : unsigned {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8
};
METAL_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return mem_flags(unsigned(a) | unsigned(b));
}
enum memory_order { memory_order_relaxed, memory_order_seq_cst };
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

METAL_FUNC void threadgroup_barrier(mem_flags flags, thread_scope = thread_scope_threadgroup) {
  ks::engine->barrier(ks::BarrierScope::group, unsigned(flags) & 3u);
}
METAL_FUNC void simdgroup_barrier(mem_flags flags, thread_scope = thread_scope_simdgroup) {
  ks::engine->barrier(ks::BarrierScope::simdgroup, unsigned(flags) & 3u);
}
METAL_FUNC void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {}

}  // namespace metal
