// Whoever answers in writing: a person or an agent through files, or a program. A question is text,
// an answer is text; what they mean is written.h's.
//
//   WrittenPlanner, WrittenCoder ── Letter ──> Correspondent ── RawReply | Refused | Lost ──> back
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "engineer/engineer.h"
#include "llm/reply.h"
#include "os/files.h"

namespace ksearch::engineer {

struct Letter {
  std::uint64_t request = 0;  ///< of the search: names the letter, also after a resumption
  int again = 0;              ///< how many answers to it could not be used
  std::string kind;           ///< "plan-revise", "code", "debug", ...
  std::string title;          ///< of the action, or empty
  std::string text;
  std::size_t shared = 0;  ///< bytes at the start that every letter of the run shares
  bool plan = false;       ///< one JSON object is wanted; else a program
  int asked = 1;           ///< times the search asked: 2 and on after a loss
  std::string refusal;     ///< "answer 0007 could not be used: ...": of the one before, or empty
};

struct LetterReply {
  /// Refused: asking again in other words would not help.
  std::variant<llm::RawReply, Refused, Lost> what;
  /// Of this letter, where it was counted; else it is estimated from the texts.
  std::optional<Usage> usage = {};
};

/// One question and one answer, four characters a token. What is longer than anybody reads
/// (kLargestAnswer) counts nothing.
Usage estimated_usage(const Letter& letter, const LetterReply& reply);

/// Longer than any program or plan: what reads it must not take minutes.
inline constexpr std::size_t kLargestAnswer = 1u << 20;

/// "0007", and "0007b", "0007c" where it is asked again.
std::string letter_name(const Letter& letter);

class Correspondent {
 public:
  virtual ~Correspondent() = default;
  /// "dir:PATH", "exec:CMD"
  virtual std::string name() const = 0;
  virtual LetterReply ask(const Letter& letter) = 0;
};

/// How a correspondent waits. Functions are called on the asking thread.
struct Patience {
  std::function<bool()> give_up;                ///< looked at some times a second
  std::function<void(const std::string&)> say;  ///< what is waited for
  std::chrono::milliseconds look_every{200};
};

/// Letters are FOLDER/NNNN-KIND.md, answers FOLDER/NNNN-answer.md or .txt, taken when they have
/// stopped growing. A letter that is there is not written again, and an answer that is there is
/// taken: so a resumed run goes on with the same request.
std::unique_ptr<Correspondent> make_folder_correspondent(std::filesystem::path folder,
                                                         Patience patience);
/// An error where the folder holds letters of another run, or cannot be made.
base::Result<void> check_new_folder(const std::filesystem::path& folder);

struct ExecOptions {
  std::string command;  ///< for /bin/sh -c
  std::chrono::milliseconds limit{600000};
  os::Environment environment;  ///< of the program; KSEARCH_REQUEST and KSEARCH_KIND are added
};
/// The letter on the program's standard input, the answer on its standard output. Ending with
/// anything but 0, taking too long or writing too much is Lost, with the end of its standard error.
std::unique_ptr<Correspondent> make_exec_correspondent(ExecOptions options, Patience patience);

}  // namespace ksearch::engineer
