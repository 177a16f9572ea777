// Programs that break, cheat or try to get out, and what each must come to.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace ksearch::target {

struct Hostile {
  const char* name;
  const char* source;
  /// Any of these, as the start of the verdict's line.
  std::vector<std::string> comes_to;
  int milliseconds = 20000;  ///< limit of the call
};

/// For the names that GoogleTest prints.
inline void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

/// Without a signature of their own they define `kernel` as cpu_fixture.h says.
const std::vector<Hostile>& hostile_programs();

}  // namespace ksearch::target
