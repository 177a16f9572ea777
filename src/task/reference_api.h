// What a task's `reference.cpp` sees: float64 copies of the inputs by name, float64 outputs to
// fill. It defines `extern "C" void reference(const ks_reference* call)`, which is called once for
// each part, on several threads at once: part p of n does its share of the outputs (rows p, p + n,
// ...).
#pragma once

#include <cstdint>

struct ks_reference {
  const void* self;
  std::int64_t (*axis_of)(const void* self, const char* name);
  double (*param_of)(const void* self, const char* name);
  const double* (*input_of)(const void* self, const char* name);
  double* (*output_of)(const void* self, const char* name);
  std::int64_t part, parts;

  std::int64_t axis(const char* name) const { return axis_of(self, name); }
  /// Booleans as 0 or 1.
  double param(const char* name) const { return param_of(self, name); }
  /// Row-major, contiguous; null where an optional input is absent.
  const double* input(const char* name) const { return input_of(self, name); }
  double* output(const char* name) const { return output_of(self, name); }
};
