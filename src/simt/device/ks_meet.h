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

template <class F>
METAL_FUNC void each_lane(u32 mask, F&& f) {
  for (u32 rest = mask; rest != 0; rest &= rest - 1) f(u32(__builtin_ctz(rest)));
}
template <class T>
METAL_FUNC const T& posted(Post* const* lanes, u32 lane) {
  return *static_cast<const T*>(lanes[lane]->in);
}
template <class T>
METAL_FUNC void answer(Post* const* lanes, u32 lane, const T& value) {
  *static_cast<T*>(lanes[lane]->out) = value;
}

/// Posts `in` and returns what `resolve` answers this lane.
template <class Out, class In>
METAL_FUNC Out exchange(const In& in, Resolve resolve, u32 source = 0, u32 mask = 0) {
  In value = in;
  Out result;
  Post post{&value, &result, source, mask};
  engine->collective(&post, resolve);
  return result;
}

}  // namespace ks

// Shows the engine what there is to call.
#define KS_ATTACH(kernels)                                                                        \
  extern "C" __attribute__((visibility("default"))) KS_PLAIN void ks_attach(ks::Attachment* to) { \
    *to = {&ks::engine, &ks::lane, &ks::call_state, kernels, sizeof(kernels) / sizeof(*kernels)}; \
  }
