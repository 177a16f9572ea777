// Looks at every access of a kernel: is it inside something, has it been written, does anybody else
// use it at the same time. One for each OS thread; holds the threadgroup memory of its group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simt/engine/async_copies.h"
#include "simt/engine/finding.h"
#include "simt/engine/shared.h"

namespace ksearch::simt {

/// The thread that runs.
struct Running {
  std::uint32_t simdgroup = 0, lane = 0, index_in_group = 0;
  std::array<std::uint32_t, 3> group{};
  int launch = 0;
};

struct Use {
  bool load : 1 = false, store : 1 = false, atomic : 1 = false;  // one byte: passed as it is
};

/// Where an undefined value came from; with the place in the object's code in the origin words of
/// memory. ks_library.h writes them too.
enum class OriginKind : std::uint32_t { none = 0, lane = 1, variable = ks::kOriginVariable };
inline constexpr std::uint32_t kOriginPlaceBits = ks::kOriginPlaceBits;
inline constexpr std::uint32_t kOriginPlaceMask = (1u << kOriginPlaceBits) - 1;

class Watch {
 public:
  static constexpr std::size_t kGroupBlock = 256;

  /// `alone`: no other OS thread runs groups at the same time.
  Watch(SharedState& shared, bool alone);

  const Region& device() const { return shared_.device; }
  const Region& group() const { return group_; }
  const Region& stacks() const { return shared_.stacks; }
  /// As placed, and how they were used here.
  std::vector<PlacedBuffer>& buffers() { return buffers_; }
  Order& order() { return order_; }
  Running& running() { return running_; }
  SharedState& shared() { return shared_; }
  bool watched() const { return shared_.watched; }
  bool alone() const { return alone_; }

  void begin_group(std::uint32_t number, std::uint32_t simdgroups,
                   const std::vector<std::uint32_t>& slots);
  void end_group();
  void end_launch();

  /// Before a store, after a load. What comes back holds `bytes` bytes of shadow.
  ks::Meta access(const void* at, std::size_t bytes, Use use, const void* pc);
  /// The same, without a call, for what most accesses are: threadgroup memory that since the last
  /// barrier of the group was at most read. False: it is for `access` to look at.
  [[gnu::always_inline]] bool quick_group_access(const void* at, std::size_t bytes, bool store,
                                                 const void* pc);
  void copy(void* to, const void* from, std::size_t bytes, const void* pc);
  void fill(void* to, int byte, std::size_t bytes, const void* pc);
  void set_defined(const void* at, std::size_t bytes);
  void set_undefined(const void* at, std::size_t bytes, OriginKind kind, const void* pc);
  void used_undefined(std::uint32_t origin, const void* pc);
  void misaligned(const void* at, std::size_t alignment, const void* pc);
  void outside_array(const void* pc);
  /// A fault at an address that belongs to nobody.
  void wild_access(const void* at, const void* pc, std::vector<std::uint64_t> callers = {});
  /// Groups must be run in order from here on: on several OS threads the run is given up.
  void needs_order() {
    if (!alone_) shared_.again = true;
  }

  /// CUDA: copies to group memory that land when they are waited for.
  void start_copy(void* to, const void* from, std::uint32_t bytes, std::uint32_t from_bytes,
                  const void* pc);
  void commit_copies() { copies_.commit(running_.index_in_group); }
  void wait_for_copies(int pending);

  /// Bytes of static arrays, and of these and the slots together. Metal's unless told.
  void set_group_limits(std::size_t fixed, std::size_t all) {
    fixed_limit_ = fixed;
    group_limit_ = all;
  }
  void* group_memory() const { return group_.data(); }

  /// The storage of a `threadgroup` variable; the same for all threads of a group.
  void* group_array(const void* key, std::size_t bytes, std::size_t alignment, const char* name,
                    const void* pc);
  void* group_slot(std::size_t i) const { return slots_[i]; }
  std::size_t group_bytes() const { return most_group_bytes_; }
  std::uint64_t group_bytes_read() const { return group_read_; }
  std::uint64_t group_bytes_written() const { return group_written_; }

  /// Tells whether a store that met another was of the same value; called whenever the thread that
  /// stored has gone on.
  void settle() {
    if (pending_) settle_pending();
  }
  RawFinding finding(const char* kind, std::vector<const void*> pcs) const;
  std::uint64_t place(const void* pc) const;
  Findings& findings() { return findings_; }
  /// Cells of device memory: those of `shared`, or this thread's own on top of them.
  Cells& device_cells() { return alone_ ? shared_.cells : own_cells_; }

 private:
  struct GroupArray {
    const void* key = nullptr;
    std::string name;
    std::size_t offset = 0, bytes = 0;
  };
  /// One access to memory that others may use.
  struct Touch {
    const std::byte* at = nullptr;
    std::size_t bytes = 0, offset = 0;  ///< in the region
    Use use{};
    const void* pc = nullptr;
    Site site = 0;
    MemoryKind memory = MemoryKind::device;
    const std::string* name = nullptr;
    std::size_t within = 0;  ///< offset in the buffer or array
  };
  struct Pending {
    Touch touch;
    std::vector<std::byte> before;
    RawFinding finding;
    std::vector<std::size_t> offsets;
  };
  struct UnwrittenRead {
    MemoryKind memory = MemoryKind::device;
    std::size_t offset = 0;
    RawFinding finding;
  };

  bool array_holds(std::size_t offset, std::size_t bytes) const {
    const auto left = reinterpret_cast<const std::uint32_t*>(to_end_.data())[offset / kGroupBlock];
    return offset % kGroupBlock + bytes <= left;
  }
  ks::Meta device_access(const std::byte* at, std::size_t bytes, Use use, const void* pc);
  ks::Meta outside_buffer(const std::byte* at, std::size_t bytes, Use use, const void* pc);
  ks::Meta group_access(const std::byte* at, std::size_t bytes, Use use, const void* pc);
  ks::Meta outside_group_array(std::size_t offset, std::size_t bytes, Use use, const void* pc);
  /// Notes the access in the cells and looks at what they held; returns how many bytes from its
  /// start had been written before.
  std::size_t check_cells(const Touch& touch);
  /// The same where nothing is to be told, which is nearly always. False: nothing was noted.
  bool quick(MemoryKind memory, std::size_t offset, std::size_t bytes, Use use, const void* pc,
             bool initialised);
  void meet_writer(const Touch& touch, Cell& cell, std::size_t i, bool& told);
  void meet_reader(const Touch& touch, Cell& cell, std::size_t i, bool& told);
  /// Told at the end of the group, where nobody wrote it at the same time.
  void note_unwritten(const char* kind, const Touch& touch, std::size_t i, std::string detail);
  PlacedBuffer* buffer_at(std::size_t offset);
  PlacedBuffer* nearest_buffer(std::size_t offset);
  RawFinding race(Stamp other, Site other_site, bool other_writes, const Touch& touch,
                  std::size_t i);
  GroupArray& add_group_array(const void* key, std::size_t bytes, std::string name);
  /// True, and told, where a copy is under way to one of the bytes.
  bool check_copies(std::size_t offset, std::size_t bytes, Use use, const void* pc);
  void settle_pending();
  ks::Meta nowhere(bool store);
  Cells& cells(MemoryKind memory) {
    return memory == MemoryKind::group ? group_cells_ : device_cells();
  }
  void learn_site(std::pair<const void*, Site>& cached, const void* pc) {
    cached = {pc, shared_.sites.number(pc)};
  }
  std::pair<const void*, Site>& site_entry(const void* pc) {
    return site_cache_[(reinterpret_cast<std::uintptr_t>(pc) >> 2) % site_cache_.size()];
  }
  [[gnu::always_inline]] Site site(const void* pc) {
    auto& cached = site_entry(pc);
    if (cached.first != pc) [[unlikely]]
      learn_site(cached, pc);
    return cached.second;
  }

  SharedState& shared_;
  bool alone_;
  Findings findings_;
  Region group_;
  std::vector<PlacedBuffer> buffers_;
  std::vector<GroupArray> arrays_;
  std::vector<void*> slots_;
  std::size_t group_used_ = 0, dynamic_bytes_ = 0, most_group_bytes_ = 0;
  std::size_t fixed_limit_ = 32768, group_limit_ = 32768;  // Metal feature tables, every Apple GPU
  std::uint64_t group_read_ = 0, group_written_ = 0;
  AsyncCopies copies_;
  Order order_;
  Running running_;
  Cells own_cells_;
  CellPool group_pool_;
  Cells group_cells_;
  std::array<std::pair<const void*, Site>, 1024> site_cache_{};
  std::optional<Pending> pending_;
  std::vector<UnwrittenRead> unwritten_;
  /// Of each block of threadgroup memory, bytes from its start to the end of the array that has it:
  /// an array begins with a block, and has it alone.
  Pages to_end_;
  Pages zeros_, waste_;
};

}  // namespace ksearch::simt
