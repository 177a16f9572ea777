// The part of Watch that knows CUDA's copies to group memory.
#include <fmt/format.h>

#include <cstring>

#include "simt/engine/watch.h"

namespace ksearch::simt {

bool Watch::check_copies(std::size_t offset, std::size_t bytes, Use use, const void* pc) {
  const void* copy = copies_.pending_at(offset, bytes);
  if (!copy) return false;
  RawFinding f = finding(kind::kDataRace, {copy, pc});
  for (const GroupArray& array : arrays_)
    if (offset - array.offset < array.bytes) {
      f.buffer = array.name;
      f.offset = static_cast<std::int64_t>(offset - array.offset);
    }
  f.detail = fmt::format(
      "{} by thread {} of bytes that a cp.async is still to write: the thread "
      "that started it has not waited for its group",
      use.store ? "a write" : "a read", running_.index_in_group);
  findings_.add(std::move(f));
  return true;
}

void Watch::start_copy(void* to, const void* from, std::uint32_t bytes, std::uint32_t from_bytes,
                       const void* pc) {
  AsyncCopy copy{.to = static_cast<std::byte*>(to), .bytes = bytes, .pc = pc};
  for (const void* at : {static_cast<const void*>(to), from})
    if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) misaligned(at, bytes, pc);
  if (!watched()) {
    std::memset(to, 0, bytes);
    std::memcpy(to, from, from_bytes);
    return;
  }
  if (from_bytes > 0) {
    const ks::Meta meta = access(from, from_bytes, {.load = true}, pc);
    if (device().holds(from)) std::memcpy(copy.data.data(), from, from_bytes);
    std::memcpy(copy.shadow.data(), meta.shadow, from_bytes);
    copy.origin = *static_cast<const std::uint32_t*>(meta.origin);
  }
  if (!group_.holds(to)) {
    access(to, bytes, {.store = true}, pc);
    return;
  }
  const std::size_t offset = group_.offset(to);
  check_copies(offset, bytes, {.store = true}, pc);
  // What stood there may be overwritten at any time from now on.
  constexpr int kPoison = 0xff;
  for (const GroupArray& array : arrays_)
    if (offset - array.offset < array.bytes && offset - array.offset + bytes <= array.bytes)
      std::memset(to, kPoison, bytes);
  copies_.start(running_.index_in_group, copy, offset);
}

void Watch::wait_for_copies(int pending) {
  for (const AsyncCopy& copy : copies_.take(running_.index_in_group, pending)) {
    copies_.landed(copy, group_.offset(copy.to));
    const ks::Meta meta = access(copy.to, copy.bytes, {.store = true}, copy.pc);
    if (meta.shadow == waste_.data()) continue;  // out of bounds: told
    std::memcpy(copy.to, copy.data.data(), copy.bytes);
    std::memcpy(meta.shadow, copy.shadow.data(), copy.bytes);
    for (std::size_t i = 0; i < copy.bytes / 4; ++i)
      static_cast<std::uint32_t*>(meta.origin)[i] = copy.origin;
  }
}

}  // namespace ksearch::simt
