#include "simt/engine/shared.h"

#include <algorithm>

namespace ksearch::simt {

Site Sites::number(const void* pc) {
  const std::lock_guard lock(mutex_);
  const auto [entry, fresh] =
      numbers_.try_emplace(pc, static_cast<Site>(std::min<std::size_t>(places_.size(), 0xffff)));
  if (fresh && places_.size() < 0xffff) places_.push_back(pc);
  return entry->second;
}

const void* Sites::place(Site site) const {
  const std::lock_guard lock(mutex_);
  return site < places_.size() ? places_[site] : nullptr;
}

SharedState::SharedState(std::vector<PlacedBuffer> placed, const SharedSizes& sizes)
    : watched(sizes.watched),
      buffers(std::move(placed)),
      device(sizes.device_bytes, sizes.watched),
      stacks(sizes.stack_bytes, sizes.watched),
      page_owner(sizes.device_bytes / Cells::kPage + 1, kNobody),
      pool(sizes.watched ? sizes.cell_bytes : 0),
      cells(sizes.device_bytes, pool) {
  for (std::size_t i = 0; i < buffers.size(); ++i)
    for (std::size_t at = 0; at < buffers[i].bytes; at += Cells::kPage)
      page_owner[(buffers[i].offset + at) / Cells::kPage] = static_cast<std::uint16_t>(i);
}

void SharedState::mark_written(const PlacedBuffer& buffer, std::span<const std::byte> written) {
  if (before == 0) {
    const std::uint32_t interval = intervals.take_block();
    intervals[interval] = {};  // of no launch
    before = interval << 6;
  }
  for (std::size_t from = 0; from < written.size();) {
    const auto differs = [&](std::byte byte) {
      return (byte == std::byte{0}) != (written[from] == std::byte{0});
    };
    const auto part = written.subspan(
        from,
        std::min(written.size() - from, Cells::kPage - (buffer.offset + from) % Cells::kPage));
    const auto count =
        static_cast<std::size_t>(std::find_if(part.begin(), part.end(), differs) - part.begin());
    if (written[from] != std::byte{0}) {
      const Cells::Run run = cells.cover(buffer.offset + from, count);
      const std::size_t words = run.first ? count >> run.shift : 0;
      for (std::size_t k = 0; k < words; ++k) run.first[k].writer = before;
    }
    from += count;
  }
}

void SharedState::add(const PlacedBuffer& buffer) {
  for (std::size_t at = 0; at < buffer.bytes; at += Cells::kPage)
    page_owner[(buffer.offset + at) / Cells::kPage] = static_cast<std::uint16_t>(buffers.size());
  buffers.push_back(buffer);
}

}  // namespace ksearch::simt
