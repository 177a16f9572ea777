// Where lanes meet. Every call that waits for other lanes is given its number by the rewriter:
// at(number, call). Lanes that wait at different numbers are served in the order of the source, so
// that those that left a branch wait for those still in it; a path of numbers, not one, so that a
// function called from two places is two places.
#pragma once
#include "ks_hooks.h"
#include "ks_traits.h"

namespace ks {

KS_UNWATCHED u32 enter_call(u32 number) {
  Lane* const me = lane;
  const u32 depth = me->depth++;
  if (depth < Lane::kDeepest) me->path[depth] = number;
  return depth;
}
KS_UNWATCHED void leave_call(u32 depth) { lane->depth = depth; }

struct Call {
  u32 depth;
  KS_PLAIN __attribute__((always_inline)) explicit Call(u32 number) : depth(enter_call(number)) {}
  KS_PLAIN __attribute__((always_inline)) ~Call() { leave_call(depth); }
};

template <class F>
__attribute__((always_inline)) inline decltype(auto) at(u32 number, F&& call) {
  const Call here(number);
  return call();
}

KS_UNWATCHED void* group_storage(const void* key, u64 bytes, u64 alignment, const char* name) {
  return engine->group_array(key, bytes, alignment, name, KS_TRACED ? KS_HERE : nullptr);
}

/// Storage of a `threadgroup` variable: one for each group and each place in the source (`Place` is
/// a type of its own there).
template <class T, class Place>
__attribute__((always_inline)) inline T* group_array(Place, const char* name) {
  static char key;
  return static_cast<T*>(group_storage(&key, sizeof(T), alignof(T), name));
}

/// The engine tells the place by the address that `barrier` returns to.
__attribute__((always_inline)) inline void barrier_of(BarrierScope scope, u32 orders) {
  const Engine* const e = this_engine();
  [[clang::nomerge]] e->barrier(scope, orders);
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
  ks::barrier_of(ks::BarrierScope::group, unsigned(flags) & 3u);
}
METAL_FUNC void simdgroup_barrier(mem_flags flags, thread_scope = thread_scope_simdgroup) {
  ks::barrier_of(ks::BarrierScope::simdgroup, unsigned(flags) & 3u);
}
METAL_FUNC void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {}

}  // namespace metal
