#include "simt/engine/finding.h"

#include <algorithm>

namespace ksearch::simt {
namespace {
constexpr std::size_t kMost = 200;
}

void Findings::add(RawFinding finding) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const RawFinding& f) {
    return f.kind == finding.kind && f.places == finding.places && f.buffer == finding.buffer;
  });
  if (same != all_.end())
    ++same->count;
  else if (all_.size() < kMost)
    all_.push_back(std::move(finding));
}

}  // namespace ksearch::simt
