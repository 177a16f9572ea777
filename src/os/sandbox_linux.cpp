#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "os/files.h"
#include "os/landlock_linux.h"
#include "os/sandbox.h"

namespace ksearch::os {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kProbeLimit{10};
constexpr std::chrono::hours kRemembered{1};

/// Programs, headers and libraries; nothing of a user's, nothing of the machine's configuration but
/// what the loader and Debian's alternatives need.
const std::vector<fs::path> kProgramPaths = {"/usr",   "/bin",   "/sbin",   "/lib",
                                             "/lib32", "/lib64", "/libx32", "/etc/alternatives"};
const std::vector<fs::path> kLoaderPaths = {"/etc/ld.so.cache"};

Policy with_system_paths(Policy policy) {
  const auto add = [&](const fs::path& path) {
    std::error_code code;
    if (fs::exists(path, code) &&
        std::find(policy.read.begin(), policy.read.end(), path) == policy.read.end())
      policy.read.push_back(path);
  };
  for (const fs::path& path : kLoaderPaths) add(path);
  if (policy.programs)
    for (const fs::path& path : kProgramPaths) add(path);
  else
    for (const fs::path& path : library_folders()) add(path);
  return policy;
}

Command in_namespaces(Command command, const Policy& policy, const fs::path& bubblewrap) {
  std::vector<std::string> argv = {bubblewrap.string(), "--unshare-all", "--die-with-parent",
                                   "--new-session",     "--cap-drop",    "ALL",
                                   "--tmpfs",           "/tmp"};
  if (policy.programs) argv.insert(argv.end(), {"--dev", "/dev"});
  for (const fs::path& path : policy.read) {
    std::error_code code;
    // On a merged /usr /lib is a link: kept as one where all of /usr is there.
    if (policy.programs && fs::is_symlink(path, code) && path.parent_path() == "/")
      argv.insert(argv.end(), {"--symlink", fs::read_symlink(path, code).string(), path.string()});
    else
      argv.insert(argv.end(), {"--ro-bind", path.string(), path.string()});
  }
  for (const fs::path& path : policy.write)
    argv.insert(argv.end(), {"--bind", path.string(), path.string()});
  argv.insert(argv.end(), {"--chdir", command.folder.empty() ? "/" : command.folder.string()});
  argv.push_back("--");
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  command.argv = std::move(argv);
  command.folder = "/";
  return command;
}

/// Whether the same was found to work a short while ago, by this user since this boot.
bool worked(const fs::path& note) {
  std::error_code code;
  const auto written = fs::last_write_time(note, code);
  return !note.empty() && !code && fs::file_time_type::clock::now() - written < kRemembered;
}

fs::path note_of(const SandboxOptions& options, const Sandbox& sandbox) {
  if (options.remember.empty()) return {};
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  if (!boot) return {};
  return options.remember /
         fmt::format("{}-{}-{}", name(sandbox.way()), ::getuid(), boot->substr(0, 36));
}

/// Empty where `way` works, else why not.
std::string probe(const Sandbox& sandbox, const fs::path& note) {
  if (worked(note)) return {};
  const auto command = sandbox.confine({.argv = {"/usr/bin/true"}}, {.programs = true});
  if (!command) return command.error().text();
  const auto finished = run(*command, kProbeLimit);
  if (!finished) return finished.error().text();
  if (finished->timed_out) return "it hangs";
  if (finished->status.code == 0 && finished->status.signal == 0) {
    if (!note.empty()) static_cast<void>(write_file(note, sandbox.description()));
    return {};
  }
  return finished->output.empty() ? fmt::format("status {}", finished->status.code)
                                  : finished->output.substr(0, finished->output.find('\n'));
}

}  // namespace

base::Result<Sandbox> Sandbox::find(const SandboxOptions& options) {
  std::string why;
  const auto wanted = [&](SandboxWay way) { return !options.force || *options.force == way; };
  if (wanted(SandboxWay::namespaces)) {
    Sandbox sandbox;
    sandbox.way_ = SandboxWay::namespaces;
    sandbox.description_ = "namespaces (bubblewrap)";
    for (const fs::path& folder : options.search)
      if (sandbox.bubblewrap_.empty() && ::access((folder / "bwrap").c_str(), X_OK) == 0)
        sandbox.bubblewrap_ = folder / "bwrap";
    const std::string fault = sandbox.bubblewrap_.empty()
                                  ? "bwrap is not installed"
                                  : probe(sandbox, note_of(options, sandbox));
    if (fault.empty()) {
      Sandbox other;
      other.way_ = SandboxWay::landlock;
      sandbox.landlock_ =
          !options.force && landlock_abi() > 0 && probe(other, note_of(options, other)).empty();
      return sandbox;
    }
    why += "namespaces: " + fault + "; ";
  }
  if (wanted(SandboxWay::landlock)) {
    Sandbox sandbox;
    sandbox.way_ = SandboxWay::landlock;
    const int abi = landlock_abi();
    sandbox.description_ = fmt::format("Landlock {}, system call filter", abi);
    const std::string fault =
        abi == 0 ? "the kernel does not offer it" : probe(sandbox, note_of(options, sandbox));
    if (fault.empty()) return sandbox;
    why += "Landlock: " + fault + "; ";
  }
  if (options.allow_none && wanted(SandboxWay::none)) {
    Sandbox sandbox;
    sandbox.description_ = "none (--unsafe-no-sandbox)";
    return sandbox;
  }
  if (!why.empty()) why.resize(why.size() - 2);
  return base::environment_error(
      "sandbox", why.empty() ? "no sandbox was asked for" : why,
      "install bubblewrap and allow user namespaces, or use Linux 5.13 or later with Landlock; "
      "--unsafe-no-sandbox runs generated code unprotected");
}

base::Result<Command> Sandbox::confine(Command command, const Policy& policy) const {
  if (way_ == SandboxWay::none) return command;
  const Policy full = with_system_paths(policy);
  if (way_ == SandboxWay::namespaces && !(policy.locks_itself && landlock_))
    return in_namespaces(std::move(command), full, bubblewrap_);
  KS_TRY(command.confinement, landlock_confinement(full));
  return command;
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& list = *static_cast<std::vector<fs::path>*>(out);
        const fs::path path(info->dlpi_name);
        if (!path.is_absolute()) return 0;
        // The loader opens the path as written; where a part of it is a link, the target is needed
        // too.
        std::error_code code;
        for (const fs::path& folder : {path.parent_path(), fs::canonical(path, code).parent_path()})
          if (!folder.empty() && std::find(list.begin(), list.end(), folder) == list.end())
            list.push_back(folder);
        return 0;
      },
      &folders);
  return folders;
}

}  // namespace ksearch::os
