// RUN/calls.jsonl: what whoever answers in writing said. Every call of a model is there before it
// is made and after it ended; every answer of a program, a folder or an agent, once it has come. So
// nothing that was paid for is asked for twice after a kill, and what was spent is known to the
// call. A run can be replayed from it without a network.
//
//   {"format":"ksearch.calls/2","sum":...}     sealed lines (store/sealed_line.h); of version 1
//   bare
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
  std::string model;               ///< empty where no model was called
  std::string prompt;              ///< hash of the question
  std::int64_t tokens_asked = 0;   ///< of the question, estimated
  std::optional<llm::Call> ended;  ///< none: we were killed while it was under way
  std::size_t line = 0;            ///< where it began, in a list that was read
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
  /// Of a file that is there, which stays as it is: nothing can be added.
  static base::Result<std::unique_ptr<CallLog>> read(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// A last line was torn; of one that was read.
  bool torn() const { return torn_; }
  /// What is lost where a search was told of more calls than stand in it; empty where none is.
  std::string lacks(std::int64_t told) const;
  LoggedLetter letter(std::uint64_t request, int again) const;
  base::Result<void> begun(const Letter& letter, const LoggedCall& call);
  base::Result<void> ended(const Letter& letter, const llm::Call& call);
  base::Result<void> gave_up(const Letter& letter, const std::string& prompt,
                             const llm::Failure& failure);

 private:
  explicit CallLog(std::filesystem::path path) : path_(std::move(path)) {}
  /// How many bytes of it are whole lines.
  base::Result<std::size_t> take_all(std::string_view text);
  base::Result<void> take(const base::Json& line, std::size_t number, const std::string& where);
  const LoggedCall* begun_as(std::uint64_t request, int again, const LoggedCall& call) const;
  bool keep(std::uint64_t request, int again, LoggedCall call);
  std::string text_of(const base::Json& line) const;

  const std::filesystem::path path_;
  bool torn_ = false;
  bool sealed_ = true;
  mutable std::mutex mutex_;  // of everything below
  std::optional<store::AppendFile> file_;
  std::map<std::pair<std::uint64_t, int>, LoggedLetter> letters_;  // by request and again
};

}  // namespace ksearch::engineer
