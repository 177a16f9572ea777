// What an object calls, handed to the machine of its OS thread.
#include <fmt/format.h>

#include <cstring>

#include "simt/engine/machine.h"
#include "simt/engine/watch_quick.h"

namespace ksearch::simt {

/// A hook at work: a tick that comes meanwhile waits for its end, since memory is being changed.
struct Hooks {
  Machine& m;
  const void* pc;

  [[gnu::always_inline]] explicit Hooks(const void* at) : m(*t_machine), pc(at) { m.in_hook_ = 1; }
  [[gnu::always_inline]] ~Hooks() {
    m.in_hook_ = 0;
    if (m.stop_ != Machine::Stop::none) [[unlikely]] {
      m.stop_at({.pc = pc, .stack = static_cast<std::byte*>(__builtin_frame_address(0))});
    }
  }
  Hooks(const Hooks&) = delete;

  /// A tick may come in the middle of a quick access: what it leaves can be looked at.
  static ks::Meta load(const void* at, ks::u64 bytes, const void* pc) {
    Watch& watch = t_machine->watch_;
    if (watch.quick_group_access(at, bytes, false, pc)) return watch.group().meta(at);
    return load_any(at, bytes, pc);
  }
  static ks::Meta store(void* at, ks::u64 bytes, const void* pc) {
    Watch& watch = t_machine->watch_;
    if (watch.quick_group_access(at, bytes, true, pc)) return watch.group().meta(at);
    return store_any(at, bytes, pc);
  }
  [[gnu::noinline]] static ks::Meta load_any(const void* at, ks::u64 bytes, const void* pc) {
    const Hooks h(pc);
    return h.m.watch_.access(at, bytes, {.load = true}, pc);
  }
  [[gnu::noinline]] static ks::Meta store_any(void* at, ks::u64 bytes, const void* pc) {
    const Hooks h(pc);
    return h.m.watch_.access(at, bytes, {.store = true}, pc);
  }
  static void copy(void* to, const void* from, ks::u64 bytes, const void* pc) {
    const Hooks h(pc);
    h.m.watch_.copy(to, from, bytes, pc);
  }
  static void fill(void* to, int byte, ks::u64 bytes, const void* pc) {
    const Hooks h(pc);
    h.m.watch_.fill(to, byte, bytes, pc);
  }
  static void used_undefined(ks::u32 origin, const void* pc) {
    const Hooks h(pc);
    h.m.watch_.used_undefined(origin, pc);
  }
  static void misaligned(const void* at, ks::u64 alignment, const void* pc) {
    const Hooks h(pc);
    h.m.watch_.misaligned(at, alignment, pc);
  }
  static void outside_array(const void* pc) {
    const Hooks h(pc);
    h.m.watch_.outside_array(pc);
  }
  static void* group_array(const void* key, ks::u64 bytes, ks::u64 alignment, const char* name,
                           const void* pc) {
    if (!pc) pc = __builtin_return_address(0);
    const Hooks h(pc);
    void* storage = h.m.watch_.group_array(key, bytes, alignment, name, pc);
    if (!storage) h.m.stop_ = Machine::Stop::order;  // far over the limit: told, and no way on
    return storage;
  }
  static void atomic(const void* at, ks::u64 bytes, bool loads, bool stores, const void* pc) {
    const Hooks h(pc);
    Watch& watch = h.m.watch_;
    if (watch.device().holds(at) && !watch.alone()) {
      // What it reads depends on which groups came before.
      watch.needs_order();
      h.m.stop_ = Machine::Stop::order;
      return;
    }
    if (h.m.trace_ && h.m.trace_->tracing())
      h.shared_memory(at, [&](MemoryKind memory, std::uint64_t offset) {
        h.m.trace_->atomic(memory, offset, bytes, loads, stores);
      });
    if (!watch.watched()) return;
    watch.access(at, bytes, {.load = loads, .store = stores, .atomic = true}, pc);
    if (stores) watch.set_defined(at, bytes);
  }
  /// CUDA: a lock may be what is tried.
  static void atomic_any(const void* at, ks::u64 bytes, bool loads, bool stores, const void* pc) {
    atomic(at, bytes, loads, stores, pc);
    if (t_machine->plan_.masked) t_machine->give_way(at, pc);
  }
  static void start_copy(void* to, const void* from, ks::u32 bytes, ks::u32 from_bytes,
                         const void* pc) {
    const Hooks h(pc);
    h.m.watch_.start_copy(to, from, bytes, from_bytes, pc);
  }
  static void commit_copies() {
    const Hooks h(nullptr);
    h.m.watch_.commit_copies();
  }
  static void wait_for_copies(int pending) {
    const Hooks h(nullptr);
    h.m.watch_.wait_for_copies(pending);
  }
  static void fence() {
    const Hooks h(nullptr);
    h.m.watch_.order().fence(h.m.first_ / 32, h.m.current_);
  }
  static void yield() { t_machine->yield(__builtin_return_address(0)); }
  static void* group_memory() { return t_machine->watch_.group_memory(); }
  static void trace(const void* at, ks::u32 site, ks::u64 bytes, bool store) {
    const Hooks h(nullptr);
    if (h.m.trace_ && h.m.trace_->tracing())
      h.shared_memory(at, [&](MemoryKind memory, std::uint64_t offset) {
        h.m.trace_->access(memory, offset, site, bytes, store);
      });
  }
  /// Calls f with the memory that `at` is in, where threads share it.
  template <class F>
  void shared_memory(const void* at, F&& f) const {
    if (m.watch_.device().holds(at))
      f(MemoryKind::device, m.watch_.device().offset(at));
    else if (m.watch_.group().holds(at))
      f(MemoryKind::group, m.watch_.group().offset(at));
  }
  static void too_many_threads(ks::u32 most, const void* pc) {
    const Hooks h(pc);
    RawFinding f = h.m.watch_.finding(kind::kGroupSizeLimit, {pc});
    const auto& size = h.m.plan_.group_size;
    f.detail = fmt::format("a group has {} threads; the kernel says that it has at most {}",
                           size[0] * size[1] * size[2], most);
    h.m.watch_.findings().add(std::move(f));
  }
  static void undefined_lane(void* at, ks::u64 bytes, ks::u32 lane) {
    const Hooks h(nullptr);
    std::memset(at, 0xff, bytes);
    h.m.watch_.set_undefined(at, bytes, OriginKind::lane, h.m.fibers_[h.m.first_ + lane].pc);
  }
};

const ks::Engine& Machine::engine() {
  static const ks::Engine all{Hooks::load,
                              Hooks::store,
                              Hooks::copy,
                              Hooks::fill,
                              Hooks::used_undefined,
                              Hooks::misaligned,
                              Hooks::outside_array,
                              Hooks::group_array,
                              collective,
                              barrier,
                              Hooks::undefined_lane,
                              Hooks::atomic_any,
                              Hooks::trace,
                              Hooks::too_many_threads,
                              warp_barrier,
                              block_barrier,
                              Hooks::start_copy,
                              Hooks::commit_copies,
                              Hooks::wait_for_copies,
                              Hooks::fence,
                              Hooks::yield,
                              Hooks::group_memory};
  return all;
}

}  // namespace ksearch::simt
