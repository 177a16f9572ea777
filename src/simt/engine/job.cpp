#include "simt/engine/job.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "os/lock.h"
#include "simt/engine/job_buffers.h"
#include "simt/engine/launch.h"
#include "simt/engine/outputs.h"
#include "simt/engine/sanitizer.h"
#include "simt/engine/trace_json.h"
#include "simt/engine/worker.h"

namespace ksearch::simt {
namespace {
using base::Json;

// CUDA C++ Programming Guide, compute capability 9.0.
constexpr std::size_t kCudaFixedGroupMemory = 48 << 10, kCudaGroupMemory = 227 << 10;

std::array<std::uint32_t, 3> triple(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
          json.at(2).get<std::uint32_t>()};
}

/// Groups and positions in the grid are numbers of 32 bits.
base::Result<void> check_grid(const std::string& kernel, const GroupPlan& plan) {
  constexpr std::uint64_t kMost = 0xffffffff;
  std::uint64_t all = 1, longest = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    all = std::min(all * plan.groups[d], kMost + 1);
    longest = std::max(longest, std::uint64_t{plan.groups[d]} * plan.group_size[d]);
  }
  if (all <= kMost && longest <= kMost) return {};
  return base::usage_error(kernel,
                           fmt::format("a grid of {} x {} x {} groups is too large", plan.groups[0],
                                       plan.groups[1], plan.groups[2]),
                           "32 bits count its groups, and the threads along each side");
}

Json to_json(const RawFinding& f) {
  return {{"kind", f.kind},       {"places", f.places},  {"buffer", f.buffer}, {"offset", f.offset},
          {"threads", f.threads}, {"group", f.group},    {"detail", f.detail}, {"count", f.count},
          {"launch", f.launch},   {"callers", f.callers}};
}

}  // namespace

std::uint32_t Job::most_lanes() const {
  std::uint32_t most = 1;
  for (const Json& launch : json_.at("launches")) {
    const auto size = triple(launch.at("group_size"));
    most = std::max(most, size[0] * size[1] * size[2]);
  }
  return (most + 31) / 32 * 32;
}

std::size_t Job::most_groups() const {
  std::size_t most = 0;
  for (const Json& launch : json_.at("launches")) {
    const auto groups = triple(launch.at("groups"));
    most = std::max(most, std::size_t{groups[0]} * groups[1] * groups[2]);
  }
  return most;
}

/// What the limit leaves beside the data: five bytes of cells a byte of words that are used, for
/// two of definedness and origins. No more than cells of single bytes need.
std::size_t Job::cell_bytes(std::size_t device_bytes, std::size_t threads) const {
  constexpr std::size_t kLeast = 256 << 20;
  const std::size_t limit = json_.at("memory_bytes");
  const std::size_t rest = limit > device_bytes ? (limit - device_bytes) / 7 * 5 : 0;
  return std::min(std::max(rest, kLeast),
                  (threads > 1 ? threads + 1 : 1) * device_bytes * sizeof(Cell));
}

/// From the first line of foreign code on, what this process can do is what a kernel needs.
base::Result<LoadedObject> Job::load_locked() const {
  constexpr std::size_t kBesides = std::size_t{1} << 30;  // code, the C library's heap
  const rlimit memory{Pages::mapped_bytes() + kBesides, Pages::mapped_bytes() + kBesides};
  if (!kAddressSanitizer) ::setrlimit(RLIMIT_DATA, &memory);  // its shadow alone is over any limit
  const bool locked = json_.at("locked");
  if (locked)
    if (const std::string why = os::lock_for_loading(STDOUT_FILENO); !why.empty())
      return base::environment_error("system call lock", why);
  KS_TRY(LoadedObject object, load_object(json_.at("object")));
  if (locked)
    if (const std::string why = os::lock_for_running(STDOUT_FILENO); !why.empty())
      return base::environment_error("system call lock", why);
  return object;
}

base::Result<GroupPlan> Job::plan_of(const Json& launch, const ks::Attachment& object) const {
  GroupPlan plan;
  const std::string kernel = launch.at("kernel");
  for (int i = 0; i < object.kernel_count; ++i)
    if (kernel == object.kernels[i].name) plan.kernel = &object.kernels[i];
  if (!plan.kernel) return base::internal_error(kernel, "the object has no such kernel");
  plan.groups = triple(launch.at("groups"));
  plan.group_size = triple(launch.at("group_size"));
  KS_RETURN_IF_ERROR(check_grid(kernel, plan));
  if (launch.contains("threads")) plan.threads = triple(launch.at("threads"));
  plan.group_memory = launch.at("group_memory").get<std::vector<std::uint32_t>>();
  plan.number = launch.at("number");
  for (const Json& bound : launch.at("bind")) {
    const auto i = bound.at(1).get<std::size_t>();
    if (!json_.at("buffers").at(i).value("null", false))
      plan.buffers[bound.at(0).get<std::size_t>()] =
          shared_->device.data() + shared_->buffers[i].offset;
  }
  if (cuda()) {
    plan.masked = true;
    read_values(launch, *shared_, plan);
    KS_RETURN_IF_ERROR(fit_cuda(launch, plan));
    return plan;
  }
  for (int i = 0; i < plan.kernel->count; ++i) {
    const ks::Parameter& parameter = plan.kernel->parameters[i];
    const auto index = static_cast<std::size_t>(parameter.index);
    if (parameter.kind == ks::ArgumentKind::buffer && (index >= 31 || !plan.buffers[index]))
      return base::usage_error(
          kernel, fmt::format("nothing is bound to buffer {}", index),
          "give it one with --buffer; in a case.json a buffer with this index, or bind");
    if (parameter.kind == ks::ArgumentKind::group_memory && index >= plan.group_memory.size())
      return base::usage_error(kernel,
                               fmt::format("threadgroup({}) has no size in this launch", index),
                               "give it one: group_memory_bytes, --group-memory");
  }
  return plan;
}

Json Job::trace() const {
  Json buffers = Json::array();
  std::uint64_t unwatched = 0;
  for (const PlacedBuffer& buffer : crew_->buffers()) {
    const Touched used = touched(*shared_, buffer);
    unwatched += used.unwatched;
    buffers.push_back({{"name", buffer.name},
                       {"bytes", buffer.bytes},
                       {"bytes_read", buffer.bytes_read},
                       {"bytes_written", buffer.bytes_written},
                       {"constant_bytes_read", buffer.constant_bytes_read},
                       {"distinct_bytes_read", used.read},
                       {"distinct_bytes_written", used.written}});
  }
  const Counts counts = crew_->counts();
  return {{"buffers", std::move(buffers)},
          {"unwatched_bytes", unwatched},
          {"group_memory_bytes", crew_->most_group_bytes()},
          {"group_bytes_read", crew_->group_bytes_read()},
          {"group_bytes_written", crew_->group_bytes_written()},
          {"groups", counts.groups},
          {"threads", counts.threads},
          {"simd_operations", counts.simd_operations},
          {"threadgroup_barriers", counts.group_barriers},
          {"simdgroup_barriers", counts.simdgroup_barriers}};
}

/// The groups of a launch that are traced. The others run only where a later launch may need what
/// they write.
void Job::choose_sample(GroupPlan& plan) {
  const Json& asked = json_.at("trace");
  plan.sample = sample_groups(plan.groups, asked.at("most_groups"), asked.at("seed"));
  plan.sample_only = !asked.at("whole") &&
                     static_cast<std::size_t>(plan.number) + 1 == json_.at("launches").size();
  groups_ += std::uint64_t{plan.groups[0]} * plan.groups[1] * plan.groups[2];
}

base::Result<Json> Job::counted(bool whole, double cpu_seconds) const {
  if (!whole) return base::usage_error("the kernel", "a fault or a loop without end");
  const Trace& trace = crew_->merged_trace();
  Json report = simt::to_json(trace);
  report["sample"] = {{"traced", trace.groups()}, {"of", groups_}};
  report["group_memory_bytes"] = crew_->most_group_bytes();
  report["cpu_seconds"] = cpu_seconds;
  return report;
}

base::Result<Json> Job::run() {
  std::vector<PlacedBuffer> buffers = read_buffers(json_.at("buffers"));
  const std::size_t device_bytes = place(buffers) + (cuda() ? kSymbolRoom : 0);
  const bool watched = json_.at("watch");
  const std::uint32_t lanes = most_lanes();
  const std::size_t threads =
      std::clamp<std::size_t>(json_.at("jobs"), 1, std::max<std::size_t>(most_groups(), 1));
  shared_ = std::make_unique<SharedState>(
      std::move(buffers), SharedSizes{.device_bytes = device_bytes,
                                      .stack_bytes = Crew::lane_bytes(threads, lanes),
                                      .cell_bytes = cell_bytes(device_bytes, threads),
                                      .watched = watched});
  KS_RETURN_IF_ERROR(map_buffers(json_.at("buffers"), *shared_));
  WrittenMaps written;
  if (watched) KS_RETURN_IF_ERROR(written.open(json_.at("buffers"), *shared_));
  const std::string schedule = json_.at("schedule");
  crew_ = std::make_unique<Crew>(
      *shared_, threads, lanes,
      Machine::Options{.schedule = schedule == "reversed" ? Schedule::reversed
                                   : schedule == "random" ? Schedule::random
                                                          : Schedule::forward,
                       .seed = json_.at("seed"),
                       .patience = json_.at("patience")});
  if (json_.contains("trace"))
    crew_->start_trace({json_.at("trace").at("blocks"), json_.at("trace").at("sites")});
  KS_TRY(const LoadedObject object, load_locked());
  shared_->object = object.range;
  crew_->attach(object.attach);
  if (cuda()) {
    crew_->set_group_limits(kCudaFixedGroupMemory, kCudaGroupMemory);
    KS_TRY(const auto symbols, place_symbols(object.attachment, json_.at("buffers"), *shared_));
    crew_->add_buffers(symbols);
  }
  if (json_.contains("group_memory_limit"))
    crew_->set_group_limits(json_["group_memory_limit"], json_["group_memory_limit"]);
  bool whole = true;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  for (const Json& launch : json_.at("launches")) {
    KS_TRY(GroupPlan plan, plan_of(launch, object.attachment));
    if (json_.contains("trace")) choose_sample(plan);
    if (!(whole = crew_->run(plan))) break;
  }
  if (crew_->again()) return Json{{"again", true}};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  if (json_.contains("trace")) return counted(whole, cpu_seconds);
  // What was not reached is no output that a kernel left out.
  if (whole && watched) check_outputs(*shared_, crew_->buffers(), crew_->findings());
  written.tell(*shared_);
  Json found = Json::array();
  for (const RawFinding& finding : crew_->findings().all()) found.push_back(to_json(finding));
  Json report{{"findings", std::move(found)},
              {"seconds", seconds.count()},
              {"cpu_seconds", static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC}};
  if (watched) report["trace"] = trace();
  return report;
}

}  // namespace ksearch::simt
