#include "simt/shared_buffers.h"

#include <cstring>

#include "simt/fill.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kAlignment = 16 << 10;  // a page of any system

std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

base::Result<SharedBuffers> SharedBuffers::create(const Case& all) {
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch-check"));
  SharedBuffers shared(std::move(memory));
  std::size_t end = 0;
  for (const Buffer& buffer : all.buffers) {
    Place place{.at = end, .bytes = buffer.bytes(), .written_at = {}};
    end += rounded(place.bytes);
    if (all.in_sequence && buffer.role == Role::out) {
      place.written_at = end;
      end += rounded(place.bytes);
    }
    shared.places_.push_back(place);
  }
  if (end > 0) KS_RETURN_IF_ERROR(shared.memory_.resize(end));
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    KS_RETURN_IF_ERROR(shared.fill_one(all.buffers[i], shared.places_[i]));
  return shared;
}

base::Result<void> SharedBuffers::fill_one(const Buffer& buffer, const Place& place) const {
  KS_RETURN_IF_ERROR(fill(buffer, memory_.bytes().subspan(place.at, place.bytes)));
  if (place.written_at && buffer.written.size() == place.bytes)
    std::memcpy(memory_.bytes().data() + *place.written_at, buffer.written.data(), place.bytes);
  return {};
}

base::Result<void> SharedBuffers::refill(const Case& all) const {
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    if (all.buffers[i].role != Role::in) KS_RETURN_IF_ERROR(fill_one(all.buffers[i], places_[i]));
  return {};
}

std::string SharedBuffers::bytes(std::size_t at, std::size_t count) const {
  return {reinterpret_cast<const char*>(memory_.bytes().data()) + at, count};
}

std::string SharedBuffers::written(std::size_t i) const {
  const Place& place = places_[i];
  return place.written_at ? bytes(*place.written_at, place.bytes) : std::string();
}

}  // namespace ksearch::simt
