#include "os/landlock_linux.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ksearch::os {
namespace {
namespace fs = std::filesystem;

// From <linux/landlock.h> of Linux 6.12: the machine's header may be older than its kernel.
struct RulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};
struct __attribute__((packed)) PathBeneathAttr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2,
                        kReadDir = 1u << 3, kTruncate = 1u << 14;
constexpr std::uint64_t kFileOnly = kExecute | kWriteFile | kReadFile | kTruncate | (1u << 15);
constexpr std::uint32_t kRulePathBeneath = 1;

/// All rights on files that an ABI knows: 13 in the first, then refer, truncate, ioctl.
std::uint64_t file_rights(int abi) {
  return abi >= 5 ? 0xffff : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff;
}

class LandlockConfinement final : public Confinement {
 public:
  LandlockConfinement(int ruleset, std::vector<sock_filter> filter)
      : ruleset_(ruleset), filter_(std::move(filter)) {}
  ~LandlockConfinement() override { ::close(ruleset_); }

  bool enter() const noexcept override {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    if (::syscall(SYS_landlock_restrict_self, ruleset_, 0) != 0) return false;
    // As root: no capability survives, neither now nor over exec.
    for (int cap = 0; ::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; ++cap) {
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    if (::syscall(SYS_capset, &header, none) != 0) return false;
    sock_fprog program{static_cast<unsigned short>(filter_.size()),
                       const_cast<sock_filter*>(filter_.data())};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  int ruleset_;
  std::vector<sock_filter> filter_;
};

base::Result<void> add_path(int ruleset, const fs::path& path, std::uint64_t rights) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return {};  // a folder that this system lacks needs no rule
  struct stat info {};
  ::fstat(fd, &info);
  if (!S_ISDIR(info.st_mode)) rights &= kFileOnly;
  const PathBeneathAttr attr{rights, fd};
  const long added = ::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &attr, 0);
  const int code = errno;
  ::close(fd);
  if (added != 0)
    return base::environment_error(path.string(),
                                   fmt::format("Landlock refuses it: {}", std::strerror(code)));
  return {};
}

/// What Landlock cannot forbid: sockets of every kind, other processes, owners and modes of files,
/// kernel interfaces. They fail with EPERM, so that a compiler that tries one goes on.
base::Result<std::vector<sock_filter>> make_filter() {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) return base::environment_error("seccomp", "cannot make a filter");
  for (const char* name : {"socket",
                           "socketpair",
                           "ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "bpf",
                           "mount",
                           "umount2",
                           "unshare",
                           "setns",
                           "pivot_root",
                           "chroot",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "perf_event_open",
                           "userfaultfd",
                           "io_uring_setup",
                           "kill",
                           "tkill",
                           "pidfd_open",
                           "pidfd_getfd",
                           "shmget",
                           "msgget",
                           "semget",
                           "mq_open",
                           "open_by_handle_at",
                           "init_module",
                           "finit_module",
                           "kexec_load",
                           "reboot",
                           "swapon",
                           "sethostname",
                           "chmod",
                           "fchmodat",
                           "fchmodat2",
                           "chown",
                           "lchown",
                           "fchownat",
                           "setxattr",
                           "lsetxattr",
                           "removexattr",
                           "lremovexattr",
                           "utime",
                           "utimes",
                           "utimensat",
                           "futimesat",
                           "truncate"}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR) seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
  }
  std::vector<sock_filter> program;
  const int fd = ::memfd_create("filter", MFD_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && seccomp_export_bpf(filter, fd) == 0 && ::fstat(fd, &info) == 0) {
    program.resize(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
    if (::pread(fd, program.data(), static_cast<std::size_t>(info.st_size), 0) != info.st_size)
      program.clear();
  }
  if (fd >= 0) ::close(fd);
  seccomp_release(filter);
  if (program.empty()) return base::environment_error("seccomp", "cannot export a filter");
  return program;
}

/// Made once: that takes longer than starting a process in it.
const base::Result<std::vector<sock_filter>>& system_call_filter() {
  static const auto filter = make_filter();
  return filter;
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

base::Result<std::shared_ptr<const Confinement>> landlock_confinement(const Policy& policy) {
  const int abi = landlock_abi();
  RulesetAttr attr{file_rights(abi), abi >= 4 ? 3u : 0u, abi >= 6 ? 3u : 0u};
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const long fd = ::syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (fd < 0) return base::environment_error("Landlock", std::strerror(errno));
  const int ruleset = static_cast<int>(fd);
  ::fcntl(ruleset, F_SETFD, FD_CLOEXEC);
  KS_TRY(auto filter, base::Result<std::vector<sock_filter>>(system_call_filter()));
  auto result = std::make_shared<const LandlockConfinement>(ruleset, std::move(filter));
  constexpr std::uint64_t kRead = kReadFile | kReadDir | kExecute;
  for (const fs::path& path : policy.read) KS_RETURN_IF_ERROR(add_path(ruleset, path, kRead));
  for (const fs::path& path : policy.write)
    KS_RETURN_IF_ERROR(add_path(ruleset, path, file_rights(abi)));
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/urandom"})
    KS_RETURN_IF_ERROR(add_path(ruleset, path, kReadFile | kWriteFile));
  return result;
}

}  // namespace ksearch::os
