#include "search/recorder.h"

#include <fmt/format.h>

#include <utility>

#include "tree/world_model.h"

namespace ksearch::search {
namespace {

using store::JournalLine;

struct Folded {
  Engine engine;
  std::vector<base::Json> unwritten;  ///< reader lines of the last told line that are not there
  std::string note;                   ///< of the first reader line that does not follow, or empty
};

base::Result<Folded> fold(const std::filesystem::path& folder, const store::RunInfo& info,
                          const store::JournalContents& journal,
                          const kernel::Definition& definition, event::Sink* sink) {
  KS_TRY(const Config config,
         parse_config(info.search, (folder / "run.json").string() + ": search"));
  KS_TRY(Engine engine, Engine::make(config));
  const auto find = [&](const std::string& hash) {
    return store::read_program(folder, hash, definition);
  };
  std::vector<base::Json> expected;
  std::size_t written = 0;
  std::string note;
  for (const JournalLine& line : journal.lines) {
    const std::string where = fmt::format("{}:{}", (folder / "journal.jsonl").string(), line.line);
    if (line.kind == JournalLine::Kind::event) {
      // Readers only: what is said here differs between versions, and the state does not hang on
      // it.
      const bool follows = written < expected.size() && line.json == expected[written];
      if (!follows && note.empty())
        note = where + ": an event line that does not follow from the lines before it; not used";
      ++written;
      continue;
    }
    KS_TRY(const Told told, parse_told(line.json, where, find));
    const std::vector<event::Event> events = engine.tell(told);
    if (sink) {
      for (const event::Event& event : events) sink->on(event);
    }
    expected = reader_lines(events);
    written = 0;
  }
  if (written < expected.size()) {
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(written));
  } else {
    expected.clear();
  }
  return Folded{std::move(engine), std::move(expected), std::move(note)};
}

}  // namespace

std::vector<base::Json> reader_lines(std::span<const event::Event> events) {
  std::vector<base::Json> lines;
  for (const event::Event& event : events) {
    if (!std::holds_alternative<event::StageProgress>(event.what)) {
      lines.push_back(event::to_json(event));
    }
  }
  return lines;
}

base::Result<void> StoreRecorder::told(const Told& told) {
  for (const kernel::Program* program : programs_in(told)) {
    KS_RETURN_IF_ERROR(run_->save_program(*program));
  }
  return run_->append_told(to_json(told));
}

base::Result<void> StoreRecorder::events(std::span<const event::Event> events,
                                         const Engine& engine) {
  KS_RETURN_IF_ERROR(run_->append_events(reader_lines(events)));
  // A snapshot costs about 20 us a node, so that a large tree gets one every few cycles only.
  constexpr std::size_t kNodesACycle = 500;
  bool due = false;
  for (const event::Event& event : events) {
    if (std::holds_alternative<event::CycleEnded>(event.what)) {
      due = due || ++cycles_ > engine.tree().size() / kNodesACycle;
    }
    due = due || std::holds_alternative<event::RunStarted>(event.what) ||
          std::holds_alternative<event::RunEnded>(event.what);
  }
  if (!due) return {};
  cycles_ = 0;
  return run_->replace_world_model(tree::world_model_json(engine.tree()));
}

base::Result<Resumed> resume(store::Run& run, const kernel::Definition& definition,
                             event::Sink* sink) {
  KS_TRY(Folded folded, fold(run.folder(), run.info(), run.contents(), definition, sink));
  KS_RETURN_IF_ERROR(run.append_events(folded.unwritten));
  KS_RETURN_IF_ERROR(run.replace_world_model(tree::world_model_json(folded.engine.tree())));
  const auto already = folded.engine.spent().wall;
  std::vector<std::string> notes = run.contents().notes;
  if (run.contents().told == 0)
    notes.push_back("the journal holds nothing yet: the search begins at the beginning");
  if (!folded.note.empty()) notes.push_back(std::move(folded.note));
  return Resumed{std::move(folded.engine), already, std::move(notes)};
}

base::Result<void> reopen(store::Run& run, Engine& engine) {
  if (!engine.can_reopen()) return {};
  StoreRecorder recorder(&run);
  const Told told{engine.spent().wall, Reopened{}};
  KS_RETURN_IF_ERROR(recorder.told(told));
  return recorder.events(engine.tell(told), engine);
}

base::Result<Resumed> reconstruct(const store::RunData& data,
                                  const kernel::Definition& definition) {
  KS_TRY(Folded folded, fold(data.folder, data.info, data.journal, definition, nullptr));
  const auto already = folded.engine.spent().wall;
  return Resumed{std::move(folded.engine), already, data.journal.notes};
}

}  // namespace ksearch::search
