// Kill a run at any moment, resume it, and it ends as one that was never killed: the same journal,
// tree, best and budget, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "os/files.h"
#include "search/recorder.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 5;

os::TempFolder temp_folder() {
  const fs::path shm = "/dev/shm";
  return os::TempFolder::create("ksearch-resume", fs::exists(shm) ? shm : fs::path()).value();
}

std::string text_of(const fs::path& path) { return os::read_file(path).value(); }

Config run_config() {
  Config c = config();
  c.limits.evaluations = 6;
  c.stagnation = 2;
  return c;
}

store::RunInfo info() {
  store::RunInfo i;
  i.run = "r";
  i.task = "copy";
  i.target = "cpu";
  i.search = to_json(run_config());
  return i;
}

Started start() {
  Started s;
  s.root_program = program("naive");
  s.root_outcome = measured(0.1);
  return s;
}

/// Stops the run before or after the n-th write, as a kill would: by an error, or for good.
class Killer final : public Recorder {
 public:
  Killer(store::Run* run, int writes, bool for_good)
      : recorder_(run), left_(writes), for_good_(for_good) {}

  base::Result<void> told(const Told& told) override {
    KS_RETURN_IF_ERROR(die());
    KS_RETURN_IF_ERROR(recorder_.told(told));
    return die();
  }
  base::Result<void> events(std::span<const event::Event> events, const Engine& engine) override {
    KS_RETURN_IF_ERROR(die());
    return recorder_.events(events, engine);
  }

 private:
  base::Result<void> die() {
    if (left_-- > 0) return {};
    if (for_good_) ::kill(::getpid(), SIGKILL);
    return base::internal_error("test", "killed");
  }
  StoreRecorder recorder_;
  int left_;
  bool for_good_;
};

/// Runs (or runs on) the run in `folder`. `writes`: killed at that one; negative: never.
bool run_on(const fs::path& folder, int writes = -1, bool for_good = false) {
  Scripted scripted(kSeed, false);
  base::ManualClock clock;
  std::optional<store::Run> run;
  std::optional<Engine> engine;
  DriverOptions options{.clock = &clock};
  if (fs::exists(folder / "run.json")) {
    run = store::Run::open(folder).value();
    Resumed resumed = resume(*run, copy_task()).value();
    engine = std::move(resumed.engine);
    options.already = resumed.already;
  } else {
    run = store::Run::create(folder, info()).value();
    engine = Engine::make(run_config()).value();
  }
  StoreRecorder recorder(&*run);
  Killer killer(&*run, writes, for_good);
  options.recorder = writes >= 0 ? static_cast<Recorder*>(&killer) : &recorder;
  return run_one_at_a_time(*engine, start(), hands(scripted, clock, 3s), options).has_value();
}

/// What an uninterrupted run leaves.
struct Whole {
  os::TempFolder folder = temp_folder();
  fs::path path = folder.path() / "run";
  std::string journal, world_model;
  base::Json state;

  Whole() {
    EXPECT_TRUE(run_on(path));
    journal = text_of(path / "journal.jsonl");
    world_model = text_of(path / "world_model.json");
    state = reconstruct(store::read_run(path).value(), copy_task()).value().engine.state();
  }
};

const Whole& whole() {
  static const Whole kWhole;
  return kWhole;
}

/// The journal is the state (a fold of it), so equal journals are equal engines.
void expect_whole(const fs::path& folder) {
  ASSERT_EQ(text_of(folder / "journal.jsonl"), whole().journal);
  ASSERT_EQ(text_of(folder / "world_model.json"), whole().world_model);
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Resume, ARunThatEndedIsFoldedIntoTheStateItHad) {
  Scripted scripted(kSeed, false);
  base::ManualClock clock;
  Engine engine = Engine::make(run_config()).value();
  ASSERT_TRUE(run_one_at_a_time(engine, start(), hands(scripted, clock, 3s), {.clock = &clock}));
  EXPECT_EQ(engine.state(), whole().state);
}

TEST(Resume, TheRunOfTheseTestsIsNoTrivialOne) {
  EXPECT_EQ(whole().state["spent"]["evaluations"], 6);
  EXPECT_GT(count(whole().journal, "\"told\""), 15u);
  EXPECT_GT(count(whole().journal, "node_closed"), 1u);
  EXPECT_EQ(whole().state["phase"], static_cast<int>(Phase::ended));
}

TEST(Resume, KilledAtEveryWrite) {
  for (int writes = 0;; ++writes) {
    const os::TempFolder folder = temp_folder();
    const fs::path path = folder.path() / "run";
    const bool done = run_on(path, writes);
    if (!done) ASSERT_TRUE(run_on(path)) << writes;
    expect_whole(path);
    if (HasFatalFailure()) FAIL() << "killed at write " << writes;
    if (done) {
      EXPECT_GT(writes, 45);
      break;
    }
  }
}

TEST(Resume, KilledForGoodByTheSystem) {
  for (int writes = 0; writes < 60; writes += 4) {
    const os::TempFolder folder = temp_folder();
    const fs::path path = folder.path() / "run";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(run_on(path, writes, true) ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
                (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    ASSERT_TRUE(run_on(path));
    expect_whole(path);
    if (HasFatalFailure()) FAIL() << "killed at write " << writes;
  }
}

/// A copy of the whole run, whose journal is cut again and again: resuming makes it whole.
class CutRun {
 public:
  CutRun() { fs::copy(whole().path, path_, fs::copy_options::recursive); }

  void cut_and_resume(std::size_t bytes) {
    fs::resize_file(path_ / "journal.jsonl", bytes);
    ASSERT_TRUE(run_on(path_)) << "cut at byte " << bytes;
    expect_whole(path_);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "cut at byte " << bytes;
  }

 private:
  os::TempFolder folder_ = temp_folder();
  fs::path path_ = folder_.path() / "run";
};

TEST(Resume, TheJournalCutAtEveryByteOfTheLastLine) {
  CutRun run;
  const std::string& journal = whole().journal;
  const std::size_t last = journal.rfind('\n', journal.size() - 2) + 1;
  for (std::size_t bytes = last; bytes <= journal.size(); ++bytes) {
    run.cut_and_resume(bytes);
    if (HasFatalFailure()) return;
  }
}

TEST(Resume, TheJournalCutAtEveryLineAndInIt) {
  CutRun run;
  const std::string& journal = whole().journal;
  for (std::size_t begin = 0; begin < journal.size();) {
    const std::size_t end = journal.find('\n', begin) + 1;
    for (const std::size_t bytes : {begin, begin + 1, (begin + end) / 2, end - 1}) {
      run.cut_and_resume(bytes);
      if (HasFatalFailure()) return;
    }
    begin = end;
  }
}

TEST(Resume, ATornLastLineIsDroppedAndSaid) {
  const os::TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "run";
  fs::copy(whole().path, path, fs::copy_options::recursive);
  fs::resize_file(path / "journal.jsonl", whole().journal.size() - 3);
  store::Run run = store::Run::open(path).value();
  const Resumed resumed = resume(run, copy_task()).value();
  EXPECT_THAT(resumed.notes,
              testing::ElementsAre(testing::HasSubstr("a torn last line was dropped")));
}

/// What resuming says of the whole run whose journal is `text`.
std::vector<std::string> notes_of(const std::string& text) {
  const os::TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "run";
  fs::copy(whole().path, path, fs::copy_options::recursive);
  EXPECT_TRUE(os::write_file(path / "journal.jsonl", text));
  store::Run run = store::Run::open(path).value();
  return resume(run, copy_task()).value().notes;
}

TEST(Resume, EventLinesOutOfOrderOrTwiceAreSaid) {
  const std::string& journal = whole().journal;
  EXPECT_THAT(notes_of(journal), testing::IsEmpty());
  const std::size_t first = journal.find("{\"event\"");
  const std::size_t second = journal.find('\n', first) + 1;
  const std::size_t third = journal.find('\n', second) + 1;
  ASSERT_EQ(journal.substr(second, 8), "{\"event\"");
  const std::string a = journal.substr(first, second - first);
  const std::string b = journal.substr(second, third - second);
  const auto said = testing::ElementsAre(testing::HasSubstr("does not follow"));
  EXPECT_THAT(notes_of(journal.substr(0, first) + b + a + journal.substr(third)), said);
  EXPECT_THAT(notes_of(journal.substr(0, third) + b + journal.substr(third)), said);
}

TEST(Resume, AJournalThatIsGoneIsSaid) {
  EXPECT_THAT(notes_of(""), testing::Contains(testing::HasSubstr("begins at the beginning")));
}

TEST(Resume, AMissingOrChangedProgramIsAnErrorThatNamesIt) {
  const os::TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "run";
  fs::copy(whole().path, path, fs::copy_options::recursive);
  const std::string hash = program("naive").hash();
  {
    std::ofstream out(path / "programs" / hash / "copy.cpp");
    out << "something else";
  }
  const auto changed = reconstruct(store::read_run(path).value(), copy_task());
  ASSERT_FALSE(changed.has_value());
  EXPECT_THAT(changed.error().text(), testing::HasSubstr("damaged: the program's hash is"));
  fs::remove_all(path / "programs" / hash);
  EXPECT_FALSE(reconstruct(store::read_run(path).value(), copy_task()).has_value());
}

TEST(Driver, StopsBetweenRequestsAndTellsProgress) {
  Scripted scripted(kSeed, false);
  base::ManualClock clock;
  Engine engine = Engine::make(run_config()).value();
  event::Collector heard;
  DriverOptions options{.clock = &clock, .sink = &heard};
  options.stop_asked = [&]() -> std::optional<Stop> {
    if (engine.spent().evaluations < 2) return std::nullopt;
    return Stop{"Ctrl-C", true};
  };
  Hands h = hands(scripted, clock, 3s);
  h.evaluate = [&, inner = h.evaluate](const evaluate::EvaluateRequest& request,
                                       const evaluate::Progress& progress) {
    progress("compile");
    return inner(request, progress);
  };
  ASSERT_TRUE(run_one_at_a_time(engine, start(), h, options).has_value());
  EXPECT_EQ(engine.status(), "stopped");
  EXPECT_EQ(engine.spent().evaluations, 2);
  int progress = 0;
  for (const event::Event& e : heard.events) {
    progress += std::holds_alternative<event::StageProgress>(e.what);
  }
  EXPECT_EQ(progress, 2);
}

TEST(Driver, PausesBeforeALostRequestIsAskedAgain) {
  Scripted scripted(kSeed, true);
  base::ManualClock clock;
  Engine engine = Engine::make(run_config()).value();
  int pauses = 0;
  DriverOptions options{.clock = &clock};
  options.pause = [&](int) { ++pauses; };
  ASSERT_TRUE(run_one_at_a_time(engine, start(), hands(scripted, clock, 3s), options).has_value());
  EXPECT_GT(pauses, 0);
}

}  // namespace
}  // namespace ksearch::search
