// Calls a kernel with the arguments of a launch, and shows the engine what there is to call.
#pragma once
#include "ks_atomic.h"
#include "ks_instances.h"
#include "ks_internal.h"
#include "ks_simdgroup_matrix.h"

namespace ks {

KS_PLAIN Dim attribute(const Thread& t, Attribute which);  // ks_library.h

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
