// Where buffers lie in the memory that parent and worker share, so that a step outside one is seen:
//
//   | no access | front slack | buffer ............ | 0-63 bytes | no access |
//                 canary        64-byte aligned       canary
//
// The end touches the inaccessible page, up to the alignment; what lies between is filled with a
// pattern that the parent checks. Pure arithmetic and bytes: mapping is the worker's and `os`'s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/outcome.h"

namespace ksearch::target {

inline constexpr std::size_t kPage = 4096;  ///< larger system pages are not supported yet
/// Between two buffers: address space only. Wide, so that a stride of a row or two still lands in
/// it.
inline constexpr std::size_t kGuard = 256 << 10;
inline constexpr std::size_t kAlignment = 64;  ///< of every buffer

struct Buffer {
  std::string name;
  std::size_t offset = 0;  ///< of its first byte, in the arena
  std::size_t bytes = 0;
  std::size_t region = 0;  ///< first byte of its accessible pages
  std::size_t region_bytes = 0;
};

struct Range {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// A layout under construction: buffers in the order they are added.
class Arena {
 public:
  /// With `guard` its end touches a guard page; without, it starts on a page.
  const Buffer& add(std::string name, std::size_t bytes, bool guard = true);
  /// Ends the layout with a guard; no `add` after it.
  void close();

  std::size_t bytes() const { return bytes_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const Buffer* find(std::string_view name) const;
  /// The pages nobody may touch.
  const std::vector<Range>& guards() const { return guards_; }

 private:
  std::size_t bytes_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<Range> guards_;
};

/// Fills the slack of each buffer with the pattern.
void draw_canaries(const Arena& arena, std::span<std::byte> memory);

/// One finding a damaged side: "out_of_bounds", the buffer, "wrote past the end of out, 4 bytes".
std::vector<kernel::Finding> damaged_canaries(const Arena& arena,
                                              std::span<const std::byte> memory);

/// What a fault at `offset` of the arena means: the guard page of the nearest buffer. Nothing where
/// the address is inside one (its memory was unmapped) .
std::optional<kernel::Finding> explain_fault(const Arena& arena, std::size_t offset, bool write);

}  // namespace ksearch::target
