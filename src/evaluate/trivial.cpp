#include "evaluate/trivial.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "task/elements.h"

namespace ksearch::evaluate {
namespace {

std::vector<std::byte> constant(const kernel::TensorShape& shape, double value) {
  std::vector<std::byte> bytes(shape.bytes());
  task::with_elements(shape.dtype, [&]<class E>(E) {
    const auto raw = E::from(value);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof raw)
      std::memcpy(bytes.data() + at, &raw, sizeof raw);
  });
  return bytes;
}

}  // namespace

std::vector<std::string> trivial_answers(const kernel::Definition& definition,
                                         const task::InputMaker& maker,
                                         const task::Content& content, const Outputs& truth) {
  const std::vector<OutputSpec> outputs = outputs_of(definition, maker.tensors());
  bool zeros = true, means = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto n = static_cast<double>(truth[i].size());
    const double mean = std::accumulate(truth[i].begin(), truth[i].end(), 0.0) / n;
    zeros = zeros && compare(outputs[i], constant(outputs[i].shape, 0), truth[i]).right;
    means = means && compare(outputs[i], constant(outputs[i].shape, mean), truth[i]).right;
  }
  std::vector<std::string> passing;
  if (zeros) passing.push_back("zeros pass");
  if (means && !zeros) passing.push_back("the mean in every element passes");
  if (outputs.size() != 1) return passing;
  for (const kernel::TensorShape& t : maker.tensors()) {
    const kernel::TensorShape& out = outputs[0].shape;
    if (t.access == kernel::Access::out || t.dtype != out.dtype || t.elements() != out.elements())
      continue;
    std::vector<std::byte> copy(t.bytes());
    maker.fill(content, t.name, copy);
    if (compare(outputs[0], copy, truth[0]).right)
      passing.push_back(fmt::format("a copy of {} passes", t.name));
  }
  return passing;
}

std::expected<std::vector<std::string>, kernel::Lost> check_trivial(
    const kernel::Definition& definition, Truth& truth,
    const std::vector<kernel::Workload>& workloads) {
  std::vector<std::string> found;
  for (const kernel::Workload& w : workloads) {
    if (w.role == kernel::Role::tiny) continue;
    const task::Content content{0, 0};
    KS_TRY(const Outputs* outputs, truth.of(w, content));
    for (const std::string& how : trivial_answers(definition, truth.maker(w), content, *outputs))
      found.push_back(fmt::format("{} on {}", how, w.name));
  }
  return found;
}

}  // namespace ksearch::evaluate
