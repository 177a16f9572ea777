#include "toolchain/prune.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "os/files.h"

namespace ksearch::toolchain {
namespace fs = std::filesystem;

std::uintmax_t prune_builds(const fs::path& builds, std::uintmax_t limit_bytes) {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code code;
  for (const auto& shard : fs::directory_iterator(builds, code))
    for (const auto& entry : fs::directory_iterator(shard.path(), code)) {
      Entry e{fs::last_write_time(entry.path(), code), 0, entry.path()};
      if (code) continue;
      for (const auto& file : fs::directory_iterator(entry.path(), code)) {
        const std::uintmax_t bytes = fs::file_size(file.path(), code);
        if (!code) e.bytes += bytes;
      }
      total += e.bytes;
      entries.push_back(std::move(e));
    }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  const auto recent = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::uintmax_t gone = 0;
  for (const Entry& e : entries) {
    if (total - gone <= limit_bytes || e.used > recent) break;
    if (fs::remove_all(e.path, code); !code) gone += e.bytes;
  }
  return gone;
}

void prune_when_due(const fs::path& builds, std::uintmax_t limit_bytes,
                    std::chrono::seconds interval) {
  const fs::path stamp = builds / "pruned";
  const auto now = fs::file_time_type::clock::now();
  std::error_code code;
  const auto last = fs::last_write_time(stamp, code);
  if (!code && last <= now && now - last < interval) return;
  prune_builds(builds, limit_bytes);
  if (fs::exists(builds, code)) static_cast<void>(os::write_file(stamp, ""));
}

}  // namespace ksearch::toolchain
