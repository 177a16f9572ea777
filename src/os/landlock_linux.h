// Landlock by its system calls (no library is as new as the kernel), with a system call filter and
// no capabilities. Private to `os`.
#pragma once

#include <memory>

#include "base/result.h"
#include "os/child.h"
#include "os/sandbox.h"

namespace ksearch::os {

/// The ABI the kernel offers, 0 for none.
int landlock_abi();

/// Prepared in the parent, entered in the child.
base::Result<std::shared_ptr<const Confinement>> landlock_confinement(const Policy& policy);

}  // namespace ksearch::os
