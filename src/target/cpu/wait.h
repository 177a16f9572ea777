// Waiting of threads: pauses, sleep on a word, pinning. One file for each system.
#pragma once

#include <atomic>
#include <cstdint>

namespace ksearch::target {

inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Sleeps while the word is `value`; may return early.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value);
void wake_all(const std::atomic<std::uint32_t>& word);

/// Binds the calling thread to one CPU where the system can; else does nothing.
void pin_thread(int cpu);

}  // namespace ksearch::target
