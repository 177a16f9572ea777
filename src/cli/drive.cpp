#include "cli/drive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "report/ablation.h"
#include "report/report_text.h"
#include "report/summary.h"
#include "search/figures.h"
#include "search/recorder.h"

namespace ksearch::cli {
namespace {

/// Waits longer each time something is lost: 1, 2, 4, ... seconds, a minute at most.
void pause_after_loss(int times_lost) {
  const int seconds = std::min(60, 1 << std::min(times_lost - 1, 6));
  for (int i = 0; i < seconds * 10 && !InterruptWatch::interrupted(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

std::vector<std::string> path_ids(const search::Engine& engine, const std::string& node) {
  std::vector<std::string> ids;
  for (const tree::Node* step : engine.tree().path(node)) ids.push_back(step->id);
  return ids;
}

/// Why an answer could not be used is said at once, to whoever writes the next one; it is a note of
/// the run, too, when the last answer is in. Said once is enough.
class SaidOnce final : public event::Sink {
 public:
  explicit SaidOnce(event::Sink* next) : next_(next) {}

  void say(std::chrono::nanoseconds at, const std::string& what) {
    {
      const std::lock_guard lock(mutex_);
      said_.insert(what);
    }
    next_->on({at, event::Note{what}});
  }
  void on(const event::Event& event) override {
    if (const auto* note = std::get_if<event::Note>(&event.what)) {
      const std::lock_guard lock(mutex_);
      if (said_.erase(note->text) > 0) return;
    }
    next_->on(event);
  }

 private:
  event::Sink* next_;  // borrowed
  std::mutex mutex_;   // of said_: each lane speaks on a thread of its own
  std::set<std::string> said_;
};

const search::ProgramRecord* winner_or_best(const search::Engine& engine) {
  return engine.winner() ? engine.winner() : engine.best();
}

/// How much slower the winner is without a step; nothing where that program did not pass.
base::Json ablation_entry(const report::Variant& variant, const kernel::EvaluateReply& reply) {
  base::Json entry{{"step", variant.left_out}, {"program", variant.program.hash()}};
  if (const auto* lost = std::get_if<kernel::Lost>(&reply)) {
    entry["why_not"] = lost->reason;
    return entry;
  }
  const auto& outcome = std::get<kernel::Outcome>(reply);
  const auto parent = search::ratio_to(outcome, "parent");
  if (!parent) {
    entry["why_not"] = kernel::summary(outcome);
    return entry;
  }
  // The ratio is winner's time / variant's; the step's gain is its inverse.
  const kernel::Ratio& r = *parent;
  entry["gain"] = {{"value", 1 / r.value}, {"low", 1 / r.high}, {"high", 1 / r.low}};
  return entry;
}

}  // namespace

std::unique_ptr<Watcher> make_watcher(const Context& context, std::string_view task, bool json) {
  const int fd = json ? STDERR_FILENO : STDOUT_FILENO;
  const auto term = context.environment.find("TERM");
  const bool dumb = term == context.environment.end() || term->second == "dumb";
  const bool live = isatty(fd) == 1 && !dumb;
  const report::Style style = style_of(context.environment, live);
  return live ? make_live_watcher(fd, style, task) : make_line_watcher(fd, style);
}

base::Result<void> drive(const Search& search) {
  const base::SteadyClock clock;
  const auto began = clock.now();
  const auto elapsed = [&] { return search.already + (clock.now() - began); };
  std::atomic<bool> over = false;  // nobody waits for planner and coder any more
  engineer::Patience patience;
  patience.give_up = [&, wall = search.engine->config().limits.wall] {
    return over || InterruptWatch::interrupted() || (wall && elapsed() >= *wall);
  };
  SaidOnce sink(search.watcher);
  patience.say = [&](const std::string& what) { sink.say(elapsed(), what); };
  std::unique_ptr<engineer::CallLog> calls;
  if (search.writing) {
    KS_TRY(calls, engineer::CallLog::open(search.run->folder() / "calls.jsonl"));
    if (const std::string lost = calls->lacks(search.engine->spent().calls); !lost.empty())
      patience.say(lost);
  }
  KS_TRY(const kernel::HardwareProfile device,
         kernel::parse_hardware(search.run->info().device, "run.json: device"));
  const Cast cast{&search.session->task(), search.session->dialect(),   &device, search.catalog,
                  search.writing,          search.engine->config().seed};
  const Engineers engineers(cast, std::move(patience), calls.get());
  search::StoreRecorder recorder(search.run);
  search::DriverOptions options;
  options.clock = &clock;
  options.already = search.already;
  options.recorder = &recorder;
  options.sink = &sink;
  options.leave = [] { return InterruptWatch::interrupted(); };
  options.pause = pause_after_loss;
  if (search.certify_only && search.engine->phase() == search::Phase::searching)
    options.stop_asked = [] { return search::Stop{"asked to certify", true}; };
  options.abandon = [&] { over = true; };
  const bool several = search.engine->config().lanes > 1;
  return (several ? search::run_overlapped : search::run_one_at_a_time)(
      *search.engine, start_of(*search.session), engineers.hands(*search.session), options);
}

base::Result<void> ablate(evaluate::OpenedSession& session, const engineer::Catalog& catalog,
                          const search::Engine& engine, const std::filesystem::path& run,
                          const evaluate::Progress& progress) {
  const search::ProgramRecord* winner = winner_or_best(engine);
  if (!winner) return {};
  KS_TRY(const auto variants,
         report::leave_one_out(catalog, path_ids(engine, winner->node_id), winner->program));
  if (variants.empty()) {
    progress(
        "no step of the winner can be left out: the catalog has no program without one of them");
    return {};
  }
  base::Json json{{"format", "ksearch.ablation/1"}, {"program", winner->hash}};
  json["steps"] = base::Json::array();
  for (const report::Variant& variant : variants) {
    if (InterruptWatch::interrupted()) return {};
    const evaluate::Progress inner = [&](std::string_view what) {
      progress(fmt::format("without {}: {}", variant.left_out, what));
    };
    evaluate::EvaluateRequest request{variant.program, winner->program,
                                      winner->outcome ? winner->outcome->select : kernel::Select{},
                                      std::nullopt};
    json["steps"].push_back(ablation_entry(variant, session.evaluate(request, inner)));
  }
  return os::write_file(run / "ablation.json", base::to_text(json));
}

base::Result<int> conclude(const Context& context, const store::Run& run,
                           const search::Engine& engine, bool json) {
  const report::RunSummary summary = report::summarise(run.info(), engine);
  const std::string text = base::to_text(report::to_json(summary));
  KS_RETURN_IF_ERROR(os::write_file(run.folder() / "summary.json", text));
  const report::RunFiles files = report::read_run_files(run.folder());
  const int fd = json ? STDERR_FILENO : STDOUT_FILENO;
  const report::Style style = style_of(context.environment, isatty(fd) == 1);
  fmt::print(json ? stderr : stdout, "{}",
             report::summary_text(style, summary, files, run.folder().string()));
  std::fflush(stdout);
  if (json) fmt::print("{}", text);
  if (!engine.ended() || engine.status() == "stopped") return summary.best ? kDone : kNothingPassed;
  return engine.status() == "passed" ? kDone : kNothingPassed;
}

}  // namespace ksearch::cli
