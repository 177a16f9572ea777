// macOS has no system call filter for one's own process. Not yet run: the sandbox that is missing
// there (os/sandbox_macos.cpp) comes first.
#include "os/lock.h"

namespace ksearch::os {

std::string lock_for_loading(int) { return {}; }
std::string lock_for_running(int) { return {}; }

}  // namespace ksearch::os
