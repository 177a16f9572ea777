// Calls a CUDA kernel with the arguments of a launch: pointers are buffers, in order; everything
// else is a value, in order.
#pragma once
#include "ks_cuda_groups.h"
#include "ks_cuda_instances.h"
#include "ks_cuda_ptx.h"
#include "ks_cuda_wmma.h"

namespace ks {

template <class T>
inline constexpr bool is_number_v = std::is_arithmetic_v<T> || __is_enum(T);
template <>
inline constexpr bool is_number_v<__half> = true;
template <>
inline constexpr bool is_number_v<__nv_bfloat16> = true;

template <class T>
KS_PLAIN T argument(const Parameter& p, const Arguments& arguments) {
  if constexpr (__is_pointer(T)) {
    return (T)arguments.buffers[p.index];
  } else {
    const Value& value = arguments.values[p.index];
    if constexpr (is_number_v<T>) {
      if (value.size == 0) return value.is_integer ? T(value.integer) : T(value.number);
    }
    return *(const T*)value.bytes;
  }
}

template <class... A>
struct Parameters {
  Parameter all[sizeof...(A) + 1];
  constexpr Parameters() : all{} {
    int at = 0, buffers = 0, values = 0;
    ((all[at++] = __is_pointer(A)
                      ? Parameter{ArgumentKind::buffer, buffers++, Space::device, 0, false}
                      : Parameter{ArgumentKind::value, values++, Space::device, u32(sizeof(A)),
                                  is_number_v<__remove_cv(A)>}),
     ...);
  }
};

template <auto* function>
struct Run;
template <class... A, void (*function)(A...)>
struct Run<function> {
  static constexpr Parameters<A...> parameters{};
  static constexpr int count = sizeof...(A);
  KS_PLAIN static void run(const Arguments* arguments) {
    run_indexed(*arguments, std::make_index_sequence<sizeof...(A)>());
  }

 private:
  template <unsigned long... i>
  KS_PLAIN static void run_indexed(const Arguments& arguments,
                                   std::integer_sequence<unsigned long, i...>) {
    function(argument<__remove_cv(A)>(arguments.parameters[i], arguments)...);
  }
};

/// extern __shared__ T x[] outside a function.
template <class T>
struct DynamicShared {
  METAL_FUNC T* pointer() const { return static_cast<T*>(dynamic_shared()); }
  METAL_FUNC operator T*() const { return pointer(); }
  template <class I>
  METAL_FUNC T& operator[](I i) const {
    return pointer()[i];
  }
};

}  // namespace ks

#define KS_ATTACH_CUDA(kernels, symbols, symbol_count)                                            \
  extern "C" __attribute__((visibility("default"))) KS_PLAIN void ks_attach(ks::Attachment* to) { \
    *to = {&ks::lane,   &ks::call_state,                                                          \
           &ks::engine, &ks::private_memory,                                                      \
           kernels,     sizeof(kernels) / sizeof(*kernels),                                       \
           symbols,     symbol_count};                                                            \
  }
