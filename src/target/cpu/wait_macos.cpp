// macOS: std::atomic's own wait; threads cannot be pinned. Not yet run.
#include "target/cpu/wait.h"

namespace ksearch::target {

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) { word.wait(value); }
void wake_all(const std::atomic<std::uint32_t>& word) {
  const_cast<std::atomic<std::uint32_t>&>(word).notify_all();
}
void pin_thread(int) {}

}  // namespace ksearch::target
