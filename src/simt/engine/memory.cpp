#include "simt/engine/memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace ksearch::simt {
namespace {

std::atomic<std::size_t> g_mapped{0};

}  // namespace

std::size_t Pages::mapped_bytes() { return g_mapped; }

Pages::Pages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
  flags |= MAP_NORESERVE;
#endif
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
  g_mapped += bytes;
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Pages::~Pages() {
  if (data_) ::munmap(data_, size_);
}

Region::Region(std::size_t bytes, bool with_shadow)
    // Beyond the end too: instrumented code may look at the shadow of a wide access at once.
    : data_(bytes),
      shadow_(with_shadow ? bytes + 4096 : 0),
      origin_(with_shadow ? bytes + 4096 : 0) {}

void Region::set_defined(const void* at, std::size_t bytes) const {
  std::memset(meta(at).shadow, 0, bytes);
}

void Region::set_undefined(const void* at, std::size_t bytes, std::uint32_t origin) const {
  const ks::Meta first = meta(at);
  std::memset(first.shadow, 0xff, bytes);
  auto* word = static_cast<std::uint32_t*>(first.origin);
  for (std::size_t i = 0; i < (bytes + (offset(at) & 3) + 3) / 4; ++i) word[i] = origin;
}

std::vector<std::size_t> place_buffers(std::span<const std::size_t> sizes) {
  std::vector<std::size_t> offsets;
  std::size_t at = kBufferGap;
  for (const std::size_t bytes : sizes) {
    offsets.push_back(at);
    at = (at + bytes + kBufferGap + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  }
  offsets.push_back(at);
  return offsets;
}

}  // namespace ksearch::simt
