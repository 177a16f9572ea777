// ksearch resume: goes on where the journal ends.
#include <unistd.h>

#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/interrupt.h"
#include "search/recorder.h"

namespace ksearch::cli {
namespace {

std::chrono::seconds answer_time_of(const store::RunInfo& info) {
  const auto it = info.options.find("answer_seconds");
  if (it == info.options.end() || !it->is_number_integer()) return RunOptions().answer_time;
  return std::chrono::seconds(it->get<std::int64_t>());
}

}  // namespace

base::Result<int> resume(const Context& context, const ResumeOptions& options) {
  KS_TRY(const std::filesystem::path folder, find_run(options.run));
  KS_TRY(store::Run run, store::Run::open(folder));
  const EvaluateOptions on = options_of(run.info());
  KS_TRY(task::Task task, task::load_task(run.info().task_folder, on.target));
  if (!on.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, on.where));
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect_for(on.target)),
                                task.definition));

  const InterruptWatch interrupts;
  const auto watcher = make_watcher(context, task.definition.name, options.json);
  KS_TRY(search::Resumed resumed,
         search::resume(run, task.definition, watcher->wants_past() ? watcher.get() : nullptr));
  for (const std::string& note : resumed.notes) watcher->on({resumed.already, event::Note{note}});
  const bool reopened = resumed.engine.can_reopen() && !options.certify;
  if (!resumed.engine.ended() || reopened) {
    KS_TRY(const EngineerChoice choice, recorded_engineer(run.info()));
    if (choice.writer == EngineerChoice::Writer::agent)
      return base::usage_error(folder.string(), "is the run of an agent, who asks and tells",
                               "resume_run of ksearch mcp goes on with it");
    KS_TRY(const ModelOptions model, model_options_of(run.info()));
    const Reach reach{answer_time_of(run.info()), model, resumed.engine.config().limits.cost_usd};
    if (choice.writer == EngineerChoice::Writer::model)
      KS_RETURN_IF_ERROR(endpoints_of(context, choice, reach));
    const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
    std::optional<LeaveAtOnce> opening;
    opening.emplace("the run is as it was; ksearch resume goes on with it");
    KS_TRY(const auto session, open_session(context, task.folder, on, progress));
    opening.reset();
    KS_RETURN_IF_ERROR(run.replace_file(
        "baselines.json", base::to_text(evaluate::to_json(session->session().baselines()))));
    // Prompts tell of the machine as it was measured when the run began: the same text again.
    KS_TRY(const kernel::HardwareProfile device,
           kernel::parse_hardware(run.info().device, "run.json: device"));
    KS_TRY(const auto writing, open_writing(context, session->task(), device, choice, catalog,
                                            session->dialect(), reach));
    if (reopened) KS_RETURN_IF_ERROR(search::reopen(run, resumed.engine));
    Search search;
    search.session = session.get();
    search.catalog = &catalog;
    search.writing = writing ? &*writing : nullptr;
    search.run = &run;
    search.engine = &resumed.engine;
    search.watcher = watcher.get();
    search.already = resumed.already;
    search.certify_only = options.certify;
    KS_RETURN_IF_ERROR(drive(search));
  }
  watcher->close();
  return conclude(context, run, resumed.engine, options.json);
}

}  // namespace ksearch::cli
