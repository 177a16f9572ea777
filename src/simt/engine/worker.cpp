#include "simt/engine/worker.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "base/json.h"
#include "os/files.h"
#include "simt/engine/machine.h"

namespace ksearch::simt {
namespace {
using base::Json;

// CUDA C++ Programming Guide, compute capability 9.0.
constexpr std::size_t kCudaFixedGroupMemory = 48 << 10, kCudaGroupMemory = 227 << 10;

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

Json trace(Watch& watch, const Counts& counts) {
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

/// The values a launch passes: numbers, or structs whose fields may point to buffers.
class Values {
 public:
  Values(const Json& json, Watch& watch) {
    for (const Json& value : json) {
      ks::Value one{};
      if (value.contains("integer")) {
        one.is_integer = true;
        one.integer = value.at("integer").get<std::int64_t>();
      } else if (value.contains("number")) {
        one.number = value.at("number");
      } else {
        std::string bytes;
        for (const Json& field : value.at("fields")) add_field(bytes, field, watch);
        pad(bytes, widest_);
        bytes_.push_back(std::make_unique<std::string>(std::move(bytes)));
        one.bytes = bytes_.back()->data();
        one.size = bytes_.back()->size();
      }
      all.push_back(one);
    }
  }
  std::vector<ks::Value> all;

 private:
  static void pad(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  }
  /// {"bytes": hexadecimal, "align": n} or {"buffer": i}
  void add_field(std::string& bytes, const Json& field, Watch& watch) {
    const std::size_t alignment = field.value("align", std::size_t{8});
    widest_ = std::max(widest_, alignment);
    pad(bytes, alignment);
    if (field.contains("buffer")) {
      const void* at =
          watch.device().data() + watch.buffers()[field.at("buffer").get<std::size_t>()].offset;
      bytes.append(reinterpret_cast<const char*>(&at), sizeof(at));
      return;
    }
    for (const Json& byte : field.at("bytes")) bytes += static_cast<char>(byte.get<int>());
  }
  std::vector<std::unique_ptr<std::string>> bytes_;
  std::size_t widest_ = 1;
};

class Job {
 public:
  explicit Job(const Json& json) : json_(json) {}

  base::Result<Json> run() {
    KS_TRY(const Object object, load_object(json_.at("object")));
    std::vector<std::size_t> sizes;
    for (const Json& buffer : json_.at("buffers")) sizes.push_back(buffer.at("bytes"));
    for (int i = 0; i < object.attachment.symbol_count; ++i)
      sizes.push_back(object.attachment.symbols[i].bytes);
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
    for (int i = 0; i < object.attachment.symbol_count; ++i)
      buffers.push_back({.name = object.attachment.symbols[i].name,
                         .role = Role::inout,
                         .offset = offsets[buffers.size()],
                         .bytes = object.attachment.symbols[i].bytes});
    Findings findings;
    Watch watch(std::move(buffers), offsets.back(), Machine::stack_bytes(), object.base, findings);
    KS_TRY(const std::span<std::byte> shared, map_shared());
    const std::size_t given = json_.at("buffers").size();
    for (std::size_t i = 0; i < given; ++i) load(watch, i, shared);
    KS_RETURN_IF_ERROR(place_symbols(object, watch, given));
    const std::string schedule = json_.at("schedule");
    Machine machine(watch, object.attachment,
                    schedule == "reversed" ? Schedule::reversed
                    : schedule == "random" ? Schedule::random
                                           : Schedule::forward,
                    json_.at("seed").get<std::uint64_t>());
    bool whole = true;
    for (const Json& launch : json_.at("launches")) {
      KS_TRY(whole, run_launch(launch, watch, object, machine));
      if (!whole) break;
    }
    // What was not reached is no output that a kernel left out.
    if (whole) watch.finish();
    for (std::size_t i = 0; i < given; ++i) save(watch, i, shared);
    Json found = Json::array();
    for (const RawFinding& finding : findings.all()) found.push_back(to_json(finding));
    return Json{{"findings", std::move(found)}, {"trace", trace(watch, machine.counts())}};
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

  /// Variables of the file: a buffer of the case that is named so, or what the file says.
  base::Result<void> place_symbols(const Object& object, Watch& watch, std::size_t given) {
    for (int i = 0; i < object.attachment.symbol_count; ++i) {
      const ks::Symbol& symbol = object.attachment.symbols[i];
      std::size_t at = given + static_cast<std::size_t>(i);
      std::memcpy(watch.device().data() + watch.buffers()[at].offset, symbol.initial, symbol.bytes);
      for (std::size_t k = 0; k < given; ++k) {
        if (!json_.at("buffers").at(k).value("symbol", false) ||
            watch.buffers()[k].name != symbol.name)
          continue;
        at = k;
        if (watch.buffers()[k].bytes != symbol.bytes)
          return base::usage_error(
              symbol.name,
              fmt::format("it has {} bytes, {} are given", symbol.bytes, watch.buffers()[k].bytes),
              "give --symbol its dtype and length in the source");
      }
      *symbol.at = watch.device().data() + watch.buffers()[at].offset;
      if (symbol.space == ks::Space::constant) constants_.push_back(at);
    }
    return {};
  }

  base::Result<bool> run_launch(const Json& launch, Watch& watch, const Object& object,
                                Machine& machine) {
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
    for (const Json& bound : launch.at("bind")) {
      const auto i = bound.at(1).get<std::size_t>();
      if (!json_.at("buffers").at(i).at("null").get<bool>())
        plan.buffers[bound.at(0).get<std::size_t>()] =
            watch.device().data() + watch.buffers()[i].offset;
    }
    plan.masked = json_.at("dialect") == "cuda";
    if (plan.masked) watch.set_group_limits(kCudaFixedGroupMemory, kCudaGroupMemory);
    for (const std::size_t i : constants_) watch.buffers()[i].constant = true;
    const Values values(launch.at("values"), watch);
    plan.values = values.all;
    KS_RETURN_IF_ERROR(plan.masked ? fit_cuda(launch, plan) : fit_metal(plan));
    return machine.run(plan);
  }

  static base::Result<void> fit_metal(const GroupPlan& plan) {
    const std::string kernel = plan.kernel->name;
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
    return {};
  }

  static base::Result<void> fit_cuda(const Json& launch, GroupPlan& plan) {
    const std::string kernel = plan.kernel->name;
    std::size_t pointers = 0, numbers = 0;
    for (int i = 0; i < plan.kernel->count; ++i)
      ++(plan.kernel->parameters[i].kind == ks::ArgumentKind::buffer ? pointers : numbers);
    std::size_t bound = 0;
    for (const Json& one : launch.at("bind"))
      bound = std::max(bound, one.at(0).get<std::size_t>() + 1);
    if (bound != pointers || numbers != plan.values.size())
      return base::usage_error(
          kernel,
          fmt::format("it takes {} pointers and {} values; {} buffers and {} values are given",
                      pointers, numbers, bound, plan.values.size()),
          "one --buffer for each pointer and one --param for each value, in the order of the "
          "parameters");
    for (int i = 0; i < plan.kernel->count; ++i) {
      const ks::Parameter& parameter = plan.kernel->parameters[i];
      if (parameter.kind == ks::ArgumentKind::buffer) continue;
      const ks::Value& value = plan.values[static_cast<std::size_t>(parameter.index)];
      const auto fault = [&](std::string what) {
        return base::usage_error(kernel, fmt::format("parameter {}: {}", i + 1, what));
      };
      if (value.size == 0 && !parameter.is_number)
        return fault(fmt::format("it is a struct of {} bytes, a number is given", parameter.bytes));
      if (value.size != 0 && value.size != parameter.bytes)
        return fault(fmt::format("it has {} bytes, {} are given", parameter.bytes, value.size));
    }
    if (plan.group_memory.empty()) plan.group_memory.push_back(0);
    return {};
  }

  const Json& json_;
  std::vector<std::size_t> constants_;  ///< buffers of __constant__ variables
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
