#include "target/cpu/plan_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "target/cpu/entry_points.h"

namespace ksearch::target {
namespace {
using base::Json;

constexpr std::size_t kFillChunk = 256 << 10;

std::vector<std::byte> from_hex(const std::string& text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

Fill read_fill(const Json& json) {
  return {json.at("shared"), json.at("offset"), json.at("elements"), from_hex(json.at("element"))};
}

void fill(ThreadPool& pool, const Fill& f, std::byte* memory) {
  struct Context {
    std::byte* at;
    std::size_t bytes;
    const std::vector<std::byte>& element;
  } context{memory + f.offset, f.elements * f.element.size(), f.element};
  const std::size_t chunks = (context.bytes + kFillChunk - 1) / kFillChunk;
  if (chunks == 0) return;
  pool.run(
      [](void* raw, std::int64_t first, std::int64_t last, int) {
        const auto& c = *static_cast<Context*>(raw);
        const std::size_t size = c.element.size();  // a power of two, so chunks hold whole elements
        const std::size_t end = std::min(c.bytes, static_cast<std::size_t>(last) * kFillChunk);
        for (std::size_t at = static_cast<std::size_t>(first) * kFillChunk; at < end; at += size)
          std::memcpy(c.at + at, c.element.data(), size);
      },
      &context, static_cast<std::int64_t>(chunks));
}

struct GroupContext {
  const RunnableLaunch* launch;
  const void* const* arguments;
  std::byte* own;
  int workers;
};

void run_groups(void* raw, std::int64_t first, std::int64_t last, int worker) {
  const GroupContext& c = *static_cast<GroupContext*>(raw);
  const RunnableLaunch& l = *c.launch;
  ks_group group;
  std::memcpy(group.count, l.groups, sizeof(group.count));
  group.worker = worker;
  group.workers = c.workers;
  group.memory = l.has_group_memory ? c.own + l.group_memory +
                                          static_cast<std::size_t>(worker) * l.group_memory_stride
                                    : nullptr;
  for (std::int64_t at = first; at < last; ++at) {
    group.id[0] = at % l.groups[0];
    group.id[1] = at / l.groups[0] % l.groups[1];
    group.id[2] = at / l.groups[0] / l.groups[1];
    l.entry(c.arguments, &group);
  }
}

RunnableArgument read_argument(const Json& json, std::vector<std::byte>& values) {
  using Kind = RunnableArgument::Kind;
  if (json.contains("shared")) return {Kind::shared, json.at("shared")};
  if (json.contains("own")) return {Kind::own, json.at("own")};
  if (!json.contains("value")) return {Kind::null, 0};
  const std::vector<std::byte> bytes = from_hex(json.at("value"));
  while (values.size() % 16 != 0) values.push_back({});
  const std::size_t offset = values.size();
  values.insert(values.end(), bytes.begin(), bytes.end());
  return {Kind::value, offset};
}

}  // namespace

std::string PlanRunner::read(const Json& message,
                             const std::vector<std::vector<EntryPoint>>& entries, PlanRunner& out) {
  out = PlanRunner();
  out.set_stride_ = message.at("stride");
  for (const Json& json : message.at("launches")) {
    RunnableLaunch launch;
    const std::size_t object = json.at("object"), kernel = json.at("kernel");
    if (object >= entries.size() || kernel >= entries[object].size()) return "no such kernel";
    launch.entry = entries[object][kernel];
    for (std::size_t i = 0; i < 3; ++i) launch.groups[i] = json.at("groups").at(i);
    if (json.contains("group_memory")) {
      launch.has_group_memory = true;
      launch.group_memory = json.at("group_memory").at("offset");
      launch.group_memory_stride = json.at("group_memory").at("stride");
    }
    for (const Json& argument : json.at("arguments"))
      launch.arguments.push_back(read_argument(argument, out.values_));
    if (launch.arguments.size() > kMostArguments) return "too many arguments";
    for (const Json& f : json.at("fills")) launch.fills.push_back(read_fill(f));
    out.launches_.push_back(std::move(launch));
  }
  for (const Json& f : message.at("scratch_fills")) out.scratch_fills_.push_back(read_fill(f));
  for (const Json& f : message.at("poison")) out.poison_.push_back(read_fill(f));
  return {};
}

void PlanRunner::call(ThreadPool& pool, Mapping shared, Mapping own, int set) const {
  std::byte* const tensors = shared.start + static_cast<std::size_t>(set) * set_stride_;
  std::array<const void*, kMostArguments> arguments;
  for (const Fill& f : scratch_fills_) fill(pool, f, own.start);
  for (const RunnableLaunch& launch : launches_) {
    for (const Fill& f : launch.fills) fill(pool, f, f.shared ? tensors : own.start);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const RunnableArgument& a = launch.arguments[i];
      using Kind = RunnableArgument::Kind;
      arguments[i] = a.kind == Kind::shared  ? tensors + a.offset
                     : a.kind == Kind::own   ? own.start + a.offset
                     : a.kind == Kind::value ? values_.data() + a.offset
                                             : nullptr;
    }
    GroupContext context{&launch, arguments.data(), own.start, pool.workers()};
    pool.run(run_groups, &context, launch.groups[0] * launch.groups[1] * launch.groups[2]);
  }
}

void PlanRunner::poison(ThreadPool& pool, Mapping own) const {
  for (const Fill& f : poison_) fill(pool, f, own.start);
}

}  // namespace ksearch::target
