// Barriers and fences of Metal.
#pragma once
#include "ks_meet.h"

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
