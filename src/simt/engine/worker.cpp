#include "simt/engine/worker.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/json.h"
#include "os/files.h"
#include "simt/engine/machine.h"
#include "simt/engine/trace_json.h"

namespace ksearch::simt {
namespace {
using base::Json;

struct Object {
  const std::byte* base = nullptr;
  ks::Attachment attachment{};
};

base::Result<Object> load_object(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return base::internal_error(path, ::dlerror());
  const auto attach = reinterpret_cast<void (*)(ks::Attachment*)>(::dlsym(handle, "ks_attach"));
  if (!attach) return base::internal_error(path, "it has no ks_attach");
  Object object;
  attach(&object.attachment);
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(attach), &info);
  object.base = static_cast<const std::byte*>(info.dli_fbase);
  return object;
}

std::array<std::uint32_t, 3> triple(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
          json.at(2).get<std::uint32_t>()};
}

Json to_json(const RawFinding& f) {
  return {{"kind", f.kind},     {"places", f.places},   {"buffer", f.buffer},
          {"offset", f.offset}, {"threads", f.threads}, {"group", f.group},
          {"detail", f.detail}, {"count", f.count},     {"launch", f.launch}};
}

/// Bytes of the buffer that were read and written at least once.
std::pair<std::uint64_t, std::uint64_t> touched(const Watch& watch, const PlacedBuffer& buffer) {
  const Cell* cells = watch.device().cells(watch.device().data() + buffer.offset);
  std::uint64_t read = 0, written = 0;
  for (std::size_t i = 0; i < buffer.bytes; ++i) {
    read += cells[i].reader != 0;
    written += cells[i].writer != 0;
  }
  return {read, written};
}

Json checked(Watch& watch, const Counts& counts) {
  Json buffers = Json::array();
  for (const PlacedBuffer& buffer : watch.buffers()) {
    const auto [read, written] = touched(watch, buffer);
    buffers.push_back({{"name", buffer.name},
                       {"bytes", buffer.bytes},
                       {"bytes_read", buffer.bytes_read},
                       {"bytes_written", buffer.bytes_written},
                       {"constant_bytes_read", buffer.constant_bytes_read},
                       {"distinct_bytes_read", read},
                       {"distinct_bytes_written", written}});
  }
  return {{"buffers", std::move(buffers)},
          {"group_memory_bytes", watch.group_bytes()},
          {"group_bytes_read", watch.group_bytes_read()},
          {"group_bytes_written", watch.group_bytes_written()},
          {"groups", counts.groups},
          {"threads", counts.threads},
          {"simd_operations", counts.simd_operations},
          {"threadgroup_barriers", counts.group_barriers},
          {"simdgroup_barriers", counts.simdgroup_barriers}};
}

class Job {
 public:
  explicit Job(const Json& json) : json_(json) {}

  base::Result<Json> run() {
    KS_TRY(const Object object, load_object(json_.at("object")));
    std::vector<std::size_t> sizes;
    for (const Json& buffer : json_.at("buffers")) sizes.push_back(buffer.at("bytes"));
    const std::vector<std::size_t> offsets = place_buffers(sizes);
    std::vector<PlacedBuffer> buffers;
    for (const Json& buffer : json_.at("buffers")) {
      const std::size_t i = buffers.size();
      const std::string role = buffer.at("role");
      buffers.push_back({.name = buffer.at("name"),
                         .role = role == "out"     ? Role::out
                                 : role == "inout" ? Role::inout
                                                   : Role::in,
                         .offset = offsets[i],
                         .bytes = sizes[i]});
    }
    Findings findings;
    Watch watch(std::move(buffers), offsets.back(), Machine::stack_bytes(), object.base, findings);
    KS_TRY(const std::span<std::byte> shared, map_shared());
    for (std::size_t i = 0; i < watch.buffers().size(); ++i) load(watch, i, shared);
    const std::string schedule = json_.at("schedule");
    Machine machine(watch, object.attachment,
                    schedule == "reversed" ? Schedule::reversed
                    : schedule == "random" ? Schedule::random
                                           : Schedule::forward,
                    json_.at("seed").get<std::uint64_t>());
    std::optional<Trace> trace;
    if (json_.contains("trace")) machine.set_trace(&make_trace(trace, watch));
    bool whole = true;
    for (const Json& launch : json_.at("launches")) {
      KS_TRY(whole, run_launch(launch, watch, object, machine, trace ? &*trace : nullptr));
      if (!whole) break;
    }
    if (trace && !whole) return base::usage_error("the kernel", "a fault or a loop without end");
    if (trace) return traced(*trace);
    // What was not reached is no output that a kernel left out.
    if (whole) watch.finish();
    for (std::size_t i = 0; i < watch.buffers().size(); ++i) save(watch, i, shared);
    Json found = Json::array();
    for (const RawFinding& finding : findings.all()) found.push_back(to_json(finding));
    return Json{{"findings", std::move(found)}, {"trace", checked(watch, machine.counts())}};
  }

 private:
  base::Result<std::span<std::byte>> map_shared() {
    const std::size_t bytes = json_.at("shared_bytes");
    if (bytes == 0) return std::span<std::byte>();
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryDescriptor, 0);
    if (at == MAP_FAILED) return base::environment_error("shared memory", "it cannot be mapped");
    return std::span(static_cast<std::byte*>(at), bytes);
  }

  std::byte* in_shared(std::size_t i, std::span<std::byte> shared) const {
    return shared.data() + json_.at("buffers").at(i).at("at").get<std::size_t>();
  }

  void load(Watch& watch, std::size_t i, std::span<std::byte> shared) {
    const PlacedBuffer& buffer = watch.buffers()[i];
    std::byte* to = watch.device().data() + buffer.offset;
    // NaN in every float type: an element that nobody wrote shows.
    if (buffer.role == Role::out)
      std::memset(to, 0xff, buffer.bytes);
    else if (buffer.bytes > 0)
      std::memcpy(to, in_shared(i, shared), buffer.bytes);
  }

  void save(Watch& watch, std::size_t i, std::span<std::byte> shared) {
    const PlacedBuffer& buffer = watch.buffers()[i];
    if (buffer.role != Role::in && buffer.bytes > 0)
      std::memcpy(in_shared(i, shared), watch.device().data() + buffer.offset, buffer.bytes);
  }

  Trace& make_trace(std::optional<Trace>& trace, Watch& watch) const {
    std::vector<TracedBuffer> buffers;
    for (const PlacedBuffer& buffer : watch.buffers())
      buffers.push_back({buffer.offset, buffer.bytes});
    const Json& asked = json_.at("trace");
    return trace.emplace(TraceShape{asked.at("blocks"), asked.at("sites")}, std::move(buffers),
                         watch.device().size());
  }

  Json traced(const Trace& trace) const {
    Json result = to_json(trace);
    result["sample"] = {{"traced", trace.groups()}, {"of", groups_}};
    return result;
  }

  /// The groups of a launch that are traced. The others run only where a later launch may need what
  /// they write.
  void choose_sample(GroupPlan& plan) {
    const Json& asked = json_.at("trace");
    plan.sample = sample_groups(plan.groups, asked.at("most_groups"), asked.at("seed"));
    plan.sample_only = static_cast<std::size_t>(plan.number) + 1 == json_.at("launches").size();
    groups_ += std::uint64_t{plan.groups[0]} * plan.groups[1] * plan.groups[2];
  }

  base::Result<bool> run_launch(const Json& launch, Watch& watch, const Object& object,
                                Machine& machine, Trace* trace) {
    GroupPlan plan;
    const std::string kernel = launch.at("kernel");
    for (int i = 0; i < object.attachment.kernel_count; ++i)
      if (kernel == object.attachment.kernels[i].name) plan.kernel = &object.attachment.kernels[i];
    if (!plan.kernel) return base::internal_error(kernel, "the object has no such kernel");
    plan.groups = triple(launch.at("groups"));
    plan.group_size = triple(launch.at("group_size"));
    if (launch.contains("threads")) plan.threads = triple(launch.at("threads"));
    plan.group_memory = launch.at("group_memory").get<std::vector<std::uint32_t>>();
    plan.number = launch.at("number");
    for (const Json& bound : launch.at("bind"))
      plan.buffers[bound.at(0).get<std::size_t>()] =
          watch.device().data() + watch.buffers()[bound.at(1).get<std::size_t>()].offset;
    for (int i = 0; i < plan.kernel->count; ++i) {
      const ks::Parameter& parameter = plan.kernel->parameters[i];
      const auto index = static_cast<std::size_t>(parameter.index);
      if (parameter.kind == ks::ArgumentKind::buffer && (index >= 31 || !plan.buffers[index]))
        return base::usage_error(kernel, fmt::format("nothing is bound to buffer {}", index),
                                 "give a buffer this index, or bind one to it");
      if (parameter.kind == ks::ArgumentKind::group_memory && index >= plan.group_memory.size())
        return base::usage_error(kernel,
                                 fmt::format("threadgroup({}) has no size in this launch", index),
                                 "give it one: group_memory_bytes, --group-memory");
    }
    if (trace) choose_sample(plan);
    return machine.run(plan);
  }

  const Json& json_;
  std::uint64_t groups_ = 0;  ///< of all launches
};

}  // namespace

int run_simt_worker(const std::filesystem::path& path) {
  const auto say = [](const Json& json) {
    fmt::print("{}\n", base::to_line(json));
    std::fflush(stdout);
  };
  Json answer;
  int status = 1;
  // The adaptor around nlohmann's exceptions and bad_alloc: a job is ours, so either is told.
  try {
    const auto text = os::read_file(path);
    const auto job = text ? base::parse_json(*text, "job") : std::unexpected(text.error());
    const auto report = job ? Job(*job).run() : std::unexpected(job.error());
    if (report) {
      answer = *report;
      status = 0;
    } else {
      answer = {{"failed", report.error().what},
                {"where", report.error().where},
                {"todo", report.error().todo},
                {"usage", report.error().kind == base::ErrorKind::usage}};
    }
  } catch (const std::bad_alloc&) {
    answer = {{"failed", "there is not enough memory for the buffers and their shadows"}};
  } catch (const nlohmann::json::exception& error) {
    answer = {{"failed", error.what()}};
  }
  say(answer);
  ::_exit(status);  // no destructors of the object
}

}  // namespace ksearch::simt
