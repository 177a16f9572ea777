// Files: whole reads, atomic writes, temporary folders, the cache folder. Errors name the path.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ksearch::os {

/// Environment variables, passed in wherever they are read.
using Environment = std::map<std::string, std::string, std::less<>>;

/// Of this process. Only `cli` and tests call it.
Environment current_environment();

/// The whole file; an error above `limit_bytes`.
base::Result<std::string> read_file(const std::filesystem::path& path,
                                    std::size_t limit_bytes = std::size_t{1} << 30);

/// Temporary file beside `path`, fsync, rename, fsync of the folder: a reader sees the old bytes or
/// the new ones, after a power cut too. Makes the folder if it is missing.
base::Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

base::Result<void> make_folder(const std::filesystem::path& path);

/// A folder of mode 0700 that is removed, with all in it, at the end of the object's life.
class TempFolder {
 public:
  /// Below `parent`, or the system's temporary folder where that is empty.
  static base::Result<TempFolder> create(std::string_view prefix,
                                         const std::filesystem::path& parent = {});
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempFolder& operator=(TempFolder&& other) noexcept;
  TempFolder(const TempFolder&) = delete;
  ~TempFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Gives the folder up: it stays.
  std::filesystem::path release() { return std::exchange(path_, {}); }

 private:
  explicit TempFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// $XDG_CACHE_HOME/ksearch, else ~/.cache/ksearch (macOS: ~/Library/Caches/ksearch), else a folder
/// of this user below the temporary folder.
std::filesystem::path cache_folder(const Environment& environment);
/// Makes the cache folder. The error says how to have it elsewhere.
base::Result<void> make_cache(const std::filesystem::path& cache);

/// This executable's own file.
std::filesystem::path executable_path();

}  // namespace ksearch::os
