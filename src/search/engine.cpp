#include "search/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "search/duplicate.h"
#include "search/engine_state.h"
#include "tree/world_model.h"

namespace ksearch::search {
namespace {

using base::Match;

/// The score K-Search wrote for a solution, whatever it was called then.
std::optional<double> score_in_eval(const base::Json& eval) {
  if (!eval.is_object()) return std::nullopt;
  const auto number = [](const base::Json& json, const char* key) -> std::optional<double> {
    const auto it = json.find(key);
    if (it == json.end() || !it->is_number() || it->get<double>() <= 0) return std::nullopt;
    return it->get<double>();
  };
  if (const auto factor = number(eval, "mean_vs_baseline_factor")) return factor;
  if (const auto metrics = eval.find("metrics"); metrics != eval.end() && metrics->is_object()) {
    if (const auto score = number(*metrics, "score")) return score;
  }
  return number(eval, "score");
}

event::Asked asked_event(const Request& request) {
  event::Asked asked{request.id, std::string(kind(request)), {}, 0, {}, {}};
  std::visit(Match{[&](const engineer::PlanRequest& plan) {
                     const bool propose = plan.kind == engineer::PlanRequest::Kind::propose;
                     asked.what = propose ? "propose" : "revise";
                     if (plan.cycle) asked.node_id = plan.cycle->node_id;
                   },
                   [&](const engineer::CodeRequest& code) {
                     asked.node_id = code.node_id;
                     asked.attempt = code.attempt;
                     if (code.action) asked.what = code.action->title;
                   },
                   [&](const EvaluateRequest& evaluate) {
                     asked.node_id = evaluate.node_id;
                     asked.attempt = evaluate.attempt;
                     asked.program = evaluate.program;
                   },
                   [&](const CertifyRequest& certify) {
                     asked.node_id = certify.node_id;
                     asked.program = certify.program;
                     asked.what = fmt::format("rank {}", certify.rank);
                   }},
             request.what);
  return asked;
}

}  // namespace

base::Result<Engine> Engine::make(Config config) {
  KS_RETURN_IF_ERROR(check_config(config));
  KS_TRY(auto strategy, make_strategy(config.strategy));
  auto state = std::make_unique<State>(std::move(config));
  state->strategy = std::move(strategy);
  return Engine(std::move(state));
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

std::vector<event::Event> Engine::tell(const Told& told) {
  State& s = *state_;
  s.events.clear();
  s.spent.wall = std::max(s.spent.wall, told.at);
  const bool start = std::holds_alternative<Started>(told.what);
  if (can_reopen() && std::holds_alternative<Reopened>(told.what)) {
    s.reopen();
    s.advance();
  } else if (s.phase == Phase::ended) {
    s.note("told after the end, dropped");
  } else if (start != (s.phase == Phase::fresh)) {
    s.note(start ? "a second start, dropped" : "told before the start, dropped");
  } else {
    std::visit(Match{[&](const Started& what) { s.on_started(what); },
                     [&](const Answered& what) { s.on_answered(what); }, [&](const Elapsed&) {},
                     [&](const Expired& what) { s.on_expired(what); },
                     [&](const Stop& what) { s.on_stop(what); },
                     [&](const Reopened&) { s.note("the run has not ended: nothing to reopen"); },
                     [&](const Edited& what) {
                       constexpr int kNoCap = 1000000;
                       s.apply_edits(what.script, s.tree.revision(), kNoCap, "person");
                       s.proposed_at = -1;  // the planner may have more to say about another tree
                     }},
               told.what);
    s.advance();
  }
  return std::move(s.events);
}

RequestId Engine::State::ask(decltype(Request::what) what) {
  std::visit(Match{[&](engineer::PlanRequest& plan) { plan.id = next_id; },
                   [&](engineer::CodeRequest& code) { code.id = next_id; }, [](auto&) {}},
             what);
  requests.push_back({next_id++, std::move(what), 1});
  emit(asked_event(requests.back()));
  return requests.back().id;
}

void Engine::State::close_request(RequestId id) {
  std::erase_if(requests, [&](const Request& request) { return request.id == id; });
  lost.erase(id);
}

void Engine::State::on_started(const Started& started) {
  emit(event::RunStarted{config.task, config.target, config.device, config.engineer,
                         config.strategy, config.seed, config.limits});
  if (!started.world_model.is_null()) {
    auto loaded = tree::read_world_model(started.world_model, "world model");
    if (!loaded) {
      note(fmt::format("the world model could not be read, started from a lone root: {}",
                       loaded.error().text()));
    } else {
      tree = std::move(loaded->tree);
      for (const tree::RefusedNode& refused : loaded->refused) {
        note(fmt::format("node {} refused: {}: {}", refused.node_id, refused.label, refused.why));
      }
      for (std::string& text : loaded->notes) note(std::move(text));
    }
  }
  std::vector<tree::Node> scored;
  for (const tree::Node* node : tree.nodes()) {
    if (node->ours.score || !node->solution.solution_id) continue;
    if (const auto score = score_in_eval(node->solution.eval)) {
      scored.push_back(*node);
      scored.back().ours.score = score;
    }
  }
  for (tree::Node& node : scored) {
    note(fmt::format("{} keeps the score {} of its file, measured elsewhere", node.id,
                     *node.ours.score));
    tree.replace(std::move(node));
  }
  if (started.root_program) {
    const std::string hash = started.root_program->hash();
    normal_index.emplace(normal_hash(*started.root_program), hash);
    program_index.emplace(hash, programs.size());
    programs.push_back(
        {*started.root_program, hash, {}, tree.root().id, 0, 0, started.root_outcome});
  }
  if (started.root_outcome) {
    if (const auto score = started.root_outcome->score()) {
      tree::Node root = tree.root();
      root.ours.score = score->value;
      root.ours.score_low = score->low;
      tree.replace(std::move(root));
    }
  }
  for (const auto& [id, why] : tree::unreachable(tree, view().rules)) {
    note(fmt::format("node {} can never be reached: {}", id, why));
  }
  phase = Phase::searching;
}

/// Also of answers that nobody waits for any more: they were paid for.
void Engine::State::spend(const engineer::Usage& usage) {
  spent.tokens += usage.tokens_in + usage.tokens_out;
  spent.tokens_out += usage.tokens_out;
  spent.tokens_cached += usage.tokens_cached;
  spent.cost_usd += usage.cost_usd;
  spent.calls += usage.calls;
  spent.tokens_estimated = spent.tokens_estimated || usage.estimated;
}

void Engine::State::announce_answer(const Request& request, std::string answer, std::string what,
                                    const engineer::Usage& usage) {
  const std::int64_t tokens = usage.tokens_in + usage.tokens_out;
  spend(usage);
  emit(event::Answered{request.id, std::string(kind(request)), std::move(answer), std::move(what),
                       tokens, usage.cost_usd});
  if (tokens > 0 || usage.cost_usd > 0) emit(event::BudgetSpent{spent, config.limits});
}

void Engine::State::on_answered(const Answered& answered) {
  const auto it = std::ranges::find(requests, answered.id, &Request::id);
  if (it == requests.end()) {
    const bool known = answered.id > 0 && answered.id < next_id;
    if (const auto* plan = std::get_if<engineer::PlanReply>(&answered.reply)) spend(plan->usage);
    if (const auto* code = std::get_if<engineer::CodeReply>(&answered.reply)) spend(code->usage);
    note(known ? fmt::format("a second or late answer to request {} was dropped", answered.id)
               : fmt::format("an answer to request {}, which was never asked, was dropped",
                             answered.id));
    return;
  }
  const bool fits = it->what.index() == answered.reply.index();
  if (!fits) {
    note(fmt::format("the answer to request {} ({}) is of another kind, dropped", it->id,
                     kind(*it)));
    return;
  }
  std::visit(Match{[&](const engineer::PlanReply& reply) { on_plan(*it, reply); },
                   [&](const engineer::CodeReply& reply) {
                     const Request request = *it;
                     on_code(request, reply);
                   },
                   [&](const kernel::EvaluateReply& reply) {
                     if (const auto* gone = std::get_if<kernel::Lost>(&reply)) {
                       return on_lost(*it, gone->reason);
                     }
                     const Request request = *it;
                     on_outcome(request, std::get<kernel::Outcome>(reply));
                   },
                   [&](const CertifyReply& reply) {
                     const Request request = *it;
                     on_certificate(request, reply);
                   }},
             answered.reply);
}

void Engine::State::on_lost(Request& request, const std::string& reason,
                            const engineer::Usage& usage) {
  announce_answer(request, "lost", reason, usage);
  ++request.asked;
  if (++lost[request.id] < config.lost_limit) return;
  lost_out = true;
  stop = Stop{
      fmt::format("the {} request was lost {} times: {}", kind(request), lost[request.id], reason),
      phase == Phase::searching};
}

void Engine::State::on_expired(const Expired& expired) {
  const auto it = std::ranges::find(requests, expired.id, &Request::id);
  if (it == requests.end()) return note(fmt::format("request {} is not open", expired.id));
  ++it->asked;
  note(
      fmt::format("request {} ({}) was not answered in time and is open again", it->id, kind(*it)));
}

void Engine::State::on_stop(const Stop& asked) {
  if (phase == Phase::certifying && asked.certify) {
    return note("stopping: the certificate is being made; stop again to give it up");
  }
  if (stop && asked.certify) return;
  stop = asked;
  lost_out = false;
}

void Engine::State::advance() {
  while (phase == Phase::searching) {
    if (const auto reason = reason_to_end()) return wind_down(*reason);
    for (Cycle& cycle : cycles) {
      if (cycle.step == Cycle::Step::ended) ask_revise(cycle);
    }
    if (!start_work()) return;
  }
  // A stop that came during certification: nobody waits for the certificate any more.
  if (phase == Phase::certifying && stop && !stop->certify) {
    requests.clear();
    finish("stopped", stop->why);
  }
}

const std::deque<Request>& Engine::requests() const { return state_->requests; }
const Request* Engine::request(RequestId id) const {
  const auto it = std::ranges::find(state_->requests, id, &Request::id);
  return it == state_->requests.end() ? nullptr : &*it;
}
Phase Engine::phase() const { return state_->phase; }
const Config& Engine::config() const { return state_->config; }
const tree::Tree& Engine::tree() const { return state_->tree; }
const event::Spent& Engine::spent() const { return state_->spent; }
const Counts& Engine::counts() const { return state_->counts; }
const std::deque<ProgramRecord>& Engine::programs() const { return state_->programs; }
const ProgramRecord* Engine::program(const std::string& hash) const {
  return state_->find_program(hash);
}
const ProgramRecord* Engine::best() const { return state_->find_program(state_->best); }
const ProgramRecord* Engine::winner() const { return state_->find_program(state_->winner); }
const std::vector<CertificateRecord>& Engine::certificates() const { return state_->certificates; }
const std::string& Engine::status() const { return state_->status; }
const std::string& Engine::end_reason() const { return state_->end_reason; }
bool Engine::can_reopen() const { return ended() && state_->lost_out; }

}  // namespace ksearch::search
