#include "cli/run_info.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>

#include "base/hash.h"
#include "cli/model_choice.h"

namespace ksearch::cli {
namespace {

/// One hash over every step's name and program: which catalog it was.
std::string catalog_hash(const engineer::Catalog& catalog) {
  std::string all;
  for (const engineer::Step& step : catalog.steps)
    all += step.name + " " + step.program.hash() + "\n";
  return base::short_hash(all);
}

std::string system_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

store::RunInfo run_info(const RunOptions& options, const evaluate::OpenedSession& session,
                        const search::Config& config, const engineer::Catalog& catalog,
                        const std::filesystem::path& folder, const std::filesystem::path& python) {
  store::RunInfo info;
  info.run = folder.filename().string();
  info.task = session.task().definition.name;
  info.task_folder = std::filesystem::absolute(session.task().folder).lexically_normal().string();
  info.target = options.on.target;
  info.device = kernel::to_json(session.device());
  info.threads = session.dialect() == kernel::Dialect::cpp
                     ? static_cast<int>(session.device().cores)
                     : options.on.threads;
  info.where = options.on.where;
  info.engineer = info.planner = info.coder = config.engineer;
  if (!options.model.planner.empty()) info.planner = "llm:" + options.model.planner;
  if (!options.model.coder.empty()) info.coder = "llm:" + options.model.coder;
  info.python = python.string();
  info.search = search::to_json(config);
  info.knowledge = {{"catalog", catalog_hash(catalog)}};
  info.ksearch_version = KSEARCH_VERSION;
  info.created_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  info.environment = {
      {"compiler", session.compiler()}, {"sandbox", session.sandbox()}, {"system", system_name()}};
  info.options = {{"unsafe_no_sandbox", options.on.no_sandbox},
                  {"answer_seconds", options.answer_time.count()},
                  {"model", to_json(options.model)}};
  if (session.measures_gpu()) info.options["device"] = kHereGpu;
  return info;
}

}  // namespace ksearch::cli
