#include "cli/agent_run.h"

#include <algorithm>

#include "cli/run_info.h"
#include "engineer/recorded_agent.h"
#include "search/driver_base.h"
#include "search/recorder.h"

namespace ksearch::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kNewsLines = 60;  // what an agent that looks seldom gets to read

}  // namespace

bool is_question(const search::Request& request) {
  return std::holds_alternative<engineer::PlanRequest>(request.what) ||
         std::holds_alternative<engineer::CodeRequest>(request.what);
}

base::Result<std::unique_ptr<AgentRun>> AgentRun::start(const Context& context,
                                                        AgentRunOptions options) {
  std::filesystem::path task_folder;
  std::optional<store::Claim> claim;
  if (options.resume) {
    KS_TRY(const store::RunData data, store::read_run(options.folder));
    options.on = options_of(data.info);
    options.catalog = data.info.engineer.starts_with("catalog");
    task_folder = data.info.task_folder;
  } else {
    KS_TRY(const task::Task task, open_task(context.home, options.on.task, options.on.target));
    task_folder = task.folder;
    KS_TRY(store::Claim taken, store::Claim::take(options.folder));
    claim.emplace(std::move(taken));
  }
  KS_TRY(task::Task task, task::load_task(task_folder, options.on.target));
  if (!options.on.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, options.on.where));
  std::unique_ptr<AgentRun> run(new AgentRun(context, std::move(options), std::move(task)));
  KS_TRY(run->catalog_,
         engineer::load_catalog(
             context.home.catalog_folder(run->task_, dialect_for(run->options_.on.target)),
             run->task_.definition));
  run->claim_ = std::move(claim);
  run->thread_ = std::thread([raw = run.get()] { raw->work(); });
  return run;
}

AgentRun::AgentRun(const Context& context, AgentRunOptions options, task::Task task)
    : context_(context),
      options_(std::move(options)),
      folder_(std::filesystem::absolute(options_.folder).lexically_normal()),
      task_(std::move(task)) {}

AgentRun::~AgentRun() {
  {
    const std::lock_guard lock(mutex_);
    leave_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void AgentRun::work() {
  const auto done = search();
  const std::lock_guard lock(mutex_);
  if (!done) failed_ = done.error().text();
  ended_ = true;
  question_.reset();
  question_of_ = 0;
  changed_.notify_all();
}

base::Result<void> AgentRun::search() {
  std::unique_ptr<evaluate::OpenedSession> session;
  KS_RETURN_IF_ERROR(open(session));
  std::optional<kernel::HardwareProfile> device;
  {
    const std::lock_guard lock(mutex_);
    KS_TRY(device, kernel::parse_hardware(run_->info().device, "run.json: device"));
  }
  const Engineers engineers({&task_, session->dialect(), &*device, &catalog_});
  {
    const std::lock_guard lock(mutex_);
    recorder_.emplace(&*run_);
    began_ = Steady::now();
    if (engine_->phase() == search::Phase::fresh) KS_RETURN_IF_ERROR(tell(start_of(*session)));
  }
  return loop(engineers.hands(*session));
}

/// References and baselines, the run's folder, the engine and the prompts.
base::Result<void> AgentRun::open(std::unique_ptr<evaluate::OpenedSession>& session) {
  KS_TRY(session, open_session(context_, task_.folder, options_.on,
                               [this](std::string_view what) { set_now(what); }));
  const std::lock_guard lock(mutex_);
  EngineerChoice choice;
  choice.catalog = options_.catalog;
  kernel::HardwareProfile device = session->device();
  if (options_.resume) {
    KS_TRY(run_, store::Run::open(folder_));
    KS_TRY(device, kernel::parse_hardware(run_->info().device, "run.json: device"));
    KS_TRY(search::Resumed resumed, search::resume(*run_, task_.definition));
    engine_.emplace(std::move(resumed.engine));
    already_ = resumed.already;
    for (std::string& note : resumed.notes) news_.push_back(std::move(note));
  } else {
    RunOptions run;
    run.on = options_.on;
    run.engineer = options_.catalog ? "catalog+agent" : "agent";
    run.evaluations = options_.evaluations;
    run.time = options_.time;
    run.stagnation = options_.stagnation;
    search::Config config;
    config.task = task_.definition.name;
    config.target = options_.on.target;
    config.dialect = session->dialect();
    config.device = device.name;
    config.engineer = run.engineer;
    config.seed = options_.on.seed;
    config.limits.evaluations = options_.evaluations;
    config.limits.wall = options_.time;
    config.stagnation = options_.stagnation;
    if (!options_.catalog) config.first_nodes = kFirstNodes;
    KS_TRY(engine_, search::Engine::make(config));
    KS_TRY(const auto python, context_.home.python(options_.on.python));
    KS_TRY(run_, store::Run::create(std::move(*claim_),
                                    run_info(run, *session, config, catalog_, folder_, python)));
    claim_.reset();
  }
  KS_TRY(calls_, engineer::CallLog::open(folder_ / "calls.jsonl"));
  KS_RETURN_IF_ERROR(run_->replace_file(
      "baselines.json", base::to_text(evaluate::to_json(session->session().baselines()))));
  KS_TRY(prompts_,
         load_prompts(context_.home, task_, device, choice, catalog_, session->dialect()));
  return {};
}

base::Result<void> AgentRun::loop(const search::Hands& hands) {
  std::unique_lock lock(mutex_);
  while (!engine_->ended() && !leave_) {
    if (!inbox_.empty()) {
      auto what = std::move(inbox_.front());
      inbox_.pop_front();
      KS_RETURN_IF_ERROR(tell(std::move(what)));
      continue;
    }
    const search::Request request = engine_->requests().front();
    if (is_question(request)) {
      KS_RETURN_IF_ERROR(ask(lock, request, hands));
      continue;
    }
    // Without the lock: the agent may look around and edit meanwhile.
    lock.unlock();
    search::Answered answered{request.id, {}};
    const auto progress = [this](std::string_view what) { set_now(what); };
    if (const auto* job = std::get_if<search::EvaluateRequest>(&request.what))
      answered.reply = hands.evaluate(job->job, progress);
    else
      answered.reply = hands.certify(std::get<search::CertifyRequest>(request.what), progress);
    lock.lock();
    now_.clear();
    KS_RETURN_IF_ERROR(tell(std::move(answered)));
  }
  return {};
}

/// The catalog answers where it takes part and has something; else the agent is asked.
base::Result<void> AgentRun::ask(std::unique_lock<std::mutex>& lock, const search::Request& request,
                                 const search::Hands& catalog) {
  const auto* plan = std::get_if<engineer::PlanRequest>(&request.what);
  const auto* code = std::get_if<engineer::CodeRequest>(&request.what);
  if (options_.catalog && question_of_ != request.id) {
    if (code && catalog_.find(code->node_id))
      return tell(search::Answered{request.id, catalog.coder->code(*code)});
    const bool step = plan && plan->cycle && catalog_.find(plan->cycle->node_id);
    if (plan && (!plan->cycle || step)) {
      engineer::PlanReply reply = catalog.planner->plan(*plan, engine_->tree());
      if (step || !std::holds_alternative<engineer::Nothing>(reply.what))
        return tell(search::Answered{request.id, std::move(reply)});
    }
  }
  if (question_of_ != request.id) {
    if (auto kept = kept_answer(request)) return tell(std::move(*kept));
    question_ = plan ? prompts_->plan(*plan, engine_->tree()) : prompts_->code(*code);
    question_of_ = request.id;
    changed_.notify_all();
  }
  const auto woken = [this] { return leave_ || !inbox_.empty(); };
  const auto limit = engine_->config().limits.wall;
  if (!limit) {
    changed_.wait(lock, woken);
  } else if (!changed_.wait_for(lock, std::max(std::chrono::nanoseconds(0), *limit - elapsed()),
                                woken)) {
    question_.reset();
    question_of_ = 0;
    return tell(search::Elapsed{});
  }
  return {};
}

/// An answer that was accepted, and not told before the server was killed. The lock is held.
std::optional<search::Answered> AgentRun::kept_answer(const search::Request& request) const {
  if (calls_->letter(request.id, 0).calls.empty()) return std::nullopt;
  engineer::RecordedAgent agent(&*prompts_, &task_.definition, calls_.get());
  const search::Hands hands{&agent, &agent, {}, {}};
  search::Answered answered = search::think(hands, request, engine_->tree());
  if (search::is_lost(answered)) return std::nullopt;  // to another question
  return answered;
}

/// The lock is held.
base::Result<void> AgentRun::tell(decltype(search::Told::what) what) {
  const search::Told told{std::max(elapsed(), engine_->spent().wall), std::move(what)};
  KS_RETURN_IF_ERROR(recorder_->told(told));
  const std::vector<event::Event> events = engine_->tell(told);
  KS_RETURN_IF_ERROR(recorder_->events(events, *engine_));
  for (const event::Event& event : events) {
    if (const auto* evaluated = std::get_if<event::Evaluated>(&event.what))
      last_evaluated_ = evaluated->program;
    if (std::string line = event::summary(event); !line.empty()) news_.push_back(std::move(line));
  }
  while (news_.size() > kNewsLines) news_.pop_front();
  // An edit changes what questions tell of: they are written anew.
  if (!engine_->request(question_of_) || std::holds_alternative<search::Edited>(told.what)) {
    question_.reset();
    question_of_ = 0;
  }
  changed_.notify_all();
  return {};
}

void AgentRun::set_now(std::string_view what) {
  const std::lock_guard lock(mutex_);
  now_ = what;
}

std::chrono::nanoseconds AgentRun::elapsed() const { return already_ + (Steady::now() - began_); }

}  // namespace ksearch::cli
