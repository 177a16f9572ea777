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

}  // namespace ksearch::simt
