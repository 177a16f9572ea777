#include "simt/engine/requests.h"

#include <algorithm>

namespace ksearch::simt {
namespace {

constexpr std::size_t kMostRequests = 1 << 20;  // between two meetings: 100 MB
constexpr std::uint64_t kNear = 128;            // numbers that a CloseSet holds without a list
constexpr std::uint64_t kBefore = 32;           // of them below the first one

}  // namespace

void CloseSet::add(std::uint64_t number) {
  if (empty_) {
    base_ = number < kBefore ? 0 : number - kBefore;
    empty_ = false;
  }
  const std::uint64_t i = number - base_;
  if (i < kNear)
    near_[i / 64] |= std::uint64_t{1} << (i % 64);
  else
    far_.push_back(number);
}

void CloseSet::add(const CloseSet& other) {
  other.each([&](std::uint64_t number) { add(number); });
}

void CloseSet::sort_far() const {
  std::sort(far_.begin(), far_.end());
  far_.erase(std::unique(far_.begin(), far_.end()), far_.end());
}

std::size_t CloseSet::size() const {
  if (!far_.empty()) sort_far();
  return static_cast<std::size_t>(std::popcount(near_[0]) + std::popcount(near_[1])) + far_.size();
}

std::size_t CloseSet::most_in_a_bank() const {
  const auto part = [&](std::size_t i) {
    return static_cast<std::uint32_t>(near_[i / 2] >> (32 * (i % 2)));
  };
  const std::uint32_t a = part(0), b = part(1), c = part(2), d = part(3);
  if (far_.empty() && ((a & b) | ((a | b) & c) | ((a | b | c) & d)) == 0) return empty_ ? 0 : 1;
  sort_far();
  std::array<std::size_t, kBanks> count{};
  for (std::size_t i = 0; i < kBanks; ++i) {
    const std::size_t bank = (base_ + i) % kBanks;
    count[bank] = (a >> i & 1u) + (b >> i & 1u) + (c >> i & 1u) + (d >> i & 1u);
  }
  for (const std::uint64_t number : far_) ++count[number % kBanks];
  return *std::max_element(count.begin(), count.end());
}

void CloseSet::clear() {
  near_ = {};
  far_.clear();
  empty_ = true;
}

void Requests::begin_lane() {
  ++lane_;
  for (Open& open : open_) open.used = false;
}

void Requests::mark(Request& request, std::uint64_t at, std::size_t bytes) {
  const std::uint64_t unit = request.memory == MemoryKind::device ? kLineBytes : kBankBytes;
  for (std::uint64_t i = at / unit; i <= (at + bytes - 1) / unit; ++i) request.units.add(i);
}

Request* Requests::request(std::uint32_t site, MemoryKind memory, std::uint32_t& number) {
  SiteState& state = sites_[site];
  if (state.phase != phase_) {
    state.phase = phase_;
    state.requests.clear();
  }
  if (state.lane != lane_) {
    state.lane = lane_;
    state.runs = 0;
  }
  if (state.runs == state.requests.size()) {
    if (used_ == kMostRequests) return nullptr;
    if (used_ == pool_.size()) pool_.emplace_back();
    Request& fresh = pool_[used_];
    fresh.site = site;
    fresh.memory = memory;
    fresh.lanes = fresh.joined = 0;
    state.requests.push_back(static_cast<std::uint32_t>(used_++));
  }
  number = state.requests[state.runs++];
  return &pool_[number];
}

/// Whether the access goes on where another one of the lane ends or begins. That one grows by it;
/// its request does where all lanes say so (`finish`).
bool Requests::join(Request& request, bool store, std::uint64_t at, std::size_t bytes) {
  for (Open& open : open_) {
    if (!open.used || open.store != store || open.memory != request.memory ||
        open.end - open.start + bytes > kWidestAccess || pool_[open.request].site == request.site ||
        (request.joined > 0 && request.neighbour != open.request))
      continue;
    if (open.end == at)
      open.end = at + bytes;
    else if (at + bytes == open.start)
      open.start = at;
    else
      continue;
    request.neighbour = open.request;
    ++request.joined;
    return true;
  }
  return false;
}

void Requests::add(std::uint32_t site, MemoryKind memory, bool store, std::uint64_t at,
                   std::size_t bytes) {
  if (bytes == 0 || site >= sites_.size()) return;
  std::uint32_t number = 0;
  Request* one = request(site, memory, number);
  // Too many, or an instruction that goes to two memories in turn: those of the first are told.
  if (!one || one->memory != memory) return;
  ++one->lanes;
  mark(*one, at, bytes);
  if (join(*one, store, at, bytes)) return;
  open_[next_open_] = {number, at, at + bytes, memory, store, true};
  next_open_ = (next_open_ + 1) % open_.size();
}

}  // namespace ksearch::simt
