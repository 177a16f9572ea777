#include "evaluate/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/check.h"

namespace ksearch::evaluate {
namespace {

/// Adds what was special about the run to a wrong result.
Failure explained(Failure failure, const task::Content& content, bool second_round) {
  auto* v = std::get_if<kernel::Verdict>(&failure);
  auto* wrong = v ? std::get_if<kernel::WrongResult>(v) : nullptr;
  if (!wrong) return failure;
  if (content.variant > 0)
    wrong->why += fmt::format(" (inputs of stress[{}])", content.variant - 1);
  if (second_round)
    wrong->why +=
        " (right in the first call on these buffers, wrong when they held other contents: is "
        "something kept between calls, or left to a race?)";
  return failure;
}

}  // namespace

std::vector<int> shuffled(int n, base::Random& random) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::vector<task::Content> contents_for(const kernel::Workload& workload,
                                        const task::InputMaker& maker, std::uint64_t first_set) {
  std::vector<task::Content> contents{{first_set, 0}};
  const int stressed = maker.variants() - 1;
  if (workload.role == kernel::Role::tiny) {
    contents.push_back({first_set + 1, 0});
    for (int v = 1; v <= stressed; ++v) contents.push_back({first_set + 1, v});
  } else {
    contents.push_back({first_set + 1, stressed > 0 ? 1 : 0});
  }
  return contents;
}

Tried<Verified> verify(Rig& rig, Truth& truth, const VerifyRequest& request, base::Random& random) {
  const auto& contents = request.contents;
  const int n = static_cast<int>(contents.size());
  KS_CHECK(n >= 2, "buffers are used twice with different contents");
  KS_TRY_STEP(rig.prepare(*request.workload, request.plan, n));

  Verified result;
  std::vector<std::vector<std::byte>> kept;  // outputs of contents[1] in the first round
  const auto round = [&](int sets, int shift) -> Tried<void> {
    const Poison poison{random.next()};
    const auto content_of = [&](int set) -> const task::Content& {
      return contents[static_cast<std::size_t>((set + shift) % n)];
    };
    for (int s = 0; s < sets; ++s) rig.fill(s, content_of(s), poison);
    // The last buffers of one round are the first of the next: what a program keeps of its last
    // call by their address meets other contents there.
    std::vector<int> order = shuffled(sets, random);
    std::iter_swap(shift == 0 ? order.end() - 1 : order.begin(), std::ranges::find(order, 0));
    KS_TRIED(const target::Done done, rig.run(order, true, request.limit_per_call));
    if (shift == 0) {
      result.call_ns = done.bracket_ns / sets;
      result.samples_ns = done.call_ns;
    }
    for (int s = 0; s < sets; ++s) {
      const auto want = truth.of(*request.workload, content_of(s));
      if (!want) return lost(want.error().reason);
      const Tried<double> error = rig.check(s, content_of(s), poison, **want);
      if (!error) return std::unexpected(explained(error.error(), content_of(s), shift > 0));
      result.error = std::max(result.error, *error);
    }
    for (std::size_t i = 0; i < rig.outputs().size(); ++i) {
      const std::span<const std::byte> out = rig.output(shift == 0 ? 1 : 0, i);
      if (shift == 0)
        kept.emplace_back(out.begin(), out.end());
      else if (std::memcmp(kept[i].data(), out.data(), out.size()) != 0)
        result.repeatable = false;
    }
    return {};
  };
  KS_TRY_STEP(round(n, 0));
  if (!request.second_round) return result;
  const bool slow = result.call_ns > static_cast<double>(request.slow.count());
  KS_TRY_STEP(round(slow ? 1 : n, 1));
  return result;
}

}  // namespace ksearch::evaluate
