// A case's buffers in memory that the process which runs the kernel maps too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "os/shared_memory.h"
#include "simt/case.h"

namespace ksearch::simt {

class SharedBuffers {
 public:
  /// With their start contents.
  static base::Result<SharedBuffers> create(const Case& all);

  int descriptor() const { return memory_.descriptor(); }
  /// Where buffer `i` lies.
  std::size_t at(std::size_t i) const { return places_[i].at; }
  /// Where it is told which of its bytes have been written: see Case::in_sequence.
  std::optional<std::size_t> written_at(std::size_t i) const { return places_[i].written_at; }
  /// Outputs as they were, before another run.
  base::Result<void> refill(const Case& all) const;
  std::string contents(std::size_t i) const { return bytes(places_[i].at, places_[i].bytes); }
  std::string written(std::size_t i) const;

 private:
  struct Place {
    std::size_t at = 0, bytes = 0;
    std::optional<std::size_t> written_at;
  };

  explicit SharedBuffers(os::SharedMemory memory) : memory_(std::move(memory)) {}
  std::string bytes(std::size_t at, std::size_t count) const;
  base::Result<void> fill_one(const Buffer& buffer, const Place& place) const;

  os::SharedMemory memory_;
  std::vector<Place> places_;
};

}  // namespace ksearch::simt
