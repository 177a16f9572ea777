// ksearch compare: strategies on the same budget of evaluations. A program is measured once and its
// outcome shared by all searches, so that they differ by what they choose and not by noise.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "report/columns.h"
#include "report/numbers.h"
#include "search/driver.h"
#include "search/figures.h"

namespace ksearch::cli {
namespace {

struct Result {
  std::string strategy;
  std::string knowledge;
  std::uint64_t seed = 0;
  double best = 0;               ///< score; 0: nothing passed
  std::int64_t evaluations = 0;  ///< spent
  std::int64_t until_best = 0;   ///< evaluations when the best was found
  std::string node;
};

/// Notes when the best came.
class BestNoter final : public event::Sink {
 public:
  explicit BestNoter(Result& result) : result_(result) {}
  void on(const event::Event& event) override {
    if (std::holds_alternative<event::Evaluated>(event.what)) ++evaluated_;
    if (const auto* best = std::get_if<event::BestImproved>(&event.what)) {
      result_.best = best->score.value_or(0);
      result_.node = best->node_id;
      result_.until_best = evaluated_;
    }
  }

 private:
  Result& result_;
  std::int64_t evaluated_ = 0;
};

/// Outcomes by program and the parent it was timed beside.
using Known = std::map<std::pair<std::string, std::string>, kernel::Outcome>;

kernel::EvaluateReply shared(evaluate::OpenedSession& session, Known& known,
                             const evaluate::EvaluateRequest& request,
                             const evaluate::Progress& progress) {
  const std::pair key{request.program.hash(),
                      request.parent ? request.parent->hash() : std::string()};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  // Beside another parent the program's own figures are the same.
  for (const auto& [other, outcome] : known)
    if (other.first == key.first) return outcome;
  kernel::EvaluateReply reply = session.evaluate(request, progress);
  if (const auto* outcome = std::get_if<kernel::Outcome>(&reply)) known.emplace(key, *outcome);
  return reply;
}

base::Result<Result> search_once(evaluate::OpenedSession& session, const engineer::Catalog& catalog,
                                 const CompareOptions& options, const std::string& strategy,
                                 std::uint64_t seed, Known& known, Watcher& watcher) {
  search::Config config;
  config.task = session.task().definition.name;
  config.target = options.on.target;
  config.dialect = session.dialect();
  config.device = session.device().name;
  config.engineer = options.engineer;
  config.strategy = strategy;
  config.seed = seed;
  config.limits.evaluations = options.evaluations;
  KS_TRY(search::Engine engine, search::Engine::make(config));
  Result result;
  result.strategy = strategy;
  result.seed = seed;
  BestNoter noter(result);
  const Engineers engineers({&session.task(), session.dialect(), &session.device(), &catalog});
  search::Hands hands = engineers.hands(session);
  hands.evaluate = [&](const evaluate::EvaluateRequest& request,
                       const evaluate::Progress& progress) {
    return shared(session, known, request, progress);
  };
  const base::SteadyClock clock;
  search::DriverOptions driver;
  driver.clock = &clock;
  driver.sink = &noter;
  // The winners are not certified here: that takes longer than the searches.
  driver.leave = [&] {
    return engine.phase() == search::Phase::certifying || InterruptWatch::interrupted();
  };
  watcher.progress(fmt::format("{} seed {}", strategy, seed));
  KS_RETURN_IF_ERROR(search::run_one_at_a_time(engine, start_of(session), hands, driver));
  result.evaluations = engine.spent().evaluations;
  return result;
}

std::string table_of(const report::Style& style, const std::vector<Result>& results,
                     const std::string& baseline) {
  std::vector<std::vector<std::string>> rows{{"strategy", "knowledge", "seeds", "best /" + baseline,
                                              "least", "median", "evaluations to its best"}};
  std::vector<std::string> done;
  for (const Result& first : results) {
    const std::string which = first.strategy + " " + first.knowledge;
    if (std::ranges::find(done, which) != done.end()) continue;
    done.push_back(which);
    std::vector<double> best;
    double until = 0;
    for (const Result& r : results) {
      if (r.strategy != first.strategy || r.knowledge != first.knowledge) continue;
      best.push_back(r.best);
      until += static_cast<double>(r.until_best);
    }
    std::ranges::sort(best);
    const auto n = best.size();
    const double median = n % 2 == 1 ? best[n / 2] : (best[n / 2 - 1] + best[n / 2]) / 2;
    rows.push_back({first.strategy, first.knowledge, std::to_string(n),
                    report::ratio_text(best.back()), report::ratio_text(best.front()),
                    report::ratio_text(median),
                    fmt::format("{:.1f}", until / static_cast<double>(n))});
  }
  return report::table(style, rows, {false, false, true, true, true, true, true});
}

bool any_modelled(const Known& known) {
  return std::ranges::any_of(
      known, [](const auto& program) { return search::is_modelled(program.second); });
}

}  // namespace

base::Result<int> compare(const Context& context, const CompareOptions& options) {
  for (const std::string& strategy : options.strategies)
    if (auto made = search::make_strategy(strategy); !made) return std::unexpected(made.error());
  KS_TRY(task::Task task, open_task(context.home, options.on.task, options.on.target));
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect_for(options.on.target)),
                                task.definition));
  const InterruptWatch interrupts;
  const auto watcher = make_line_watcher(STDERR_FILENO, style_of(context.environment, false));
  const evaluate::Progress progress = [&](std::string_view what) { watcher->progress(what); };
  KS_TRY(const auto session, open_session(context, task.folder, options.on, progress));

  Known known;
  std::vector<Result> results;
  const engineer::Catalog reduced = engineer::without_knowledge(catalog);
  for (const std::string& strategy : options.strategies)
    for (const std::string& knowledge : options.knowledge)
      for (int seed = 1; seed <= options.seeds && !InterruptWatch::interrupted(); ++seed) {
        KS_TRY(Result result,
               search_once(*session, knowledge == "none" ? reduced : catalog, options, strategy,
                           static_cast<std::uint64_t>(seed), known, *watcher));
        result.knowledge = knowledge;
        results.push_back(std::move(result));
      }
  const std::string baseline = session->session().baselines().baseline;
  const bool modelled = any_modelled(known);
  if (options.json) {
    base::Json json{{"task", task.definition.name},  {"baseline", baseline},
                    {"budget", options.evaluations}, {"programs_measured", known.size()},
                    {"modelled", modelled},          {"searches", base::Json::array()}};
    for (const Result& r : results)
      json["searches"].push_back({{"strategy", r.strategy},
                                  {"knowledge", r.knowledge},
                                  {"seed", r.seed},
                                  {"best", r.best},
                                  {"node", r.node},
                                  {"evaluations", r.evaluations},
                                  {"evaluations_to_best", r.until_best}});
    fmt::print("{}", base::to_text(json));
  } else {
    const report::Style style = style_of(context.environment, isatty(STDOUT_FILENO) == 1);
    fmt::print("{} a search; {} {} once each\n{}", base::counted(options.evaluations, "evaluation"),
               base::counted(known.size(), "program"), modelled ? "modelled" : "measured",
               table_of(style, results, baseline));
  }
  return results.empty() ? kNothingPassed : kDone;
}

}  // namespace ksearch::cli
