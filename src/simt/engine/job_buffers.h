// A job's buffers: read, given their places in device memory, mapped there; and which bytes of them
// have been written, where cases follow each other.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "simt/engine/shared.h"

namespace ksearch::simt {

/// `buffers`: the job's entry of that name.
std::vector<PlacedBuffer> read_buffers(const base::Json& buffers);
/// Gives them their places. Bytes they need in all.
std::size_t place(std::vector<PlacedBuffer>& buffers);
/// The buffers are the parent's memory, put where they belong; inputs as a copy that is made where
/// it is written.
base::Result<void> map_buffers(const base::Json& buffers, SharedState& shared);

/// The maps in which cases tell each other which bytes they wrote: a byte a byte.
class WrittenMaps {
 public:
  /// Marks what was written before as written. Watched runs alone.
  base::Result<void> open(const base::Json& buffers, SharedState& shared);
  /// Adds what was written here.
  void tell(const SharedState& shared) const;

 private:
  struct Map {
    std::size_t buffer = 0;
    std::span<std::byte> bytes;
  };
  std::vector<Map> maps_;
};

}  // namespace ksearch::simt
