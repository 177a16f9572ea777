// What the list of calls knows of a letter: the answer or the failure it ended with, and what that
// took. Internal to `engineer`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engineer/call_log.h"
#include "engineer/correspondent.h"
#include "llm/client.h"

namespace ksearch::engineer {

/// What is known of a letter before it is asked.
struct Past {
  std::vector<std::string> parts;       ///< of the answer
  std::optional<llm::Said> answer;      ///< a whole one
  std::optional<llm::Failure> failure;  ///< this time it was given up
  std::optional<llm::Failure> stopped;  ///< and so it was by the user or the clock, for good
  Usage usage;                          ///< of calls that the search has not heard of
  int calls = 0;                        ///< how many of this letter were made, ever
};

/// Calls of later times are there where a run is replayed: they have not happened yet.
Past past_of(const LoggedLetter& logged, const Letter& letter, const std::string& prompt);
void add_call(Usage& usage, const LoggedCall& call);

decltype(LetterReply::what) letter_reply(const llm::Said& said);
/// `model`: empty where none was called.
decltype(LetterReply::what) letter_reply(const llm::Failure& failure, const std::string& model);

}  // namespace ksearch::engineer
