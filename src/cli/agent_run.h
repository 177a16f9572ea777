// A run whose engineer asks and tells: a coding agent, over the Model Context Protocol. The search
// and what it measures live on a thread of their own; the agent looks, answers and edits from
// another.
//
//   agent ── next, submit, edit, look ──> AgentRun <── thread: session, engine, journal
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/drive.h"
#include "cli/options.h"
#include "engineer/call_log.h"
#include "search/recorder.h"

namespace ksearch::cli {

struct AgentRunOptions {
  EvaluateOptions on;
  std::string folder;    ///< of the run
  bool resume = false;   ///< go on with the run that is in `folder`
  bool catalog = false;  ///< the catalog's steps first
  std::optional<std::int64_t> evaluations;
  std::optional<std::chrono::seconds> time;
  int stagnation = 5;
};

/// For the engineer: a plan or a program is wanted. Other requests are the evaluator's.
bool is_question(const search::Request& request);

class AgentRun {
 public:
  /// Finds what can be wrong with the task and the folder; the rest goes on behind.
  static base::Result<std::unique_ptr<AgentRun>> start(const Context& context,
                                                       AgentRunOptions options);
  /// Leaves the search where it is: it can be resumed.
  ~AgentRun();
  AgentRun(const AgentRun&) = delete;

  /// Waits, at most so long, until there is a question or the run has ended; then what is there:
  /// {"state": "opening" | "question" | "working" | "ended" | "failed", "news": [...], ...}.
  base::Json next(std::chrono::milliseconds wait);
  /// An answer to the question `request` in the form that it asks for.
  base::Result<base::Json> submit(std::uint64_t request, const std::string& text);
  /// A program for a question of the kinds code, debug and improve.
  base::Result<base::Json> submit_program(std::uint64_t request, base::Json plan,
                                          std::vector<kernel::Source> files);
  /// What became of a program (its hash; empty: the last one that was evaluated).
  base::Result<base::Json> outcome(const std::string& hash);
  base::Result<base::Json> tree();
  /// Operations on the tree, as a planner's, by the user.
  base::Result<base::Json> edit(const base::Json& ops);
  base::Result<base::Json> best();
  /// Stops the search; with `certify` the best program is put to the proof first.
  base::Json stop(bool certify);

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& target() const { return options_.on.target; }

 private:
  AgentRun(const Context& context, AgentRunOptions options, task::Task task);
  void work();
  base::Result<void> search();
  base::Result<void> open(std::unique_ptr<evaluate::OpenedSession>& session);
  base::Result<void> loop(const search::Hands& hands);
  base::Result<void> tell(decltype(search::Told::what) what);
  base::Result<void> ask(std::unique_lock<std::mutex>& lock, const search::Request& request,
                         const search::Hands& catalog);
  void set_now(std::string_view what);
  std::chrono::nanoseconds elapsed() const;
  base::Result<const search::Request*> open_request(std::uint64_t id) const;
  base::Result<base::Json> accept(const search::Request& request, const std::string& text,
                                  decltype(search::Answered::reply) reply, std::string what);
  std::optional<search::Answered> kept_answer(const search::Request& request) const;

  Context context_;
  AgentRunOptions options_;
  std::filesystem::path folder_;
  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  task::Task task_;
  engineer::Catalog catalog_;
  std::optional<engineer::Prompts> prompts_;
  std::optional<store::Claim> claim_;  ///< of a new run, until the session is open
  std::optional<store::Run> run_;
  std::unique_ptr<engineer::CallLog> calls_;
  std::optional<search::Engine> engine_;
  std::optional<search::StoreRecorder> recorder_;
  std::chrono::nanoseconds already_{0};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<engineer::Question> question_;
  std::uint64_t question_of_ = 0;  ///< request that it is for; 0: none is open
  std::deque<decltype(search::Told::what)> inbox_;
  std::deque<std::string> news_;  ///< lines since the agent last looked
  std::string now_ = "opening";
  std::string last_evaluated_;
  std::string failed_;  ///< why the search ended before its end
  bool ended_ = false;
  bool leave_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace ksearch::cli
