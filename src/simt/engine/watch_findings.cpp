// The part of Watch that hears of faults from instrumentation and signals.
#include <fmt/format.h>

#include "simt/engine/watch.h"

namespace ksearch::simt {

void Watch::used_undefined(std::uint32_t origin, const void* pc) {
  const auto from = static_cast<OriginKind>(origin >> kOriginPlaceBits);
  if (from == OriginKind::none) return;
  RawFinding f =
      finding(from == OriginKind::lane ? kind::kUndefinedLane : kind::kUninitialisedVariable,
              {shared_.object.begin + (origin & kOriginPlaceMask), pc});
  f.detail = "it decides a branch or an address";
  findings_.add(std::move(f));
}

void Watch::misaligned(const void* at, std::size_t alignment, const void* pc) {
  settle();
  if (!at) return;
  RawFinding f = finding(kind::kMisaligned, {pc});
  if (device().holds(at)) {
    const std::size_t offset = device().offset(at);
    if (const PlacedBuffer* buffer = buffer_at(offset)) {
      f.buffer = buffer->name;
      f.offset = static_cast<std::int64_t>(offset - buffer->offset);
    }
  } else if (group_.holds(at)) {
    const std::size_t offset = group_.offset(at);
    for (const GroupArray& array : arrays_)
      if (offset - array.offset < array.bytes) {
        f.buffer = array.name;
        f.offset = static_cast<std::int64_t>(offset - array.offset);
      }
  }
  f.detail = f.offset >= 0 ? fmt::format("byte {} is no multiple of {}, which its type asks for",
                                         f.offset, alignment)
                           : fmt::format("an address that is no multiple of {}", alignment);
  findings_.add(std::move(f));
}

void Watch::outside_array(const void* pc) {
  RawFinding f = finding(kind::kOutOfBounds, {pc});
  f.detail = "an index outside an array of fixed size";
  findings_.add(std::move(f));
}

void Watch::wild_access(const void* at, const void* pc, std::vector<std::uint64_t> callers) {
  const bool in_stack = stacks().holds(at);
  // A check's trap: the address is the instruction's own.
  const bool trapped =
      reinterpret_cast<std::uintptr_t>(pc) - reinterpret_cast<std::uintptr_t>(at) <= 4;
  RawFinding f = finding(in_stack ? kind::kStackOverflow : kind::kOutOfBounds, {pc});
  f.callers = std::move(callers);
  f.detail = in_stack  ? "the thread's private memory is used up"
             : trapped ? "an access outside a private array"
             // x86 tells none where a vector is not aligned or the address can be no one's.
             : at == nullptr
                 ? "an access through a null pointer, to an address far outside every buffer, or "
                   "of a vector at one that is no multiple of its size"
                 : "an access to an address far outside every buffer";
  findings_.add(std::move(f));
}

}  // namespace ksearch::simt
