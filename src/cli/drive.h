// A search under way: engineer, evaluator, journal and watcher around the engine, until it ends or
// Ctrl-C; then the summary. Shared by `run` and `resume`.
#pragma once

#include "cli/engineer_choice.h"
#include "cli/model_choice.h"
#include "cli/session.h"
#include "cli/watcher.h"
#include "engineer/catalog.h"
#include "engineer/model_correspondent.h"
#include "search/driver.h"
#include "search/engine.h"
#include "store/run.h"

namespace ksearch::cli {

/// The live view where standard output (with --json: standard error) is a terminal that can show
/// it, else plain lines there.
std::unique_ptr<Watcher> make_watcher(const Context& context, std::string_view task, bool json);

/// How an engineer in writing is reached.
struct Reach {
  std::chrono::milliseconds answer_time{0};
  ModelOptions model;
  std::optional<double> cost_limit;  ///< US dollars: prices must be known
};

/// An engineer that answers in writing: who, and what it is told.
struct Writing {
  EngineerChoice choice;
  engineer::Prompts prompts;
  Reach reach;
  os::Environment environment;
  std::optional<llm::Endpoint> planner, coder;  ///< of a model
};
/// Nothing where the choice names nobody who writes.
base::Result<std::optional<Writing>> open_writing(const Context& context, const task::Task& task,
                                                  const kernel::HardwareProfile& device,
                                                  const EngineerChoice& choice,
                                                  const engineer::Catalog& catalog,
                                                  kernel::Dialect dialect, Reach reach);
/// What can be wrong with a model's name, key, address or price: found before anything is measured.
base::Result<std::pair<llm::Endpoint, llm::Endpoint>> endpoints_of(const Context& context,
                                                                   const EngineerChoice& choice,
                                                                   const Reach& reach);

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

/// Planner and coder of a search, and the hands that answer its requests.
class Engineers {
 public:
  /// `patience` is for one who writes; `calls` are borrowed.
  explicit Engineers(const Search& search, engineer::Patience patience = {},
                     engineer::CallLog* calls = nullptr);
  search::Hands hands() const;
  /// Where the search starts: the naive program, as the session measured it.
  search::Started start() const;

 private:
  void write(const Search& search, engineer::Patience patience, engineer::CallLog* calls);
  void call_models(const Writing& writing, std::uint64_t seed, engineer::Patience patience,
                   engineer::CallLog* calls);

  evaluate::OpenedSession* session_;
  std::unique_ptr<llm::Transport> transport_;
  std::unique_ptr<llm::Client> planner_client_, coder_client_;
  /// `coder_correspondent_` only where planner and coder are two models.
  std::unique_ptr<engineer::Correspondent> correspondent_, coder_correspondent_;
  std::unique_ptr<engineer::Planner> catalog_planner_, written_planner_, seeded_planner_;
  std::unique_ptr<engineer::Coder> catalog_coder_, written_coder_, seeded_coder_;
  engineer::Planner* planner_ = nullptr;  // of those above
  engineer::Coder* coder_ = nullptr;
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
