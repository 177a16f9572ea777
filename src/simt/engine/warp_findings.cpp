// What Machine tells of warps and barriers that threads do not keep to.
#include <fmt/format.h>

#include <bit>

#include "simt/engine/machine.h"

namespace ksearch::simt {

void Machine::tell_absent(std::uint32_t mask, const Fiber& one) {
  const std::uint32_t missing = named_by(first_, one) & ~mask;
  if (missing == 0) return;
  const std::uint32_t thread = first_ + static_cast<std::uint32_t>(std::countr_zero(missing));
  RawFinding f = watch_.finding(kind::kWrongMask, {one.pc, fibers_[thread].pc});
  f.threads = {one.lane.thread.index_in_group, thread};
  f.detail =
      fmt::format("its mask {:#010x} names {} lanes that do not come: thread {} waits elsewhere",
                  one.mask, std::popcount(missing), thread);
  watch_.findings().add(std::move(f));
}

void Machine::tell_divergence(std::uint32_t id, std::uint32_t come, std::uint32_t asked) {
  const Fiber *waiting = nullptr, *other = nullptr;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    const Fiber& fiber = fibers_[i];
    const bool here = fiber.wait == Wait::group_barrier && fiber.barrier->id == id;
    if (here && !waiting)
      waiting = &fiber;
    else if (fiber.wait != Wait::done && !other &&
             (!here || (waiting && !same_place(*waiting, fiber))))
      other = &fiber;
  }
  RawFinding f =
      watch_.finding(kind::kBarrierDivergence,
                     other ? std::vector{waiting->pc, other->pc} : std::vector{waiting->pc});
  f.threads = {waiting->lane.thread.index_in_group};
  if (other) f.threads.push_back(other->lane.thread.index_in_group);
  f.detail = come >= asked ? fmt::format("thread {} waits at one barrier, thread {} at another",
                                         f.threads.front(), f.threads.back())
                           : fmt::format("{} of {} threads come to barrier {}", come, asked, id);
  watch_.findings().add(std::move(f));
}

}  // namespace ksearch::simt
