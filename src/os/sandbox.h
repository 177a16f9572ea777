// Where foreign code runs: a child that sees a few folders, no network, no other process and an
// empty environment. Three ways, found by trying them; the way is a value that reaches reports.
//
//   namespaces  a view of its own of files, processes, network (bubblewrap)
//   landlock    where a container forbids namespaces: Landlock rules, a system call filter, no
//               capabilities (Linux 5.13 and later)
//   none        only where the user says so
//
// A worker lays a stricter filter on itself before it loads a candidate; that is the worker's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/process.h"

namespace ksearch::os {

enum class SandboxWay { namespaces, landlock, none };
std::string_view name(SandboxWay way);
std::optional<SandboxWay> parse_sandbox_way(std::string_view text);

/// What a confined child may reach besides the system's libraries.
struct Policy {
  std::vector<std::filesystem::path> read = {};   ///< files and folders, absolute
  std::vector<std::filesystem::path> write = {};  ///< folders
  bool programs =
      false;  ///< may start programs of /usr and /bin: a compiler needs it, a worker not
  /// Runs nothing foreign before it has locked itself (os/lock.h). Landlock around that is enough,
  /// and a process in it starts in a tenth of the time that new namespaces take.
  bool locks_itself = false;
};

struct SandboxOptions {
  std::optional<SandboxWay> force = {};  ///< for tests and reports; else the first that works
  bool allow_none = false;               ///< the user said --unsafe-no-sandbox
  std::vector<std::filesystem::path> search = {"/usr/bin", "/bin",
                                               "/usr/local/bin"};  ///< for bwrap
  /// A folder that keeps which way worked, for an hour, so that it is not tried each time: what is
  /// confined by a way that works no more fails to start. Empty: always tried.
  std::filesystem::path remember = {};
};

class Sandbox {
 public:
  /// Tries the ways in order. The error says what to do.
  static base::Result<Sandbox> find(const SandboxOptions& options);

  SandboxWay way() const { return way_; }
  /// "namespaces (bubblewrap)", "Landlock 7, system call filter", for reports.
  const std::string& description() const { return description_; }
  /// The command, confined. Paths mean the same inside. Without `programs`, argv[0] must be in
  /// `policy.read` or be one of the system's.
  base::Result<Command> confine(Command command, const Policy& policy) const;

 private:
  SandboxWay way_ = SandboxWay::none;
  std::string description_ = "none";
  std::filesystem::path bubblewrap_;
  bool landlock_ = false;  ///< works too
};

/// Folders of the shared libraries loaded in this process: what a child of the same executable
/// needs.
std::vector<std::filesystem::path> library_folders();

}  // namespace ksearch::os
