// ksearch run: a new search.
#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/interrupt.h"
#include "cli/run_info.h"

namespace ksearch::cli {
namespace {

search::Config config_of(const RunOptions& options, const EngineerChoice& choice,
                         const task::Task& task, const evaluate::OpenedSession& session) {
  search::Config config;
  config.task = task.definition.name;
  config.target = options.on.target;
  config.dialect = session.dialect();
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
  if (choice.writer != EngineerChoice::Writer::none && !choice.catalog)
    config.first_nodes = kFirstNodes;
  config.stagnation = options.stagnation;
  config.lanes = options.lanes;
  return config;
}

}  // namespace

base::Result<int> run(const Context& context, const RunOptions& options) {
  // What can be wrong with the command line is found before anything is measured.
  KS_TRY(task::Task task, open_task(context.home, options.on.task, options.on.target));
  if (!options.on.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, options.on.where));
  KS_TRY(const auto python, context.home.python(options.on.python));
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect_for(options.on.target)),
                                task.definition));
  if (options.engineer == "catalog" && catalog.steps.empty())
    return base::usage_error(
        context.home.catalog_folder(task, dialect_for(options.on.target)).string(),
        "there is no step: the catalog knows nothing of this operation",
        "put one there (CONTRIBUTING.md: a catalog step); ksearch eval judges single programs");
  const std::filesystem::path folder = options.out.empty() ? new_run_folder(task.definition.name)
                                                           : std::filesystem::path(options.out);
  KS_TRY(EngineerChoice choice, parse_engineer(options.engineer));
  if (choice.writer == EngineerChoice::Writer::folder) {
    choice.value = std::filesystem::absolute(choice.value).lexically_normal().string();
    KS_RETURN_IF_ERROR(engineer::check_new_folder(choice.value));
  }
  const Reach reach{options.answer_time, options.model, options.cost_usd};
  if (choice.writer == EngineerChoice::Writer::model)
    KS_RETURN_IF_ERROR(endpoints_of(context, choice, reach));
  const InterruptWatch interrupts;
  // Before the session opens, which takes a minute: two runs must not meet in one folder.
  KS_TRY(store::Claim claim, store::Claim::take(folder));
  std::optional<LeaveAtOnce> opening;
  opening.emplace("no run was begun", claim.leavings());
  const auto watcher = make_watcher(context, task.definition.name, options.json);
  const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
  KS_TRY(const auto session, open_session(context, task.folder, options.on, progress));
  const search::Config config = config_of(options, choice, task, *session);
  KS_TRY(search::Engine engine, search::Engine::make(config));
  opening.reset();  // from here on a run is there to be left whole
  KS_TRY(store::Run run, store::Run::create(std::move(claim), run_info(options, *session, config,
                                                                       catalog, folder, python)));
  KS_RETURN_IF_ERROR(run.replace_file(
      "baselines.json", base::to_text(evaluate::to_json(session->session().baselines()))));

  KS_TRY(const auto writing, open_writing(context, task, session->device(), choice, catalog,
                                          session->dialect(), reach));
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
