#include "cli/drive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "engineer/seeded.h"
#include "engineer/written.h"
#include "report/ablation.h"
#include "report/report_text.h"
#include "report/summary.h"
#include "search/figures.h"
#include "search/recorder.h"

namespace ksearch::cli {
namespace {

search::CertifyReply certified(evaluate::OpenedSession& session,
                               const search::CertifyRequest& request,
                               const evaluate::Progress& progress) {
  auto certificate = session.certify(request.code, request.select, progress);
  if (!certificate) return kernel::Lost{certificate.error().text()};
  return std::move(*certificate);
}

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

base::Result<std::optional<Writing>> open_writing(const Context& context, const task::Task& task,
                                                  const kernel::HardwareProfile& device,
                                                  const EngineerChoice& choice,
                                                  const engineer::Catalog& catalog,
                                                  kernel::Dialect dialect, Reach reach) {
  if (choice.writer == EngineerChoice::Writer::none) return std::nullopt;
  KS_TRY(engineer::Prompts prompts,
         load_prompts(context.home, task, device, choice, catalog, dialect));
  Writing writing{choice, std::move(prompts), std::move(reach), context.environment, {}, {}};
  if (choice.writer == EngineerChoice::Writer::model) {
    KS_TRY(auto endpoints, endpoints_of(context, choice, writing.reach));
    writing.planner = std::move(endpoints.first);
    writing.coder = std::move(endpoints.second);
  }
  return writing;
}

base::Result<std::pair<llm::Endpoint, llm::Endpoint>> endpoints_of(const Context& context,
                                                                   const EngineerChoice& choice,
                                                                   const Reach& reach) {
  const ModelOptions& model = reach.model;
  KS_TRY(const ModelFiles files, load_model_files(context, model));
  const auto endpoint = [&](const std::string& named) {
    return endpoint_of(context, files, model, named.empty() ? choice.value : named);
  };
  KS_TRY(llm::Endpoint planner, endpoint(model.planner));
  KS_TRY(llm::Endpoint coder, endpoint(model.coder));
  for (const llm::Endpoint* one : {&planner, &coder})
    if (reach.cost_limit && !one->price)
      return base::usage_error("--cost", "nobody knows what " + one->model + " costs",
                               "give its prices with --prices FILE, or limit --tokens");
  return std::pair(std::move(planner), std::move(coder));
}

Engineers::Engineers(const Search& search, engineer::Patience patience, engineer::CallLog* calls)
    : session_(search.session) {
  const task::Task& task = session_->task();
  engineer::CatalogContext context;
  context.catalog = search.catalog;
  context.definition = &task.definition;
  context.workloads = task.with_role(kernel::Role::feedback);
  context.device = session_->device();
  if (const auto naive = task.naive.find(session_->dialect()); naive != task.naive.end())
    context.naive = naive->second;
  catalog_planner_ = std::make_unique<engineer::CatalogPlanner>(std::move(context));
  catalog_coder_ = std::make_unique<engineer::CatalogCoder>(search.catalog);
  planner_ = catalog_planner_.get();
  coder_ = catalog_coder_.get();
  if (search.writing) write(search, std::move(patience), calls);
}

void Engineers::call_models(const Writing& writing, std::uint64_t seed, engineer::Patience patience,
                            engineer::CallLog* calls) {
  transport_ = llm::make_curl_transport();
  const ModelOptions& model = writing.reach.model;
  llm::ClientOptions options;
  options.limits.whole = writing.reach.answer_time;
  options.limits.silence = std::min(options.limits.silence, options.limits.whole);
  options.max_output = model.max_output;
  options.stream = model.stream;
  options.first_wait = model.retry_wait;
  options.seed = seed;
  options.cancelled = patience.give_up;
  options.say = patience.say;
  planner_client_ = std::make_unique<llm::Client>(*writing.planner, transport_.get(), options);
  correspondent_ = engineer::make_model_correspondent(planner_client_.get(), calls);
  if (writing.coder->model == writing.planner->model) return;
  coder_client_ = std::make_unique<llm::Client>(*writing.coder, transport_.get(), options);
  coder_correspondent_ = engineer::make_model_correspondent(coder_client_.get(), calls);
}

void Engineers::write(const Search& search, engineer::Patience patience, engineer::CallLog* calls) {
  const Writing& writing = *search.writing;
  const EngineerChoice& choice = writing.choice;
  if (choice.writer == EngineerChoice::Writer::model)
    call_models(writing, search.engine->config().seed, std::move(patience), calls);
  else if (choice.writer == EngineerChoice::Writer::folder)
    correspondent_ = engineer::make_folder_correspondent(choice.value, std::move(patience));
  else
    correspondent_ = engineer::make_exec_correspondent(
        {choice.value, writing.reach.answer_time, writing.environment}, std::move(patience));
  written_planner_ =
      std::make_unique<engineer::WrittenPlanner>(&writing.prompts, correspondent_.get());
  written_coder_ = std::make_unique<engineer::WrittenCoder>(
      &writing.prompts, &session_->task().definition,
      coder_correspondent_ ? coder_correspondent_.get() : correspondent_.get());
  planner_ = written_planner_.get();
  coder_ = written_coder_.get();
  if (!choice.catalog) return;
  seeded_planner_ = std::make_unique<engineer::SeededPlanner>(
      search.catalog, catalog_planner_.get(), written_planner_.get());
  seeded_coder_ = std::make_unique<engineer::SeededCoder>(search.catalog, catalog_coder_.get(),
                                                          written_coder_.get());
  planner_ = seeded_planner_.get();
  coder_ = seeded_coder_.get();
}

search::Hands Engineers::hands() const {
  search::Hands hands;
  hands.planner = planner_;
  hands.coder = coder_;
  hands.evaluate = [session = session_](const evaluate::EvaluateRequest& request,
                                        const evaluate::Progress& progress) {
    return session->evaluate(request, progress);
  };
  hands.certify = [session = session_](const search::CertifyRequest& request,
                                       const evaluate::Progress& progress) {
    return certified(*session, request, progress);
  };
  return hands;
}

search::Started Engineers::start() const {
  search::Started start;
  const auto& naive = session_->task().naive;
  if (const auto found = naive.find(session_->dialect()); found != naive.end()) {
    start.root_program = found->second;
    start.root_outcome = session_->session().naive_outcome();
  }
  return start;
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
  patience.say = [&](const std::string& what) {
    search.watcher->on({elapsed(), event::Note{what}});
  };
  std::unique_ptr<engineer::CallLog> calls;
  if (search.writing && search.writing->planner) {
    KS_TRY(calls, engineer::CallLog::open(search.run->folder() / "calls.jsonl"));
  }
  const Engineers engineers(search, std::move(patience), calls.get());
  search::StoreRecorder recorder(search.run);
  search::DriverOptions options;
  options.clock = &clock;
  options.already = search.already;
  options.recorder = &recorder;
  options.sink = search.watcher;
  options.leave = [] { return InterruptWatch::interrupted(); };
  options.pause = pause_after_loss;
  if (search.certify_only && search.engine->phase() == search::Phase::searching)
    options.stop_asked = [] { return search::Stop{"asked to certify", true}; };
  options.abandon = [&] { over = true; };
  const bool several = search.engine->config().lanes > 1;
  return (several ? search::run_overlapped : search::run_one_at_a_time)(
      *search.engine, engineers.start(), engineers.hands(), options);
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
