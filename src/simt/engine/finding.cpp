#include "simt/engine/finding.h"

#include <algorithm>
#include <utility>

namespace ksearch::simt {
namespace {
constexpr std::size_t kMost = 200;
}

void Findings::add(RawFinding finding) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const RawFinding& f) {
    return f.kind == finding.kind && f.places == finding.places && f.buffer == finding.buffer;
  });
  if (same != all_.end())
    same->count += finding.count;
  else if (all_.size() < kMost)
    all_.push_back(std::move(finding));
}

void Findings::add_launch(const std::vector<Findings*>& parts) {
  std::vector<RawFinding> found;
  for (Findings* part : parts)
    for (RawFinding& finding : std::exchange(part->all_, {})) found.push_back(std::move(finding));
  std::stable_sort(found.begin(), found.end(), [](const RawFinding& a, const RawFinding& b) {
    return a.group_number < b.group_number;
  });
  for (RawFinding& finding : found) add(std::move(finding));
}

}  // namespace ksearch::simt
