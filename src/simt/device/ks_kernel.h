// Calls a kernel with the arguments of a launch, and shows the engine what there is to call.
#pragma once
#include "ks_atomic.h"
#include "ks_internal.h"
#include "ks_simdgroup_matrix.h"
#include "ks_trace.h"

namespace ks {

KS_PLAIN inline Dim attribute(const Thread& t, Attribute which) {
  switch (which) {
    case Attribute::position_in_group:
      return t.position_in_group;
    case Attribute::group_position:
      return t.group_position;
    case Attribute::position_in_grid:
      return t.position_in_grid;
    case Attribute::group_size:
      return t.group_size;
    case Attribute::dispatch_group_size:
      return t.dispatch_group_size;
    case Attribute::groups:
      return t.groups;
    case Attribute::grid_size:
      return t.grid_size;
    case Attribute::grid_origin:
      return {0, 0, 0};
    case Attribute::index_in_group:
      return {t.index_in_group, 0, 0};
    case Attribute::lane:
      return {t.lane, 0, 0};
    case Attribute::simdgroup:
      return {t.simdgroup, 0, 0};
    case Attribute::simdgroups:
      return {t.simdgroups, 0, 0};
    case Attribute::simdgroup_size:
      return {32, 0, 0};
    case Attribute::quad_lane:
      return {t.index_in_group % 4, 0, 0};
    case Attribute::quad:
      return {t.index_in_group / 4, 0, 0};
    case Attribute::quads:
      return {(t.group_size.x * t.group_size.y * t.group_size.z + 3) / 4, 0, 0};
  }
  __builtin_unreachable();
}

template <class A>
struct FromDim {
  KS_PLAIN static A make(const Dim& d) { return A(d.x); }
};
template <class T>
struct FromDim<metal::vec<T, 2>> {
  KS_PLAIN static metal::vec<T, 2> make(const Dim& d) {
    metal::vec<T, 2> v;
    v.e[0] = T(d.x), v.e[1] = T(d.y);
    return v;
  }
};
template <class T>
struct FromDim<metal::vec<T, 3>> {
  KS_PLAIN static metal::vec<T, 3> make(const Dim& d) {
    metal::vec<T, 3> v;
    v.e[0] = T(d.x), v.e[1] = T(d.y), v.e[2] = T(d.z);
    return v;
  }
};

KS_PLAIN inline void* bound(const Parameter& p, const Arguments& arguments) {
  switch (p.kind) {
    case ArgumentKind::buffer:
      return arguments.buffers[p.index];
    case ArgumentKind::group_memory:
      return arguments.group_memory[p.index];
    default:
      return nullptr;
  }
}

template <class A>
struct Argument {
  KS_PLAIN static A get(const Parameter& p, const Arguments& arguments) {
    return FromDim<__remove_cv(A)>::make(attribute(*arguments.thread, Attribute(p.index)));
  }
};
template <class T>
struct Argument<T*> {
  KS_PLAIN static T* get(const Parameter& p, const Arguments& arguments) {
    return (T*)bound(p, arguments);
  }
};
template <class T>
struct Argument<T&> {
  KS_PLAIN static T& get(const Parameter& p, const Arguments& arguments) {
    return *(T*)bound(p, arguments);
  }
};

template <auto* function>
struct Run;
template <class... A, void (*function)(A...)>
struct Run<function> {
  KS_PLAIN static void run(const Arguments* arguments) {
    run_indexed(*arguments, metal::make_index_sequence<sizeof...(A)>());
  }

 private:
  /// Not inlined: a kernel is large, and one copy of it is enough.
  KS_PLAIN __attribute__((always_inline)) static void call(A... arguments) {
    [[clang::noinline]] function(arguments...);
  }
  template <unsigned long... i>
  KS_PLAIN static void run_indexed(const Arguments& arguments,
                                   metal::integer_sequence<unsigned long, i...>) {
    call(Argument<A>::get(arguments.parameters[i], arguments)...);
  }
};

}  // namespace ks

#define KS_ATTACH(kernels)                                                                        \
  extern "C" __attribute__((visibility("default"))) KS_PLAIN void ks_attach(ks::Attachment* to) { \
    *to = {&ks::lane,           &ks::call_state, &ks::engine,                                     \
           &ks::private_memory, kernels,         sizeof(kernels) / sizeof(*kernels)};             \
  }
