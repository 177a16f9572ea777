#include "store/journal.h"

#include <fmt/format.h>

#include "store/sealed_line.h"

namespace ksearch::store {
namespace {

using base::Json;

constexpr std::string_view kJournalFormat = "ksearch.journal/1";

base::Result<void> check_header(const Json& json, const std::string& where) {
  base::ObjectReader in(json, where);
  const std::string format = in.text("format");
  KS_RETURN_IF_ERROR(in.finish());
  if (format != kJournalFormat) {
    return base::environment_error(
        where,
        fmt::format("the journal is of format {}, this ksearch reads {}", format, kJournalFormat),
        "use a newer ksearch");
  }
  return {};
}

base::Result<void> add_line(JournalContents& contents, Json json, std::size_t number,
                            const std::string& where) {
  if (json.contains("event")) {
    contents.lines.push_back({JournalLine::Kind::event, number, std::move(json)});
    return {};
  }
  base::ObjectReader in(json, where);
  const std::int64_t n = in.integer("n");
  Json told = in.object("told");
  KS_RETURN_IF_ERROR(in.finish());
  if (n != static_cast<std::int64_t>(contents.told) + 1) {
    const auto last = static_cast<std::int64_t>(contents.told);
    return base::environment_error(
        where,
        n == last ? fmt::format("damaged: told line {} stands there twice", n)
                  : fmt::format("damaged: told line {} follows {}, lines are {}", n, last,
                                n > last ? "missing" : "in another order"),
        "restore the file from a copy");
  }
  ++contents.told;
  contents.lines.push_back({JournalLine::Kind::told, number, std::move(told)});
  return {};
}

}  // namespace

base::Result<JournalContents> parse_journal(std::string_view text, std::string_view file_name) {
  JournalContents contents;
  std::size_t at = 0;
  for (std::size_t number = 1; at < text.size(); ++number) {
    const std::string where = fmt::format("{}:{}", file_name, number);
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) {
      contents.notes.push_back(where + ": a torn last line was dropped");
      break;
    }
    KS_TRY(Json json, open_line(text.substr(at, end - at), where));
    if (number == 1) {
      KS_RETURN_IF_ERROR(check_header(json, where));
    } else {
      KS_RETURN_IF_ERROR(add_line(contents, std::move(json), number, where));
    }
    at = end + 1;
    contents.good_bytes = at;
  }
  return contents;
}

std::string journal_header() { return sealed_line(Json{{"format", kJournalFormat}}); }

std::string told_line(std::uint64_t n, const Json& told) {
  return sealed_line(Json{{"n", n}, {"told", told}});
}

std::string event_line(const Json& event) { return sealed_line(event); }

}  // namespace ksearch::store
