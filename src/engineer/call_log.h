// RUN/calls.jsonl: every call of a model, before it is made and after it ended, with what came. So
// nothing that was paid for is asked for twice after a kill, and what was spent is known to the
// call. A run can be replayed from it without a network.
//
//   {"format":"ksearch.calls/1"}
//   {"begun":{"request":7,"asked":1,"again":0,"part":0,"number":0,"kind":"code","model":...}}
//   {"ended":{the same five numbers, "seconds", "text", "stop", "tokens", "cost_usd", "failure"}}
//   {"gave_up":{"request":7,"asked":1,"again":0,"prompt":..., "failure":{...}}}  after its last
//   call
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engineer/correspondent.h"
#include "llm/client.h"
#include "store/append_file.h"

namespace ksearch::engineer {

/// A call as the log has it.
struct LoggedCall {
  int asked = 1, part = 0, number = 0;
  std::string model;
  std::string prompt;              ///< hash of the question
  std::int64_t tokens_asked = 0;   ///< of the question, estimated
  std::optional<llm::Call> ended;  ///< none: we were killed while it was under way
};

/// A letter that got no answer: all its calls were made, or the user or the clock stopped it.
struct GivenUp {
  int asked = 1;
  std::string prompt;
  llm::Failure failure;
  std::size_t calls = 0;  ///< of the letter, until then: there are more if it was taken up again
};

/// What is known of a letter, of all times it was asked, in order.
struct LoggedLetter {
  std::vector<LoggedCall> calls;
  std::vector<GivenUp> given_up;
};

/// Thread-safe.
class CallLog {
 public:
  /// Makes the file, or reads it; a torn last line is dropped.
  static base::Result<std::unique_ptr<CallLog>> open(const std::filesystem::path& path);

  LoggedLetter letter(std::uint64_t request, int again) const;
  base::Result<void> begun(const Letter& letter, const LoggedCall& call);
  base::Result<void> ended(const Letter& letter, const llm::Call& call);
  base::Result<void> gave_up(const Letter& letter, const std::string& prompt,
                             const llm::Failure& failure);

 private:
  explicit CallLog(store::AppendFile file) : file_(std::move(file)) {}
  base::Result<void> take(const base::Json& line, const std::string& where);
  void keep(std::uint64_t request, int again, LoggedCall call);

  mutable std::mutex mutex_;  // of everything below
  store::AppendFile file_;
  std::map<std::pair<std::uint64_t, int>, LoggedLetter> letters_;  // by request and again
};

}  // namespace ksearch::engineer
