// What a kernel of the dialect `cpp` sees: the group it is asked for, storage types of half size,
// and nothing else. Included before each source, so a kernel need not include it.
#pragma once

#include <cstdint>
#include <cstring>

/// One work group. The harness spreads groups over threads; which thread runs which is not fixed.
struct ks_group {
  int64_t id[3];     ///< 0 <= id[i] < count[i]
  int64_t count[3];  ///< groups of the launch in each dimension
  int32_t worker;    ///< thread that runs this group, 0 <= worker < workers
  int32_t workers;
  void* memory;  ///< `group_memory` bytes, 64-byte aligned, one block a worker; not cleared
};

/// IEEE binary16 as stored. Arithmetic goes through float.
struct ks_half {
  uint16_t bits;
  ks_half() = default;
  ks_half(float f) {
    const _Float16 h = static_cast<_Float16>(f);
    std::memcpy(&bits, &h, 2);
  }
  operator float() const {
    _Float16 h;
    std::memcpy(&h, &bits, 2);
    return static_cast<float>(h);
  }
};

/// bfloat16 as stored, rounded to nearest even. Arithmetic goes through float.
struct ks_bf16 {
  uint16_t bits;
  ks_bf16() = default;
  ks_bf16(float f) {
    uint32_t u;
    std::memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u)
      bits = static_cast<uint16_t>((u >> 16) | 0x40u);  // a NaN stays one
    else
      bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  operator float() const {
    const uint32_t u = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
};
