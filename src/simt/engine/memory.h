// The memory a kernel may touch, each byte with its shadow: is it defined, where does it come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simt/case.h"
#include "simt/device/ks_abi.h"

namespace ksearch::simt {

/// Anonymous pages that come as they are touched. Unmapped at the end of the object's life.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);  ///< std::bad_alloc where the system refuses
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  Pages(const Pages&) = delete;
  ~Pages();
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Of all there were in this process; what is mapped counts, touched or not.
  static std::size_t mapped_bytes();

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// When and by whom a byte was used: (interval << 6) | (lane << 1) | atomic. 0: never.
using Stamp = std::uint32_t;
/// A place in the object's code, by a number.
using Site = std::uint16_t;

/// A stretch of memory with its shadows.
class Region {
 public:
  Region() = default;
  Region(std::size_t bytes, bool with_shadow);

  bool holds(const void* at) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(at) - data_.data()) <
           data_.size();
  }
  std::size_t offset(const void* at) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(at) - data_.data());
  }
  std::byte* data() const { return data_.data(); }
  std::size_t size() const { return data_.size(); }
  ks::Meta meta(const void* at) const {
    const std::size_t i = offset(at);
    return {shadow_.data() + i, origin_.data() + (i & ~std::size_t{3})};
  }
  void set_defined(const void* at, std::size_t bytes) const;
  void set_undefined(const void* at, std::size_t bytes, std::uint32_t origin) const;

 private:
  Pages data_, shadow_, origin_;
};

/// A buffer of the case, where it lies and how it was used.
struct PlacedBuffer {
  std::string name;
  Role role = Role::in;
  std::size_t offset = 0, bytes = 0;
  bool constant = false;  ///< bound to a `constant` parameter in this launch
  Site last_store = 0;
  std::uint32_t last_store_group = 0, last_store_launch = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0, constant_bytes_read = 0;
};

/// Space around a buffer that belongs to nobody: what lands there is out of bounds.
inline constexpr std::size_t kBufferGap = 64 << 10;
/// Buffers begin at a page (of any system), so that shared memory can be mapped there.
inline constexpr std::size_t kBufferAlignment = 16 << 10;

/// Offsets of buffers of these sizes; the last entry is the bytes needed in all.
std::vector<std::size_t> place_buffers(std::span<const std::size_t> sizes);

}  // namespace ksearch::simt
