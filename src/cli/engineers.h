// Planner and coder of a search, as `--engineer` and the options of models say.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "cli/engineer_choice.h"
#include "cli/model_choice.h"
#include "cli/session.h"
#include "engineer/catalog.h"
#include "engineer/logged_correspondent.h"
#include "engineer/model_correspondent.h"
#include "search/driver.h"

namespace ksearch::cli {

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
  bool recorded = false;                        ///< the list of calls answers, nobody is asked
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

/// What planner and coder are made of; all is borrowed.
struct Cast {
  const task::Task* task = nullptr;
  kernel::Dialect dialect = kernel::Dialect::cpp;
  /// As it was measured when the run began: a resumed run asks and rates as before.
  const kernel::HardwareProfile* device = nullptr;
  const engineer::Catalog* catalog = nullptr;
  const Writing* writing = nullptr;  ///< null: the catalog alone
  std::uint64_t seed = 1;            ///< the run's
};

class Engineers {
 public:
  /// `patience` and `calls` are for one who writes.
  explicit Engineers(const Cast& cast, engineer::Patience patience = {},
                     engineer::CallLog* calls = nullptr);
  engineer::Planner& planner() const { return *planner_; }
  engineer::Coder& coder() const { return *coder_; }
  /// With a session that measures.
  search::Hands hands(evaluate::OpenedSession& session) const;

 private:
  void write(const Cast& cast, engineer::Patience patience, engineer::CallLog* calls);
  void correspond(const Cast& cast, engineer::Patience patience, engineer::CallLog* calls);
  void call_models(const Cast& cast, engineer::Patience patience, engineer::CallLog* calls);

  std::unique_ptr<llm::Transport> transport_;
  std::unique_ptr<llm::Client> planner_client_, coder_client_;
  /// `coder_correspondent_` only where planner and coder are two models.
  std::unique_ptr<engineer::Correspondent> correspondent_, coder_correspondent_;
  std::unique_ptr<engineer::Planner> catalog_planner_, written_planner_, seeded_planner_;
  std::unique_ptr<engineer::Coder> catalog_coder_, written_coder_, seeded_coder_;
  engineer::Planner* planner_ = nullptr;  // of those above
  engineer::Coder* coder_ = nullptr;
};

/// Where a search starts: the naive program, as the session measured it.
search::Started start_of(const evaluate::OpenedSession& session);

}  // namespace ksearch::cli
