#include "target/script_worker.h"

#include <fmt/format.h>

#include "os/files.h"
#include "target/adapter_text.h"
#include "target/process_worker.h"

namespace ksearch::target {
namespace {
using base::Json;

constexpr std::chrono::milliseconds kStartLimit{60000};    // a cold disk, a big site-packages
constexpr std::chrono::milliseconds kImportLimit{180000};  // torch takes seconds, cold tens of them
constexpr std::chrono::seconds kAskLimit{60};

std::string_view access_name(kernel::Access access) {
  return access == kernel::Access::out ? "out" : access == kernel::Access::inout ? "inout" : "in";
}

Json value_json(const kernel::Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* d = std::get_if<double>(&value)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  return kernel::name(std::get<kernel::DType>(value));
}

std::variant<Preparation, kernel::Verdict> case_message(const Job& job, const Arena& set) {
  if (!job.workload) return kernel::Verdict(kernel::Unsupported{"a script needs a workload"});
  Json axes = Json::object(), types = Json::object(), params = Json::object(),
       tensors = Json::array();
  for (const auto& [name, value] : job.workload->axes) axes[name] = value;
  for (const auto& [name, type] : job.workload->types) types[name] = kernel::name(type);
  for (const auto& [name, value] : job.workload->params) params[name] = value_json(value);
  for (const TensorShape& t : job.tensors)
    tensors.push_back({{"name", t.name},
                       {"dtype", kernel::name(t.dtype)},
                       {"shape", t.shape},
                       {"access", access_name(t.access)},
                       {"offset", set.find(t.name)->offset}});
  return Preparation{{{"op", "prepare"},
                      {"axes", std::move(axes)},
                      {"types", std::move(types)},
                      {"params", std::move(params)},
                      {"tensors", std::move(tensors)},
                      {"stride", set.bytes()},
                      {"sets", job.sets},
                      {"bytes", set.bytes() * static_cast<std::size_t>(job.sets)}},
                     Arena()};
}

/// Libraries with threads of their own read one of these when they are loaded.
os::Environment clean_environment(const ScriptOptions& options) {
  const std::string threads = std::to_string(options.threads);
  os::Environment environment = {{"PATH", options.python.parent_path().string() + ":/usr/bin:/bin"},
                                 {"LC_ALL", "C.UTF-8"},
                                 {"PYTHONDONTWRITEBYTECODE", "1"},
                                 {"OMP_NUM_THREADS", threads},
                                 {"OPENBLAS_NUM_THREADS", threads},
                                 {"MKL_NUM_THREADS", threads}};
  for (const auto& [name, value] : options.environment) environment[name] = value;
  return environment;
}

}  // namespace

base::Result<std::unique_ptr<Worker>> start_script(const ScriptOptions& options) {
  std::string text = options.text;
  if (text.empty()) {
    KS_TRY(text, os::read_file(options.script));
  }
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch"));
  os::Command command{.argv = {options.python.string(), "-c", kAdapter},
                      .environment = clean_environment(options),
                      .cpus = options.cpus};
  KS_TRY(auto process, WorkerProcess::start(std::move(command), memory.descriptor(), kStartLimit));
  process->send(base::to_line({{"op", "load"},
                               {"path", options.script.string()},
                               {"text", std::move(text)},
                               {"requires", options.requires_modules},
                               {"threads", options.threads}}));
  ProcessWorkerOptions worker;
  worker.prepare = case_message;
  worker.load_limit = kImportLimit;
  worker.prepare_limit = kImportLimit;
  worker.seed = options.seed;
  return std::make_unique<ProcessWorker>(std::move(process), std::move(memory), std::move(worker));
}

base::Result<Trust> python_library(const std::filesystem::path& python,
                                   const std::string& package) {
  const std::string ask =
      "import importlib, json, sys\n"
      "p = importlib.import_module(sys.argv[1])\n"
      "print(json.dumps([p.get_lib_dir(), p.get_library(), p.get_include_dir()]))\n";
  const auto said =
      os::run({.argv = {python.string(), "-c", ask, package},
               .environment = {{"PATH", "/usr/bin:/bin"}, {"PYTHONDONTWRITEBYTECODE", "1"}}},
              kAskLimit);
  if (!said) return std::unexpected(said.error());
  const auto parts = base::parse_json(said->output, package);
  if (said->status.code != 0 || !parts || !parts->is_array() || parts->size() != 3)
    return base::environment_error(package, fmt::format("{} does not have it", python.string()),
                                   fmt::format("pip install {}", package));
  const std::string folder = parts->at(0), library = parts->at(1), include = parts->at(2);
  return Trust{.compile_flags = {"-I" + include},
               .link_flags = {"-L" + folder, "-l" + library, "-Wl,-rpath," + folder},
               .folders = {folder, include},
               .environment = {}};
}

}  // namespace ksearch::target
