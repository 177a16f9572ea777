#include "simt/engine/job_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "simt/engine/worker.h"

namespace ksearch::simt {
namespace {
using base::Json;

/// Null where the parent's memory cannot be mapped.
std::byte* map_shared(void* at, std::size_t bytes, int how, const Json& from) {
  void* const to =
      ::mmap(at, bytes, PROT_READ | PROT_WRITE, how, kMemoryDescriptor, from.get<std::int64_t>());
  return to == MAP_FAILED ? nullptr : static_cast<std::byte*>(to);
}

base::Error not_mapped(const PlacedBuffer& buffer) {
  return base::environment_error(buffer.name, "its memory cannot be mapped").error();
}

}  // namespace

std::vector<PlacedBuffer> read_buffers(const Json& buffers) {
  std::vector<PlacedBuffer> all;
  for (const Json& buffer : buffers) {
    const std::string role = buffer.at("role");
    all.push_back({.name = buffer.at("name"),
                   .role = role == "out"     ? Role::out
                           : role == "inout" ? Role::inout
                                             : Role::in,
                   .bytes = buffer.at("bytes")});
  }
  return all;
}

std::size_t place(std::vector<PlacedBuffer>& buffers) {
  std::vector<std::size_t> sizes;
  for (const PlacedBuffer& buffer : buffers) sizes.push_back(buffer.bytes);
  const std::vector<std::size_t> offsets = place_buffers(sizes);
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].offset = offsets[i];
  return offsets.back();
}

base::Result<void> map_buffers(const Json& buffers, SharedState& shared) {
  for (std::size_t i = 0; i < shared.buffers.size(); ++i) {
    const PlacedBuffer& buffer = shared.buffers[i];
    if (buffer.bytes == 0) continue;
    std::byte* const to = shared.device.data() + buffer.offset;
    const int how = buffer.role == Role::in ? MAP_PRIVATE : MAP_SHARED;
    if (!map_shared(to, buffer.bytes, how | MAP_FIXED, buffers.at(i).at("at")))
      return std::unexpected(not_mapped(buffer));
    // NaN in every float type: an element that nobody wrote shows.
    if (buffer.role == Role::out && !buffers.at(i).value("continues", false))
      std::memset(to, 0xff, buffer.bytes);
  }
  return {};
}

base::Result<void> WrittenMaps::open(const Json& buffers, SharedState& shared) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const PlacedBuffer& buffer = shared.buffers[i];
    if (!buffers[i].contains("written_at") || buffer.bytes == 0) continue;
    std::byte* const map = map_shared(nullptr, buffer.bytes, MAP_SHARED, buffers[i]["written_at"]);
    if (!map) return std::unexpected(not_mapped(buffer));
    maps_.push_back({i, {map, buffer.bytes}});
    shared.mark_written(buffer, maps_.back().bytes);
  }
  return {};
}

void WrittenMaps::tell(const SharedState& shared) const {
  for (const Map& map : maps_) {
    const PlacedBuffer& buffer = shared.buffers[map.buffer];
    const auto mark = [&](std::size_t at, std::size_t bytes) {
      std::memset(map.bytes.data() + (at - buffer.offset), 1, bytes);
    };
    shared.cells.each(buffer.offset, buffer.bytes,
                      [&](std::size_t at, std::size_t bytes, const Cell& cell) {
                        if (cell.writer != 0) mark(at, bytes);
                      });
    // What nobody could watch is no output that was left out.
    for (std::size_t done = 0; done < buffer.bytes; done += Cells::kPage) {
      const std::size_t at = buffer.offset + done;
      const std::size_t bytes = std::min(Cells::kPage, buffer.bytes - done);
      if (shared.cells.unwatched(at, bytes) > 0) mark(at, bytes);
    }
  }
}

}  // namespace ksearch::simt
