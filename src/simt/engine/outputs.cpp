#include "simt/engine/outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/engine/watch.h"

namespace ksearch::simt {
namespace {

RawFinding finding_of(const char* kind, const PlacedBuffer& buffer, std::size_t offset) {
  RawFinding f;
  f.kind = kind;
  f.buffer = buffer.name;
  f.offset = static_cast<std::int64_t>(offset - buffer.offset);
  return f;
}

void add_place(const SharedState& shared, RawFinding& f, const void* pc) {
  if (pc)
    f.places.push_back(
        static_cast<std::uint64_t>(static_cast<const std::byte*>(pc) - shared.object.begin));
}

/// The first byte that nobody wrote, where all were watched; else the first that was looked at.
std::size_t first_unwritten(const SharedState& shared, const PlacedBuffer& buffer,
                            bool all_watched) {
  std::size_t written_to = buffer.offset, found = buffer.offset + buffer.bytes;
  shared.cells.each(buffer.offset, buffer.bytes,
                    [&](std::size_t at, std::size_t bytes, const Cell& cell) {
                      if (cell.writer != 0 && at == written_to) written_to += bytes;
                      if (cell.writer == 0) found = std::min(found, at);
                    });
  return all_watched ? written_to : found;
}

void check_covered(const SharedState& shared, const PlacedBuffer& buffer, Findings& findings) {
  const Touched used = touched(shared, buffer);
  const std::size_t unwritten = buffer.bytes - used.written - used.before - used.unwatched;
  if (unwritten == 0) return;
  const std::size_t first = first_unwritten(shared, buffer, used.unwatched == 0);
  RawFinding f = finding_of(kind::kUncoveredOutput, buffer, first);
  add_place(shared, f, shared.sites.place(buffer.last_store));
  f.detail = fmt::format("{} of {} bytes were written by no thread, the first of them byte {}",
                         unwritten, buffer.bytes, f.offset);
  findings.add(std::move(f));
}

void check_defined(SharedState& shared, const PlacedBuffer& buffer, Findings& findings) {
  const Region& device = shared.device;
  shared.cells.each(
      buffer.offset, buffer.bytes, [&](std::size_t at, std::size_t bytes, const Cell& cell) {
        if (cell.writer == 0 || cell.writer == shared.before) return;
        const ks::Meta meta = device.meta(device.data() + at);
        const auto* shadow = static_cast<const unsigned char*>(meta.shadow);
        const auto* bad = std::find_if(shadow, shadow + bytes, [](auto byte) { return byte != 0; });
        if (bad == shadow + bytes) return;
        const std::size_t offset = at + static_cast<std::size_t>(bad - shadow);
        const std::uint32_t origin =
            *static_cast<std::uint32_t*>(device.meta(device.data() + offset).origin);
        const auto from = static_cast<OriginKind>(origin >> kOriginPlaceBits);
        RawFinding f = finding_of(
            from == OriginKind::lane ? kind::kUndefinedLane : kind::kUninitialisedVariable, buffer,
            offset);
        if (from != OriginKind::none)
          add_place(shared, f, shared.object.begin + (origin & kOriginPlaceMask));
        add_place(shared, f, shared.sites.place(cell.writer_site));
        f.threads = {shared.intervals[cell.writer >> 6].simdgroup * 32 + Order::lane(cell.writer)};
        f.detail = fmt::format("it reaches byte {} of the output", f.offset);
        findings.add(std::move(f));
      });
}

}  // namespace

Touched touched(const SharedState& shared, const PlacedBuffer& buffer) {
  Touched sum;
  shared.cells.each(buffer.offset, buffer.bytes,
                    [&](std::size_t, std::size_t bytes, const Cell& cell) {
                      if (cell.reader != 0) sum.read += bytes;
                      if (cell.writer != 0)
                        (cell.writer == shared.before ? sum.before : sum.written) += bytes;
                    });
  sum.unwatched = shared.cells.unwatched(buffer.offset, buffer.bytes);
  return sum;
}

void check_outputs(SharedState& shared, const std::vector<PlacedBuffer>& buffers,
                   Findings& findings) {
  for (const PlacedBuffer& buffer : buffers) {
    if (buffer.role == Role::in || buffer.bytes == 0) continue;
    if (buffer.role == Role::out) check_covered(shared, buffer, findings);
    check_defined(shared, buffer, findings);
  }
}

}  // namespace ksearch::simt
