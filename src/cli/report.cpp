// ksearch report: what a run found.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "report/report_text.h"
#include "search/recorder.h"

namespace ksearch::cli {

base::Result<int> report(const Context& context, const ReportOptions& options) {
  KS_TRY(const std::filesystem::path folder, find_run(options.run));
  KS_TRY(const store::RunData data, store::read_run(folder));
  KS_TRY(task::Task task, task::load_task(data.info.task_folder, data.info.target));
  KS_TRY(const search::Resumed resumed, search::reconstruct(data, task.definition));
  if (options.ablate) {
    KS_TRY(const engineer::Catalog catalog,
           engineer::load_catalog(context.home.catalog_folder(task, dialect_for(data.info.target)),
                                  task.definition));
    const InterruptWatch interrupts;
    const auto watcher = make_line_watcher(STDERR_FILENO, style_of(context.environment, false));
    const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
    std::optional<LeaveAtOnce> opening;
    opening.emplace("nothing was measured");
    KS_TRY(const auto session, open_session(context, task.folder, options_of(data.info), progress));
    opening.reset();
    KS_RETURN_IF_ERROR(ablate(*session, catalog, resumed.engine, folder, progress));
  }
  report::RunSummary summary = report::summarise(data.info, resumed.engine);
  summary.notes.insert(summary.notes.end(), resumed.notes.begin(), resumed.notes.end());
  const report::RunFiles files = report::read_run_files(folder);
  if (options.json) {
    fmt::print("{}", base::to_text(report::report_json(summary, files)));
  } else {
    const report::Style style = style_of(context.environment, isatty(STDOUT_FILENO) == 1);
    fmt::print("{}", report::report_text(style, summary, files, resumed.engine, folder.string()));
  }
  return kDone;
}

}  // namespace ksearch::cli
