// ksearch eval: one program, judged.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/terminal.h"
#include "report/sections.h"
#include "search/figures.h"

namespace ksearch::cli {
namespace {

void print_outcome(const report::Style& style, const kernel::Outcome& outcome) {
  const report::Paint mood = outcome.passed() ? report::Paint::good : report::Paint::bad;
  fmt::print("{}\n",
             report::paint(style, mood, report::printable(style, kernel::summary(outcome))));
  if (const auto* failed = std::get_if<kernel::CompileFailed>(&outcome.verdict))
    fmt::print("{}\n", failed->log);
  if (const auto& timings = search::timings_of(outcome); !timings.empty())
    fmt::print("\n{}", report::workloads_table(style, timings));
  for (const std::string& note : outcome.notes)
    fmt::print("  {}\n", report::printable(style, note));
}

}  // namespace

base::Result<int> eval(const Context& context, const EvalOptions& options) {
  KS_TRY(task::Task task, open_task(context.home, options.on.task, options.on.target));
  std::filesystem::path path = options.program;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) path /= "program.json";
  if (!std::filesystem::exists(path, error))
    return base::usage_error(path.string(), "is not there",
                             "a program.json, or the folder that holds it, is judged");
  KS_TRY(const kernel::Program program, kernel::load_program(path, task.definition));
  const auto watcher = make_line_watcher(STDERR_FILENO, style_of(context.environment, false));
  const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
  KS_TRY(const auto session, open_session(context, task.folder, options.on, progress));

  const kernel::EvaluateReply reply =
      session->evaluate({program, std::nullopt, {}, std::nullopt}, progress);
  if (const auto* lost = std::get_if<kernel::Lost>(&reply))
    return base::environment_error("evaluation", lost->reason,
                                   "try again; if it stays, ksearch devices --measure");
  const auto& outcome = std::get<kernel::Outcome>(reply);
  base::Json json{{"task", task.definition.name},
                  {"program", program.hash()},
                  {"outcome", kernel::to_json(outcome)}};
  const report::Style style = style_of(context.environment, isatty(STDOUT_FILENO) == 1);
  if (!options.json) print_outcome(style, outcome);
  bool passed = outcome.passed();
  if (passed && options.certify) {
    KS_TRY(const evaluate::Certificate certificate,
           session->certify(program, outcome.select, progress));
    passed = certificate.passed;
    json["certificate"] = evaluate::to_json(certificate);
    if (!options.json)
      fmt::print("\ncertificate: {}\n", report::printable(style, certificate.summary()));
  }
  if (options.json) fmt::print("{}", base::to_text(json));
  return passed ? kDone : kNothingPassed;
}

}  // namespace ksearch::cli
