// Copies that a thread has started and not waited for yet (CUDA's cp.async): what they will write,
// and which bytes of group memory nobody may touch until then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ksearch::simt {

struct AsyncCopy {
  std::byte* to = nullptr;
  std::uint32_t bytes = 0;
  std::array<std::byte, 16> data{}, shadow{};
  std::uint32_t origin = 0;
  const void* pc = nullptr;
};

class AsyncCopies {
 public:
  void begin_group(std::uint32_t threads);
  /// `offset`: where `copy.to` lies in group memory.
  void start(std::uint32_t thread, const AsyncCopy& copy, std::size_t offset);
  /// What the thread has started since the last call becomes one group.
  void commit(std::uint32_t thread);
  /// Takes out the copies of all groups but the `pending` last; -1: also those without a group.
  std::vector<AsyncCopy> take(std::uint32_t thread, int pending);
  void landed(const AsyncCopy& copy, std::size_t offset);

  bool any() const { return under_way_ > 0; }
  /// The copy that will write one of these bytes, or null.
  const void* pending_at(std::size_t offset, std::size_t bytes) const {
    if (under_way_ == 0) return nullptr;
    for (std::size_t i = offset; i < offset + bytes && i < owner_.size(); ++i)
      if (owner_[i]) return owner_[i];
    return nullptr;
  }

 private:
  struct Thread {
    std::vector<std::vector<AsyncCopy>> groups;
    std::vector<AsyncCopy> open;
  };
  std::vector<Thread> threads_;
  std::vector<const void*> owner_;  ///< for each byte of group memory, the copy's place
  std::size_t under_way_ = 0;
};

}  // namespace ksearch::simt
