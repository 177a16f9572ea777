// ksearch run: a new search.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>

#include "base/hash.h"
#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/interrupt.h"

namespace ksearch::cli {
namespace {

constexpr int kFirstNodes = 8;

search::Config config_of(const RunOptions& options, const EngineerChoice& choice,
                         const task::Task& task, const evaluate::CpuSession& session) {
  search::Config config;
  config.task = task.definition.name;
  config.target = options.on.target;
  config.device = session.device().name;
  config.engineer = choice.text();
  config.strategy = options.strategy;
  config.seed = options.on.seed;
  config.limits.evaluations = options.evaluations;
  config.limits.wall = options.time;
  config.limits.tokens = options.tokens;
  config.limits.cost_usd = options.cost_usd;
  const bool limited = options.time || options.evaluations || options.tokens || options.cost_usd;
  const bool folder = choice.writer == EngineerChoice::Writer::folder;
  if (!limited && !folder) config.limits.wall = kDefaultTime;
  // Somebody who is asked for a whole first tree has more to say than one update's worth.
  if (choice.writer != EngineerChoice::Writer::none && !choice.catalog)
    config.first_nodes = kFirstNodes;
  config.stagnation = options.stagnation;
  return config;
}

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

store::RunInfo info_of(const RunOptions& options, const evaluate::CpuSession& session,
                       const search::Config& config, const engineer::Catalog& catalog,
                       const std::filesystem::path& folder, const std::filesystem::path& python) {
  store::RunInfo info;
  info.run = folder.filename().string();
  info.task = session.task().definition.name;
  info.task_folder = std::filesystem::absolute(session.task().folder).lexically_normal().string();
  info.target = options.on.target;
  info.device = kernel::to_json(session.device());
  info.threads = static_cast<int>(session.device().cores);
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
  return info;
}

}  // namespace

base::Result<int> run(const Context& context, const RunOptions& options) {
  // What can be wrong with the command line is found before anything is measured.
  KS_TRY(task::Task task, open_task(context.home, options.on.task));
  if (!options.on.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, options.on.where));
  KS_TRY(const auto python, context.home.python(options.on.python));
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, kernel::Dialect::cpp),
                                task.definition));
  if (options.engineer == "catalog" && catalog.steps.empty())
    return base::usage_error(
        context.home.catalog_folder(task, kernel::Dialect::cpp).string(),
        "there is no step: the catalog knows nothing of this operation",
        "put one there (CONTRIBUTING.md: a catalog step); ksearch eval judges single programs");
  const std::filesystem::path folder = options.out.empty() ? new_run_folder(task.definition.name)
                                                           : std::filesystem::path(options.out);
  KS_RETURN_IF_ERROR(store::Run::can_create(folder));
  KS_TRY(EngineerChoice choice, parse_engineer(options.engineer));
  if (choice.writer == EngineerChoice::Writer::folder) {
    choice.value = std::filesystem::absolute(choice.value).lexically_normal().string();
    KS_RETURN_IF_ERROR(engineer::check_new_folder(choice.value));
  }
  const Reach reach{options.answer_time, options.model, options.cost_usd};
  if (choice.writer == EngineerChoice::Writer::model)
    KS_RETURN_IF_ERROR(endpoints_of(context, choice, reach));
  const InterruptWatch interrupts;
  const auto watcher = make_watcher(context, task.definition.name, options.json);
  const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
  KS_TRY(const auto session, open_session(context, task.folder, options.on, progress));
  const search::Config config = config_of(options, choice, task, *session);
  KS_TRY(search::Engine engine, search::Engine::make(config));
  KS_TRY(store::Run run,
         store::Run::create(folder, info_of(options, *session, config, catalog, folder, python)));
  KS_RETURN_IF_ERROR(run.replace_file(
      "baselines.json", base::to_text(evaluate::to_json(session->session().baselines()))));

  KS_TRY(const auto writing,
         open_writing(context, task, session->device(), choice, catalog, reach));
  if (writing && writing->planner)
    watcher->on({{},
                 event::Note{forecast(*writing->planner, *writing->coder,
                                      llm::estimated_tokens(writing->prompts.spec()),
                                      config.limits.evaluations)}});
  Search search;
  search.session = session.get();
  search.catalog = &catalog;
  search.writing = writing ? &*writing : nullptr;
  search.run = &run;
  search.engine = &engine;
  search.watcher = watcher.get();
  KS_RETURN_IF_ERROR(drive(search));
  const auto wall = config.limits.wall;
  const bool time_left = !wall || engine.spent().wall < *wall;
  // Only the catalog's steps can be left out of a program.
  if (choice.catalog && engine.status() == "passed" && time_left)
    KS_RETURN_IF_ERROR(ablate(*session, catalog, engine, folder, progress));
  watcher->close();
  return conclude(context, run, engine, options.json);
}

}  // namespace ksearch::cli
