#include "target/cpu/cpu_target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/hash.h"
#include "target/cpu/entry_points.h"
#include "target/cpu/manifest.h"
#include "target/cpu/plan_message.h"
#include "target/cpu/static_check.h"
#include "target/process_worker.h"

namespace ksearch::target {
namespace {
namespace fs = std::filesystem;
using BuildResult = base::Result<std::variant<toolchain::Built, toolchain::CompileFault>>;

constexpr std::chrono::milliseconds kStartLimit{20000};
constexpr std::uint64_t kThreadStack = std::uint64_t{8} << 20;
constexpr std::uint64_t kWorkerCpuSeconds =
    24 * 3600;  // if we are stopped ourselves, it still ends

kernel::Verdict verdict_of(const toolchain::CompileFault& fault) {
  switch (fault.kind) {
    case toolchain::CompileFault::Kind::time:
      return kernel::LimitExceeded{"compile time in seconds", fault.limit, fault.limit};
    case toolchain::CompileFault::Kind::memory:
      return kernel::LimitExceeded{"memory of the compiler in bytes", fault.limit, fault.limit};
    case toolchain::CompileFault::Kind::errors:
      break;
  }
  return kernel::CompileFailed{fault.log};
}

/// Compiles all of them, as many at once as there are CPUs.
std::vector<BuildResult> build_all(const toolchain::Builder& builder,
                                   const std::vector<toolchain::CompileRequest>& requests) {
  std::vector<BuildResult> results(requests.size(), base::internal_error("build", "was not begun"));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < requests.size();)
      results[i] = builder.build(requests[i]);
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::min(requests.size(), os::allowed_cpus().size());
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

base::Json load_message(const Manifest& manifest, int threads, const std::vector<int>& pin,
                        bool trusted) {
  base::Json objects = base::Json::array();
  for (const Manifest::Object& object : manifest.objects) {
    base::Json kernels = base::Json::array();
    for (std::size_t i = 0; i < object.plan.kernels.size(); ++i) kernels.push_back(entry_name(i));
    objects.push_back({{"path", object.file}, {"kernels", std::move(kernels)}});
  }
  return {{"op", "load"},
          {"objects", std::move(objects)},
          {"threads", threads},
          {"pin", pin},
          {"trusted", trusted}};
}

}  // namespace

std::uint64_t default_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const std::uint64_t all =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                            : 0;
  return std::max<std::uint64_t>(all / 4, std::uint64_t{1} << 30);
}

CpuTarget::CpuTarget(toolchain::Builder builder, CpuTargetOptions options)
    : builder_(std::move(builder)), options_(std::move(options)), seeds_(options_.seed) {
  KS_CHECK(options_.device.cores >= 1, "a CPU target runs on a thread at least");
  if (options_.memory_limit_bytes == 0) options_.memory_limit_bytes = default_memory_limit();
}

std::optional<kernel::Verdict> CpuTarget::check(const kernel::Program& program) {
  if (program.dialect != kernel::Dialect::cpp)
    return kernel::Unsupported{
        fmt::format("the CPU runs dialect cpp, not {}", kernel::name(program.dialect))};
  if (!options_.static_check) return std::nullopt;
  if (const auto why = check_sources(program.sources)) return kernel::Rejected{"static", *why};
  return std::nullopt;
}

std::variant<Executable, kernel::Verdict, kernel::Lost> CpuTarget::build(
    const BuildRequest& request) {
  KS_CHECK(request.program && request.plans, "a build has a program and its plans");
  const std::vector<ObjectPlan> objects = objects_of(*request.plans);
  std::vector<toolchain::CompileRequest> compiles;
  for (const ObjectPlan& object : objects) {
    auto compile = compile_request(*request.program, object, builder_.compiler().clang);
    if (request.trust) {
      compile.flags.insert(compile.flags.end(), request.trust->compile_flags.begin(),
                           request.trust->compile_flags.end());
      compile.libraries = request.trust->link_flags;
      compile.read.insert(compile.read.end(), request.trust->folders.begin(),
                          request.trust->folders.end());
    }
    compiles.push_back(std::move(compile));
  }
  const std::vector<BuildResult> results = build_all(builder_, compiles);
  Manifest manifest;
  std::string keys;
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) return kernel::Lost{results[i].error().text()};
    if (const auto* fault = std::get_if<toolchain::CompileFault>(&*results[i]))
      return verdict_of(*fault);
    const auto& built = std::get<toolchain::Built>(*results[i]);
    keys += built.key;
    std::error_code code;
    bytes += fs::file_size(built.file, code);
    manifest.objects.push_back({built.file.string(), objects[i]});
  }
  const std::string id = base::short_hash(keys + base::to_line(to_json(manifest)));
  const fs::path folder = builder_.cache() / "executables" / id;
  if (const auto written = write_manifest(folder, manifest); !written)
    return kernel::Lost{written.error().text()};
  return Executable{id, folder.string(), {{"objects", objects.size()}, {"bytes", bytes}}};
}

base::Result<std::unique_ptr<Worker>> CpuTarget::start(const Executable& executable,
                                                       const Trust* trust) {
  KS_TRY(Manifest manifest, read_manifest(executable.path));
  const int threads = static_cast<int>(options_.device.cores);
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch"));
  os::Command command;
  command.argv = options_.worker;
  command.cpus = options_.cpus;
  if (trust) {
    for (const auto& [name, value] : trust->environment) command.environment[name] = value;
  } else {
    command.limits = {.data_bytes = options_.memory_limit_bytes +
                                    kThreadStack * static_cast<std::uint64_t>(threads),
                      .file_bytes = 0,
                      .open_files = 64,
                      .cpu_seconds = kWorkerCpuSeconds};
    os::Policy policy;
    policy.read.emplace_back(command.argv.front());
    for (const Manifest::Object& object : manifest.objects) policy.read.emplace_back(object.file);
    KS_TRY(command, builder_.sandbox().confine(command, policy));
  }
  KS_TRY(auto process, WorkerProcess::start(std::move(command), memory.descriptor(), kStartLimit));
  // A library's own threads take the affinity of the thread that loads it: ours stay unpinned then.
  process->send(base::to_line(load_message(
      manifest, threads, trust ? std::vector<int>() : options_.cpus, trust != nullptr)));
  std::vector<ObjectPlan> plans;
  for (const Manifest::Object& object : manifest.objects) plans.push_back(object.plan);
  ProcessWorkerOptions options;
  options.prepare = [plans = std::move(plans), threads](const Job& job, const Arena& set) {
    return plan_message(job, set, plans, threads);
  };
  options.memory_limit_bytes = options_.memory_limit_bytes;
  options.seed = seeds_.next();
  return std::make_unique<ProcessWorker>(std::move(process), std::move(memory), std::move(options));
}

}  // namespace ksearch::target
