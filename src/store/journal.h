// The journal: JSON lines, appended and flushed one at a time.
//
//   {"format":"ksearch.journal/1","sum":"..."}
//   {"n":1,"told":{...},"sum":"..."}            the state is a fold of these, in order
//   {"event":"node_inserted",...,"sum":"..."}   what came of the line before, for readers
//
// `sum`: sealed_line.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace ksearch::store {

struct JournalLine {
  enum class Kind { told, event } kind = Kind::told;
  std::size_t line = 0;  ///< in the file, from 1
  base::Json json;       ///< the told value, or the event
};

struct JournalContents {
  std::vector<JournalLine> lines;
  std::uint64_t told = 0;          ///< number of told lines
  std::uint64_t good_bytes = 0;    ///< up to the end of the last whole line
  std::vector<std::string> notes;  ///< "journal.jsonl:17: a torn last line was dropped"
};

/// Reads a journal. A last line without a line feed, or an empty file, is a torn write: dropped,
/// with a note. Anything else that is not as written is an error with file:line; a newer format is
/// refused.
base::Result<JournalContents> parse_journal(std::string_view text, std::string_view file_name);

std::string journal_header();
std::string told_line(std::uint64_t n, const base::Json& told);
std::string event_line(const base::Json& event);

}  // namespace ksearch::store
