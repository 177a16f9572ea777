#include "search/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "os/files.h"
#include "search/driver_base.h"
#include "search/recorder.h"
#include "store/journal.h"
#include "tree/world_model.h"

namespace ksearch::search {
namespace {

using store::JournalLine;

/// A question as it was when a driver first saw it: the tree may change before the answer is told.
struct Asked {
  Request request;
  tree::Tree tree;
};

class Again {
 public:
  Again(const store::RunData& data, std::string text, Engine engine, const Hands& hands)
      : data_(data), text_(std::move(text)), engine_(std::move(engine)), hands_(hands) {}

  base::Result<Rerun> run(const engineer::FindProgram& find) {
    expect(store::journal_header());
    for (const JournalLine& line : data_.journal.lines) {
      if (!result_.difference.empty()) return result_;
      if (line.kind != JournalLine::Kind::told) continue;  // follow from those
      const std::string where = fmt::format("journal.jsonl:{}", line.line);
      KS_TRY(Told told, parse_told(line.json, where, find));
      tell(std::move(told), where);
    }
    if (result_.told == 0)
      return base::environment_error((data_.folder / "journal.jsonl").string(),
                                     "nothing was told: the run was killed before its first step, "
                                     "or the file was cut",
                                     "ksearch resume begins it; or restore the file from a copy");
    if (!result_.difference.empty()) return result_;
    if (at_ < text_.size())
      result_.difference = "journal.jsonl goes on with lines that follow from nothing before them";
    else if (engine_.ended())
      compare_trees();
    result_.missing = missing();
    return result_;
  }

 private:
  std::string missing() const {
    const auto& lines = data_.journal.lines;
    std::string text = lines.empty() ? "" : fmt::format("journal.jsonl:{}", lines.back().line);
    if (!engine_.ended())
      text +=
          " is its last line: the run has not ended (it goes on, was stopped, or the file was "
          "cut)";
    else if (at_ > text_.size())
      text += " is its last line: of what follows from it something is missing";
    else
      text.clear();
    for (const std::string& note : data_.journal.notes) text += (text.empty() ? "" : "; ") + note;
    return text;
  }

  void tell(Told told, const std::string& where) {
    if (auto* answered = std::get_if<Answered>(&told.what))
      if (!think_again(*answered, where)) return;
    ++result_.told;
    expect(store::told_line(result_.told, to_json(told)), where);
    if (!result_.difference.empty()) return;
    std::string lines;
    for (const base::Json& line : reader_lines(engine_.tell(told)))
      lines += store::event_line(line);
    expect(lines, where);
    // After an edit of the user's, questions are written anew.
    if (std::holds_alternative<Edited>(told.what)) asked_.clear();
    for (const Request& request : engine_.requests()) {
      if (!is_thought(request)) continue;
      const auto known = asked_.find(request.id);
      if (known == asked_.end() || known->second.request.asked != request.asked)
        asked_.insert_or_assign(request.id, Asked{request, engine_.tree()});
    }
  }

  /// False where there was an answer and now there is none: the difference says why.
  bool think_again(Answered& answered, const std::string& where) {
    const auto asked = asked_.find(answered.id);
    if (asked == asked_.end()) return true;  // it was measured
    ++result_.thought;
    Answered now = think(hands_, asked->second.request, asked->second.tree);
    if (is_lost(now) && !is_lost(answered)) {
      const auto reason = [](const auto& reply) {
        return std::get<kernel::Lost>(reply.what).reason;
      };
      const auto* plan = std::get_if<engineer::PlanReply>(&now.reply);
      result_.difference = fmt::format(
          "{}: {}", where, plan ? reason(*plan) : reason(std::get<engineer::CodeReply>(now.reply)));
      return false;
    }
    answered = std::move(now);
    return true;
  }

  /// The journal goes on with `text`. Its end may be missing, where the run was killed.
  void expect(std::string_view text, const std::string& where = "journal.jsonl:1") {
    const std::string_view there = std::string_view(text_).substr(std::min(at_, text_.size()));
    const auto part = std::ranges::mismatch(text, there);
    at_ += text.size();
    if (part.in1 == text.end() || part.in2 == there.end()) return;
    differs(text, there, static_cast<std::size_t>(part.in1 - text.begin()), where);
  }

  /// Says where the journal parts from what follows now from the line at `where`, `same` bytes into
  /// both.
  void differs(std::string_view now, std::string_view there, std::size_t same,
               const std::string& where) {
    const std::size_t line = now.rfind('\n', same == 0 ? 0 : same - 1) + 1;
    const std::string_view recorded = there.substr(line, there.find('\n', line) - line);
    const std::string_view before(text_.data(), text_.size() - there.size() + line);
    const std::string whole_line = fmt::format("\n{}\n", recorded);
    const std::string place = fmt::format("journal.jsonl:{}", 1 + std::ranges::count(before, '\n'));
    const auto is_told = [](std::string_view text) { return text.starts_with(R"({"n":)"); };
    const bool again = before.ends_with(whole_line);
    if (!again && (now.find(whole_line, line) != std::string_view::npos ||
                   (is_told(recorded) && !is_told(now.substr(line)))))
      result_.difference = fmt::format(
          "{}: of what follows from {} something is missing before this line", place, where);
    else if (again || before.find(whole_line) != std::string_view::npos)
      result_.difference = place + ": this line stands there a second time";
    if (!result_.difference.empty()) return;
    const auto glimpse = [&](std::string_view of) {
      constexpr std::size_t kBefore = 80, kAll = 400;
      const std::size_t from = std::max(line, same - std::min(same, kBefore));
      return of.substr(from, std::min(kAll, of.find('\n', same) - from));
    };
    result_.difference = fmt::format("{} is another\n  recorded: ...{}\n  now:      ...{}", place,
                                     glimpse(there), glimpse(now));
  }

  void compare_trees() {
    const auto there = os::read_file(data_.folder / "world_model.json");
    const std::string now = base::to_text(tree::world_model_json(engine_.tree()));
    if (!there || *there != now) result_.difference = "world_model.json is another";
  }

  const store::RunData& data_;
  const std::string text_;  // of the journal
  Engine engine_;
  const Hands& hands_;
  std::map<RequestId, Asked> asked_;
  std::size_t at_ = 0;
  Rerun result_;
};

}  // namespace

base::Result<Rerun> rerun(const store::RunData& data, const kernel::Definition& definition,
                          engineer::Planner& planner, engineer::Coder& coder) {
  KS_TRY(const Config config,
         parse_config(data.info.search, (data.folder / "run.json").string() + ": search"));
  KS_TRY(Engine engine, Engine::make(config));
  KS_TRY(std::string text, os::read_file(data.folder / "journal.jsonl"));
  text.resize(data.journal.good_bytes);
  Hands hands;
  hands.planner = &planner;
  hands.coder = &coder;
  return Again(data, std::move(text), std::move(engine), hands).run([&](const std::string& hash) {
    return store::read_program(data.folder, hash, definition);
  });
}

}  // namespace ksearch::search
