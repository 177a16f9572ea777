// Looks at every access of a kernel: is it inside something, has it been written, does anybody else
// use it at the same time. Holds the memory.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simt/engine/async_copies.h"
#include "simt/engine/finding.h"
#include "simt/engine/memory.h"
#include "simt/engine/order.h"

namespace ksearch::simt {

/// The thread that runs.
struct Running {
  std::uint32_t simdgroup = 0, lane = 0, index_in_group = 0;
  std::array<std::uint32_t, 3> group{};
  int launch = 0;
};

struct Use {
  bool load = false, store = false, atomic = false;
};

/// Where an undefined value came from; kept in the origin words of memory.
enum class OriginKind : std::uint32_t { none = 0, lane = 1, variable = 2 };

class Watch {
 public:
  Watch(std::vector<PlacedBuffer> buffers, std::size_t device_bytes, std::size_t stack_bytes,
        const std::byte* object_base, Findings& findings);

  const Region& device() const { return device_; }
  const Region& stacks() const { return stacks_; }
  std::vector<PlacedBuffer>& buffers() { return buffers_; }
  Order& order() { return order_; }
  Running& running() { return running_; }

  void begin_group(std::uint32_t number, std::uint32_t simdgroups,
                   const std::vector<std::uint32_t>& slots);
  void end_group();
  void end_launch();
  /// After the last launch: elements never written, undefined values in outputs.
  void finish();

  /// Before a store, after a load. What comes back holds `bytes` bytes of shadow.
  ks::Meta access(const void* at, std::size_t bytes, Use use, const void* pc);
  void copy(void* to, const void* from, std::size_t bytes, const void* pc);
  void fill(void* to, int byte, std::size_t bytes, const void* pc);
  void set_defined(const void* at, std::size_t bytes);
  void set_undefined(const void* at, std::size_t bytes, OriginKind kind, const void* pc);
  void used_undefined(std::uint32_t origin, const void* pc);
  void misaligned(const void* at, std::size_t alignment, const void* pc);
  void outside_array(const void* pc);
  /// A fault at an address that belongs to nobody.
  void wild_access(const void* at, const void* pc);

  /// CUDA: copies to group memory that land when they are waited for.
  void start_copy(void* to, const void* from, std::uint32_t bytes, std::uint32_t from_bytes,
                  const void* pc);
  void commit_copies() { copies_.commit(running_.index_in_group); }
  void wait_for_copies(int pending);

  /// The storage of a `threadgroup` variable; the same for all threads of a group.
  void* group_array(const void* key, std::size_t bytes, std::size_t alignment, const char* name,
                    const void* pc);
  /// Bytes of static arrays, and of these and the slots together. Metal's unless told.
  void set_group_limits(std::size_t fixed, std::size_t all) {
    fixed_limit_ = fixed;
    group_limit_ = all;
  }
  void* group_memory() const { return group_.data(); }
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

 private:
  struct GroupArray {
    const void* key = nullptr;
    std::string name;
    std::size_t offset = 0, bytes = 0;
  };
  struct Pending {
    const std::byte* at = nullptr;
    std::vector<std::byte> before;
    RawFinding finding;
    std::vector<Cell*> cells;
  };
  struct UnwrittenRead {
    Cell* cell = nullptr;
    RawFinding finding;
  };

  ks::Meta device_access(const std::byte* at, std::size_t bytes, Use use, const void* pc);
  ks::Meta group_access(const std::byte* at, std::size_t bytes, Use use, const void* pc);
  void check_cells(const std::byte* at, std::size_t bytes, Use use, Site site, MemoryKind memory,
                   const std::string& name, std::size_t offset);
  /// Told at the end of the group, where nobody wrote it at the same time.
  void note_unwritten(const char* kind, Cell& cell, const std::string& name, std::size_t offset,
                      std::string detail, const void* pc);
  PlacedBuffer* buffer_at(std::size_t offset);
  RawFinding race(Stamp other, Site other_site, bool other_writes, Use use, Site site,
                  const std::string& name, std::size_t offset) const;
  GroupArray& add_group_array(const void* key, std::size_t bytes, std::string name);
  /// True, and told, where a copy is under way to one of the bytes.
  bool check_copies(std::size_t offset, std::size_t bytes, Use use, const void* pc);
  void settle_pending();
  ks::Meta nowhere(bool store);
  Site site(const void* pc);
  void check_output(const PlacedBuffer& buffer);

  Findings& findings_;
  Region device_, group_, stacks_;
  std::vector<PlacedBuffer> buffers_;
  std::size_t last_buffer_ = 0;
  std::vector<GroupArray> arrays_;
  std::vector<void*> slots_;
  std::size_t group_used_ = 0, dynamic_bytes_ = 0, most_group_bytes_ = 0;
  std::size_t fixed_limit_ = 32768, group_limit_ = 32768;  // Metal feature tables, every Apple GPU
  std::uint64_t group_read_ = 0, group_written_ = 0;
  AsyncCopies copies_;
  Order order_;
  Running running_;
  const std::byte* object_base_;
  std::vector<const void*> sites_;
  std::unordered_map<const void*, Site> site_numbers_;
  std::array<std::pair<const void*, Site>, 1024> site_cache_{};
  std::optional<Pending> pending_;
  std::vector<UnwrittenRead> unwritten_;
  Pages zeros_, waste_;
};

}  // namespace ksearch::simt
