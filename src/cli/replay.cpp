// ksearch replay: a recorded run again, without a network and without measuring; nothing may
// differ.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engineers.h"
#include "search/rerun.h"

namespace ksearch::cli {
namespace {

/// The list of a run's calls, copied: what is opened is repaired, and a replay only reads. None
/// where no model was called.
base::Result<std::unique_ptr<engineer::CallLog>> calls_of(const store::RunData& data,
                                                          const std::filesystem::path& copy) {
  const std::filesystem::path calls = data.folder / "calls.jsonl";
  std::error_code error;
  if (!std::filesystem::exists(calls, error)) return nullptr;
  std::filesystem::copy_file(calls, copy, error);
  if (error) return base::environment_error(copy.string(), error.message());
  return engineer::CallLog::open(copy);
}

base::Result<EngineerChoice> recorded_engineer(const store::RunData& data) {
  auto choice = parse_engineer(data.info.engineer);
  const bool kept = choice && (choice->writer == EngineerChoice::Writer::none ||
                               choice->writer == EngineerChoice::Writer::model);
  if (!kept)
    return base::usage_error(
        data.folder.string(),
        fmt::format("is the run of \"{}\", whose answers it does not keep", data.info.engineer),
        "runs of catalog, llm: and catalog+llm: can be replayed");
  return choice;
}

base::Json to_json(const search::Rerun& rerun) {
  return {{"format", "ksearch.replay/1"},
          {"told", rerun.told},
          {"answers", rerun.thought},
          {"same", rerun.difference.empty()},
          {"difference", rerun.difference}};
}

}  // namespace

base::Result<int> replay(const Context& context, const ReplayOptions& options) {
  KS_TRY(const std::filesystem::path folder, find_run(options.run));
  KS_TRY(const store::RunData data, store::read_run(folder));
  KS_TRY(const EngineerChoice choice, recorded_engineer(data));
  KS_TRY(task::Task task, task::load_task(data.info.task_folder, data.info.target));
  if (!data.info.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, data.info.where));
  const kernel::Dialect dialect = dialect_for(data.info.target);
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect), task.definition));
  KS_TRY(const kernel::HardwareProfile device,
         kernel::parse_hardware(data.info.device, "run.json: device"));
  KS_TRY(const os::TempFolder scratch, os::TempFolder::create("ksearch-replay-"));
  KS_TRY(const auto calls, calls_of(data, scratch.path() / "calls.jsonl"));
  std::optional<Writing> writing;
  if (choice.writer != EngineerChoice::Writer::none) {
    if (!calls)
      return base::usage_error((folder / "calls.jsonl").string(),
                               "is not there: the answers of the run's model are in it");
    KS_TRY(engineer::Prompts prompts,
           load_prompts(context.home, task, device, choice, catalog, dialect));
    writing = Writing{choice, std::move(prompts), {}, {}, {}, {}};
  }
  const Engineers engineers({&task, dialect, &device, &catalog, writing ? &*writing : nullptr}, {},
                            calls.get());
  KS_TRY(const search::Rerun rerun,
         search::rerun(data, task.definition, engineers.planner(), engineers.coder()));
  if (options.json)
    fmt::print("{}", base::to_text(to_json(rerun)));
  else if (rerun.difference.empty())
    fmt::print("the same, byte for byte: {} lines told, {} of them answers of {}\n", rerun.told,
               rerun.thought, choice.text());
  else
    fmt::print("{}\n", rerun.difference);
  return rerun.difference.empty() ? kDone : kNothingPassed;
}

}  // namespace ksearch::cli
