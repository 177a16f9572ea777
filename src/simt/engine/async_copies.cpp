#include "simt/engine/async_copies.h"

#include <algorithm>

namespace ksearch::simt {

void AsyncCopies::begin_group(std::uint32_t threads) {
  threads_.assign(threads, {});
  if (under_way_ > 0) std::fill(owner_.begin(), owner_.end(), nullptr);
  under_way_ = 0;
}

void AsyncCopies::start(std::uint32_t thread, const AsyncCopy& copy, std::size_t offset) {
  threads_[thread].open.push_back(copy);
  if (owner_.size() < offset + copy.bytes) owner_.resize(offset + copy.bytes);
  std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(offset), copy.bytes, copy.pc);
  ++under_way_;
}

void AsyncCopies::commit(std::uint32_t thread) {
  Thread& t = threads_[thread];
  t.groups.push_back(std::move(t.open));
  t.open.clear();
}

std::vector<AsyncCopy> AsyncCopies::take(std::uint32_t thread, int pending) {
  Thread& t = threads_[thread];
  std::vector<AsyncCopy> taken;
  const std::size_t kept = pending < 0 ? 0 : static_cast<std::size_t>(pending);
  const std::size_t done = t.groups.size() > kept ? t.groups.size() - kept : 0;
  for (std::size_t i = 0; i < done; ++i)
    taken.insert(taken.end(), t.groups[i].begin(), t.groups[i].end());
  t.groups.erase(t.groups.begin(), t.groups.begin() + static_cast<std::ptrdiff_t>(done));
  if (pending < 0) {
    taken.insert(taken.end(), t.open.begin(), t.open.end());
    t.open.clear();
  }
  return taken;
}

void AsyncCopies::landed(const AsyncCopy& copy, std::size_t offset) {
  std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(offset), copy.bytes, nullptr);
  --under_way_;
}

}  // namespace ksearch::simt
