#include "simt/headers.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/files.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 64 << 20;

bool is_header(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".h" || extension == ".hpp" || extension == ".inc" || extension == ".metal" ||
         extension == ".cuh" || extension == ".cu";
}

}  // namespace

base::Result<std::vector<std::pair<std::string, std::string>>> read_headers(const fs::path& folder,
                                                                            bool deep) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return base::usage_error(folder.string(), "is no folder");
  std::vector<fs::path> paths;
  for (auto at = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, code);
       !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    if (!deep) at.disable_recursion_pending();
    if (at->is_regular_file(code) && is_header(at->path())) paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());  // the key of a build holds them in this order
  std::vector<std::pair<std::string, std::string>> headers;
  std::size_t bytes = 0;
  for (const fs::path& path : paths) {
    KS_TRY(std::string text, os::read_file(path));
    bytes += text.size();
    if (bytes > kHeaderBytes)
      return base::usage_error(folder.string(),
                               fmt::format("its headers are over {} MiB", kHeaderBytes >> 20),
                               "name a folder that holds fewer");
    headers.emplace_back(path.lexically_relative(folder).generic_string(), std::move(text));
  }
  return headers;
}

}  // namespace ksearch::simt
