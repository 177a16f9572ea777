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

/// Of a kernel that says how many threads a group may have.
KS_UNWATCHED void limit_threads(u32 most) {
  const Dim& size = lane->thread.dispatch_group_size;
  if (size.x * size.y * size.z > most) [[unlikely]]
    engine->too_many_threads(most, KS_HERE);
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

/// *p, with the address checked: binding a reference does it, copying a struct does not.
template <class T>
METAL_FUNC T& ref(T* p) {
  T& r = *p;
  return r;
}
template <class F>
METAL_FUNC void each_lane(u32 mask, F&& f) {
  for (u32 rest = mask; rest != 0; rest &= rest - 1) f(u32(__builtin_ctz(rest)));
}
KS_UNWATCHED const void* post_in(Post* const* lanes, u32 lane) { return lanes[lane]->in; }
KS_UNWATCHED void* post_out(Post* const* lanes, u32 lane) { return lanes[lane]->out; }
KS_UNWATCHED u32 post_source(Post* const* lanes, u32 lane) { return lanes[lane]->source; }
#if KS_TRACED
/// The engine tells the place by the address that this returns to.
KS_UNWATCHED void meet(Resolve resolve, u32 source) {
  lane->mailbox->post.clean = false;
  engine->collective(resolve, source, KS_HERE);
}
#else
METAL_FUNC void meet(Resolve resolve, u32 source) { engine->collective(resolve, source, nullptr); }
#endif
/// Whom the lane waits for (CUDA).
KS_UNWATCHED void name_lanes(u32 mask) { lane->mailbox->post.mask = mask; }
// Of a lane these never change: asked for once where a function asks often.
KS_UNWATCHED __attribute__((const)) Mailbox* own_mailbox() { return lane->mailbox; }
KS_UNWATCHED __attribute__((const)) u32 own_lane() { return lane->thread.lane; }

template <class T>
METAL_FUNC const T& posted(Post* const* lanes, u32 lane) {
  return *static_cast<const T*>(post_in(lanes, lane));
}
template <class T>
METAL_FUNC void answer(Post* const* lanes, u32 lane, const T& value) {
  *static_cast<T*>(post_out(lanes, lane)) = value;
}

/// Types that travel in a word or a few, as they are: no padding, which would be undefined.
template <class T>
inline constexpr bool kInWords = __is_arithmetic(T) || __is_same(T, __bf16);
inline constexpr u32 kMostWords = 3;

#if KS_TRACED
/// `exchange` of words in one call: instead of asking for the shadow of each piece, it takes and
/// gives definedness as calls between instrumented functions do.
KS_UNWATCHED __attribute__((nomerge)) u64 exchange_words(u64 a, u64 b, u64 c, Resolve resolve,
                                                         u32 source, u32 mask) {
  CallState* state = static_cast<CallState*>(call_state);
  Mailbox* const mine = lane->mailbox;
  Post& post = mine->post;
  u64* const words = reinterpret_cast<u64*>(mine->in);
  words[0] = a;
  words[1] = b;
  words[2] = c;
  const u64* const shadow = state->arguments;
  const bool clean = (shadow[0] | shadow[1] | shadow[2]) == 0;
  if (!clean || !post.clean) {
    const Meta meta = own_meta(u64(mine->in) - private_memory.begin);
    for (u32 i = 0; i < kMostWords; ++i) static_cast<u64*>(meta.shadow)[i] = shadow[i];
    for (u32 i = 0; i < 2 * kMostWords && !clean; ++i)
      static_cast<u32*>(meta.origin)[i] = state->argument_origins[i & ~1u];
    post.clean = clean;
  }
  post.mask = mask;
  engine->collective(resolve, source, KS_HERE);
  u64 answer;
  __builtin_memcpy(&answer, post.out, sizeof(answer));
  const Meta of_answer = own_meta(u64(post.out) - private_memory.begin);
  state->returned = *static_cast<const u64*>(of_answer.shadow);
  state->returned_origin = *static_cast<const u32*>(of_answer.origin);
  return answer;
}
#endif

/// Posts `in` and returns what `resolve` answers this lane.
template <class Out, class In>
METAL_FUNC Out exchange(const In& in, Resolve resolve, u32 source = 0, u32 mask = 0) {
  static_assert(sizeof(In) <= Mailbox::kIn && sizeof(Out) <= Mailbox::kOut, "too much to post");
#if KS_TRACED
  if constexpr (kInWords<In> && sizeof(In) <= 8 * kMostWords && sizeof(Out) <= 8) {
    u64 words[kMostWords] = {};
    __builtin_memcpy(words, &in, sizeof(In));
    const u64 answer = exchange_words(words[0], words[1], words[2], resolve, source, mask);
    Out out;
    __builtin_memcpy(&out, &answer, sizeof(Out));
    return out;
  }
#endif
  Mailbox* const mine = own_mailbox();
  *reinterpret_cast<In*>(mine->in) = in;
#ifdef KS_CUDA
  name_lanes(mask);
#endif
  [[clang::nomerge]] meet(resolve, source);
  return *reinterpret_cast<const Out*>(mine->out);
}

}  // namespace ks

// Shows the engine what there is to call.
#define KS_ATTACH(kernels)                                                                        \
  extern "C" __attribute__((visibility("default"))) KS_PLAIN void ks_attach(ks::Attachment* to) { \
    *to = {&ks::lane,           &ks::call_state, &ks::engine,                                     \
           &ks::private_memory, kernels,         sizeof(kernels) / sizeof(*kernels)};             \
  }
