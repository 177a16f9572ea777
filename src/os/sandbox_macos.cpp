// macOS: sandbox-exec with a profile would be the way. Not yet written: until then only
// --unsafe-no-sandbox runs generated code, and this says so.
#include "os/sandbox.h"

namespace ksearch::os {

base::Result<Sandbox> Sandbox::find(const SandboxOptions& options) {
  if (options.allow_none) return Sandbox{};
  return base::environment_error("sandbox", "there is none for macOS yet",
                                 "--unsafe-no-sandbox runs generated code unprotected");
}

base::Result<Command> Sandbox::confine(Command command, const Policy&) const { return command; }

std::vector<std::filesystem::path> library_folders() { return {}; }

}  // namespace ksearch::os
