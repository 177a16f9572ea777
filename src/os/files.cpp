#include "os/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

extern char** environ;

namespace ksearch::os {
namespace fs = std::filesystem;
namespace {

std::unexpected<base::Error> failed(const fs::path& path, const char* what, int code = errno) {
  return base::environment_error(path.string(), fmt::format("{}: {}", what, std::strerror(code)));
}

base::Result<void> write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Environment current_environment() {
  Environment result;
  for (char** entry = environ; entry && *entry; ++entry)
    if (const char* equals = std::strchr(*entry, '='))
      result.emplace(std::string(*entry, static_cast<std::size_t>(equals - *entry)),
                     std::string(equals + 1));
  return result;
}

base::Result<std::string> read_file(const fs::path& path, std::size_t limit_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed(path, "cannot open");
  struct stat about {};
  if (::fstat(fd, &about) == 0 && !S_ISREG(about.st_mode)) {  // a pipe would never end
    ::close(fd);
    return base::usage_error(path.string(), "is no file");
  }
  std::string bytes;
  for (;;) {
    const std::size_t old = bytes.size();
    bytes.resize(old + 65536);
    const ssize_t n = ::read(fd, bytes.data() + old, 65536);
    const int code = errno;
    bytes.resize(old + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n < 0 && code == EINTR) continue;
    if (n < 0) {
      ::close(fd);
      return failed(path, "cannot read", code);
    }
    if (n == 0) break;
    if (bytes.size() > limit_bytes) {
      ::close(fd);
      return base::usage_error(path.string(), fmt::format("is larger than {} bytes", limit_bytes));
    }
  }
  ::close(fd);
  return bytes;
}

base::Result<void> write_file(const fs::path& path, std::string_view bytes) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  KS_RETURN_IF_ERROR(make_folder(folder));
  std::string temp = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  const int fd = ::mkostemp(temp.data(), O_CLOEXEC);
  if (fd < 0) return failed(path, "cannot make a temporary file beside it");
  auto written = write_all(fd, bytes, path);
  if (written && (::fchmod(fd, 0644) != 0 || ::fsync(fd) != 0))
    written = failed(path, "cannot flush to disk");
  ::close(fd);
  if (written && ::rename(temp.c_str(), path.c_str()) != 0) written = failed(path, "cannot rename");
  if (!written) {
    ::unlink(temp.c_str());
    return written;
  }
  if (const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); dir >= 0) {
    ::fsync(dir);  // some file systems refuse; the rename stands all the same
    ::close(dir);
  }
  return {};
}

base::Result<void> make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return failed(path, "cannot make the folder", code.value());
  return {};
}

base::Result<TempFolder> TempFolder::create(std::string_view prefix, const fs::path& parent) {
  std::error_code code;
  const fs::path base = parent.empty() ? fs::temp_directory_path(code) : parent;
  if (code) return base::environment_error("temporary folder", code.message(), "set TMPDIR");
  KS_RETURN_IF_ERROR(make_folder(base));
  std::string name = (base / (std::string(prefix) + ".XXXXXX")).string();
  if (!::mkdtemp(name.data())) return failed(base, "cannot make a temporary folder in it");
  return TempFolder(fs::path(name));
}

TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

/// In the folder for temporary files anybody can have made the name before: what is not ours alone
/// is not used.
fs::path cache_among_others() {
  std::error_code code;
  const fs::path temp = fs::temp_directory_path(code);
  const fs::path path =
      (code ? fs::path("/tmp") : temp) / fmt::format("ksearch-cache-{}", ::getuid());
  ::mkdir(path.c_str(), 0700);
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode) && there.st_uid == ::getuid() &&
      (there.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return path;
  std::string fresh = path.string() + "-XXXXXX";
  return ::mkdtemp(fresh.data()) ? fs::path(fresh) : path;
}

}  // namespace

fs::path cache_folder(const Environment& environment) {
  const auto value = [&](std::string_view name) -> std::string {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  // The XDG specification: a relative path is to be ignored.
  if (const fs::path xdg = value("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "ksearch";
  if (const fs::path home = value("HOME"); home.is_absolute()) {
#ifdef __APPLE__
    return home / "Library" / "Caches" / "ksearch";
#else
    return home / ".cache" / "ksearch";
#endif
  }
  static const fs::path own = cache_among_others();
  return own;
}

base::Result<void> make_cache(const fs::path& cache) {
  const auto no = [](const std::string& why) {
    return base::environment_error("cache", why,
                                   "set XDG_CACHE_HOME to a folder that can be written");
  };
  if (const auto made = make_folder(cache); !made) return no(made.error().text());
  if (::access(cache.c_str(), W_OK | X_OK) != 0)
    return no(fmt::format("{}: cannot be written: {}", cache.string(), std::strerror(errno)));
  return {};
}

}  // namespace ksearch::os
