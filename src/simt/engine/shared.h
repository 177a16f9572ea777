// What the OS threads that run one job have in common: the buffers' memory, the threads' stacks,
// who used what in earlier launches, numbers of places and of intervals.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "simt/engine/cells.h"
#include "simt/engine/memory.h"
#include "simt/engine/order.h"

namespace ksearch::simt {

/// Places in the object's code by number; 0 is none. Thread-safe.
class Sites {
 public:
  Sites() : places_(1) {}
  Site number(const void* pc);
  const void* place(Site site) const;

 private:
  mutable std::mutex mutex_;
  std::vector<const void*> places_;
  std::unordered_map<const void*, Site> numbers_;
};

/// Where the object's code and data lie.
struct ObjectRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool holds(const void* at) const { return at >= begin && at < end; }
};

struct SharedSizes {
  std::size_t device_bytes = 0, stack_bytes = 0;
  std::size_t cell_bytes = 0;  ///< most memory for cells
  bool watched = true;         ///< false: no shadows, no cells
};

struct SharedState {
  SharedState(std::vector<PlacedBuffer> placed, const SharedSizes& sizes);

  /// The buffer that the page at this offset of `device` belongs to, or null.
  const PlacedBuffer* buffer_of_page(std::size_t offset) const {
    const std::uint16_t i = page_owner[offset / Cells::kPage];
    return i == kNobody ? nullptr : &buffers[i];
  }

  /// The bytes of the buffer whose entry is not 0 are written, by what ran before.
  void mark_written(const PlacedBuffer& buffer, std::span<const std::byte> written);
  /// Another buffer, in room that `device` has; before any group runs.
  void add(const PlacedBuffer& buffer);

  static constexpr std::uint16_t kNobody = 0xffff;
  bool watched;
  std::vector<PlacedBuffer> buffers;
  Region device, stacks;
  std::vector<std::uint16_t> page_owner;
  CellPool pool;
  Cells cells;  ///< of `device`, as launches that ended left it
  Intervals intervals;
  Sites sites;
  ObjectRange object;
  /// What wrote bytes of outputs before this run; 0 where nothing did.
  Stamp before = 0;
  /// Groups that run at the same time need each other's order: run the job again on one thread.
  std::atomic<bool> again{false};
};

}  // namespace ksearch::simt
