// ksearch replay: a recorded run again, without a network and without measuring; nothing may
// differ.
#include <fmt/format.h>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/engineers.h"
#include "search/rerun.h"

namespace ksearch::cli {
namespace {

/// The answers of whoever wrote in the run; none where the catalog answered alone.
base::Result<std::unique_ptr<engineer::CallLog>> calls_of(const store::RunData& data,
                                                          const EngineerChoice& choice) {
  if (choice.writer == EngineerChoice::Writer::none) return nullptr;
  const std::filesystem::path calls = data.folder / "calls.jsonl";
  std::error_code error;
  if (std::filesystem::exists(calls, error)) return engineer::CallLog::read(calls);
  const bool model = choice.writer == EngineerChoice::Writer::model;
  return base::usage_error(
      calls.string(), fmt::format("is not there: the answers of \"{}\" are in it", choice.text()),
      model ? "restore it from a copy"
            : "without it there is nothing to replay; runs that were recorded before answers of "
              "dir:, exec: and agents were kept have none. ksearch report shows the run");
}

base::Json to_json(const search::Rerun& rerun) {
  return {{"format", "ksearch.replay/1"},   {"told", rerun.told},
          {"answers", rerun.thought},       {"same", rerun.difference.empty()},
          {"difference", rerun.difference}, {"missing", rerun.missing}};
}

void print(const search::Rerun& rerun, const EngineerChoice& choice) {
  const std::string told =
      fmt::format("{} told, {} of them answers of {}", base::counted(rerun.told, "line"),
                  rerun.thought, choice.text());
  if (!rerun.difference.empty())
    fmt::print("{}\n", rerun.difference);
  else if (rerun.missing.empty())
    fmt::print("the same, byte for byte: {}\n", told);
  else
    fmt::print("the same as far as it goes, but not a whole run: {}\n  {}\n", told, rerun.missing);
}

}  // namespace

base::Result<int> replay(const Context& context, const ReplayOptions& options) {
  KS_TRY(const std::filesystem::path folder, find_run(options.run));
  KS_TRY(const store::RunData data, store::read_run(folder));
  KS_TRY(const EngineerChoice choice, recorded_engineer(data.info));
  KS_TRY(const auto calls, calls_of(data, choice));
  KS_TRY(task::Task task, task::load_task(data.info.task_folder, data.info.target));
  if (!data.info.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, data.info.where));
  const kernel::Dialect dialect = dialect_for(data.info.target);
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect), task.definition));
  KS_TRY(const kernel::HardwareProfile device,
         kernel::parse_hardware(data.info.device, "run.json: device"));
  std::optional<Writing> writing;
  if (choice.writer != EngineerChoice::Writer::none) {
    KS_TRY(engineer::Prompts prompts,
           load_prompts(context.home, task, device, choice, catalog, dialect));
    writing = Writing{choice, std::move(prompts), {}, {}};
    writing->recorded = true;
  }
  const Engineers engineers({&task, dialect, &device, &catalog, writing ? &*writing : nullptr}, {},
                            calls.get());
  KS_TRY(const search::Rerun rerun,
         search::rerun(data, task.definition, engineers.planner(), engineers.coder()));
  if (options.json)
    fmt::print("{}", base::to_text(to_json(rerun)));
  else
    print(rerun, choice);
  return rerun.difference.empty() && rerun.missing.empty() ? kDone : kNothingPassed;
}

}  // namespace ksearch::cli
