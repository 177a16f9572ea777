// The handlers of a CPU worker that report what candidate code tried, or where it crashed. One file
// for each system.
#pragma once

#include <atomic>
#include <cstddef>

namespace ksearch::target {

/// Memory whose addresses are told as offsets, so that the parent can name the buffer.
struct FaultRegion {
  std::atomic<const std::byte*> start{nullptr};
  std::atomic<std::size_t> bytes{0};
};
extern FaultRegion g_fault_regions[2];  ///< shared, private; written by `prepare`, read by handlers

/// Signals of crashes and of refused system calls go to handlers that write one line to `control`
/// and leave. For the whole process; `prepare_thread` gives a thread the stack they run on.
void install_fault_handlers(int control);
void prepare_thread();

/// Asks for the matrix unit where the CPU has one and the system makes processes ask.
void ask_for_matrix_unit();

}  // namespace ksearch::target
