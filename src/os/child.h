// Inside a forked child, before exec: only async-signal-safe calls. Private to `os`.
#pragma once

#include <sys/types.h>

#include <vector>

#include "os/process.h"

namespace ksearch::os {

/// Restrictions that a process lays on itself and cannot take off again.
class Confinement {
 public:
  virtual ~Confinement() = default;
  /// In the child. False with errno set where the system refuses.
  virtual bool enter() const noexcept = 0;
};

/// Session, death with the parent, CPUs. False with errno set.
bool settle_child(const Command& command, pid_t parent) noexcept;
/// Closes every descriptor from `first` on, except `keep`.
void close_from(int first, int keep) noexcept;

}  // namespace ksearch::os
