// What the ways have in common: their names and which paths of the system a child gets.
#include "os/sandbox.h"

namespace ksearch::os {

std::string_view name(SandboxWay way) {
  switch (way) {
    case SandboxWay::namespaces:
      return "namespaces";
    case SandboxWay::landlock:
      return "landlock";
    case SandboxWay::none:
      return "none";
  }
  return "none";
}

std::optional<SandboxWay> parse_sandbox_way(std::string_view text) {
  for (const SandboxWay way : {SandboxWay::namespaces, SandboxWay::landlock, SandboxWay::none})
    if (text == name(way)) return way;
  return std::nullopt;
}

}  // namespace ksearch::os
