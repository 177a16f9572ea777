// What a worker takes from itself before foreign code runs: every system call but a few. One file
// for each system.
#pragma once

#include <string>

namespace ksearch::os {

/// First lock, before objects are loaded: files may still be opened for reading (where the sandbox
/// lets them), code may be mapped. Second lock, after: neither. Both for all threads; of
/// descriptors only `control` can be written. What is refused raises SIGSYS. Empty, or why it
/// failed.
std::string lock_for_loading(int control);
std::string lock_for_running(int control);

}  // namespace ksearch::os
