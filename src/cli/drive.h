// A search under way: engineer, evaluator, journal and watcher around the engine, until it ends or
// Ctrl-C; then the summary. Shared by `run` and `resume`.
#pragma once

#include "cli/engineers.h"
#include "cli/watcher.h"
#include "search/engine.h"
#include "store/run.h"

namespace ksearch::cli {

/// The live view where standard output (with --json: standard error) is a terminal that can show
/// it, else plain lines there.
std::unique_ptr<Watcher> make_watcher(const Context& context, std::string_view task, bool json);

struct Search {
  evaluate::OpenedSession* session = nullptr;
  const engineer::Catalog* catalog = nullptr;
  const Writing* writing = nullptr;  ///< null: the catalog alone
  store::Run* run = nullptr;
  search::Engine* engine = nullptr;
  Watcher* watcher = nullptr;
  std::chrono::nanoseconds already{0};  ///< of the run, before it was resumed
  bool certify_only = false;            ///< search no further
};

/// Answers the engine's requests until it has ended or Ctrl-C was heard. What is recorded then is
/// where `resume` goes on.
base::Result<void> drive(const Search& search);

/// Measures each step of the winner by leaving it out, and writes RUN/ablation.json. Nothing where
/// the catalog cannot leave out any.
base::Result<void> ablate(evaluate::OpenedSession& session, const engineer::Catalog& catalog,
                          const search::Engine& engine, const std::filesystem::path& run,
                          const evaluate::Progress& progress);

/// Prints the summary (or its JSON) of a run that was just driven; the exit code.
base::Result<int> conclude(const Context& context, const store::Run& run,
                           const search::Engine& engine, bool json);

}  // namespace ksearch::cli
