// When the search ends, and the certification of what it found.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "search/duplicate.h"
#include "search/engine_state.h"

namespace ksearch::search {
namespace {

/// The least roofline fraction over the workloads; 0 where it is unknown.
double roofline(const kernel::Outcome& outcome) {
  const auto* measured = std::get_if<kernel::Measured>(&outcome.verdict);
  if (!measured || measured->workloads.empty()) return 0;
  double least = measured->workloads.front().roofline_fraction;
  for (const auto& timing : measured->workloads) least = std::min(least, timing.roofline_fraction);
  return least;
}

/// Measured before Modelled before Verified.
int rank_of_kind(const kernel::Outcome& outcome) {
  if (std::holds_alternative<kernel::Measured>(outcome.verdict)) return 0;
  return std::holds_alternative<kernel::Modelled>(outcome.verdict) ? 1 : 2;
}

}  // namespace

std::optional<std::chrono::nanoseconds> Engine::State::time_left() const {
  if (!config.limits.wall) return std::nullopt;
  return std::max(*config.limits.wall - spent.wall, std::chrono::nanoseconds(0));
}

bool Engine::State::evaluations_left() const {
  if (!config.limits.evaluations) return true;
  const auto open = std::ranges::count_if(requests, [](const Request& request) {
    return std::holds_alternative<EvaluateRequest>(request.what);
  });
  return spent.evaluations + open < *config.limits.evaluations;
}

std::optional<std::string> Engine::State::reason_to_end() const {
  const event::Limits& limits = config.limits;
  if (stop) return "stopped: " + stop->why;
  if (limits.evaluations && spent.evaluations >= *limits.evaluations) return "budget: evaluations";
  if (limits.wall && spent.wall >= *limits.wall) return "budget: wall time";
  if (limits.tokens && spent.tokens >= *limits.tokens) return "budget: tokens";
  if (limits.cost_usd && spent.cost_usd >= *limits.cost_usd) return "budget: cost";
  if (barren >= config.barren_limit) {
    return fmt::format("{} cycles in a row came to no evaluation", barren);
  }
  const ProgramRecord* record = find_program(best);
  if (config.roofline_stop > 0 && record && roofline(*record->outcome) >= config.roofline_stop) {
    return fmt::format("the best program reaches {:.2f} of the roofline on every workload",
                       roofline(*record->outcome));
  }
  return std::nullopt;
}

/// Drops what is open, keeps what passed, blames nobody.
void Engine::State::wind_down(const std::string& reason) {
  requests.clear();
  lost.clear();
  proposing = 0;
  for (Cycle& cycle : cycles) {
    const bool working = cycle.step == Cycle::Step::coding || cycle.step == Cycle::Step::evaluating;
    if (!working) continue;
    end_cycle(cycle,
              stop                           ? "stopped"
              : reason.starts_with("budget") ? "budget"
                                             : "run ended",
              false);
  }
  cycles.clear();
  end_reason = reason;
  emit(event::BudgetSpent{spent, config.limits});
  start_certifying();
}

void Engine::State::start_certifying() {
  std::vector<const ProgramRecord*> passed;
  for (const ProgramRecord& record : programs) {
    if (record.cycle > 0 && record.outcome && record.outcome->passed()) passed.push_back(&record);
  }
  std::ranges::stable_sort(passed, [](const ProgramRecord* a, const ProgramRecord* b) {
    const int a_kind = rank_of_kind(*a->outcome);
    const int b_kind = rank_of_kind(*b->outcome);
    if (a_kind != b_kind) return a_kind < b_kind;
    const auto a_score = a->outcome->score();
    const auto b_score = b->outcome->score();
    return (a_score ? a_score->value : 0) > (b_score ? b_score->value : 0);
  });
  for (const ProgramRecord* record : passed) candidates.push_back(record->hash);
  if (candidates.empty()) return finish(stop ? "stopped" : "nothing", end_reason);
  if (stop && !stop->certify) return finish("stopped", end_reason);
  phase = Phase::certifying;
  certify_next();
}

void Engine::State::certify_next() {
  const std::size_t rank = certificates.size();
  if (rank == candidates.size()) {
    return finish(stop ? "stopped" : "nothing", "no program passed certification");
  }
  const ProgramRecord& record = *find_program(candidates[rank]);
  ask(CertifyRequest{record.node_id, record.hash, static_cast<int>(rank) + 1, record.program,
                     record.outcome->select});
}

void Engine::State::on_certificate(const Request& request, const CertifyReply& reply) {
  const auto& asked = std::get<CertifyRequest>(request.what);
  if (const auto* gone = std::get_if<kernel::Lost>(&reply)) {
    Request& open = *std::ranges::find(requests, request.id, &Request::id);
    on_lost(open, gone->reason);
    if (!stop || stop->certify) return;
    certificates.push_back({asked.program, asked.node_id, asked.rank, std::nullopt});
    return;  // advance() ends the run
  }
  const auto& certificate = std::get<evaluate::Certificate>(reply);
  close_request(request.id);
  certificates.push_back({asked.program, asked.node_id, asked.rank, certificate});
  emit(event::Certified{asked.node_id, asked.program, asked.rank, certificate.passed,
                        certificate.summary()});
  if (certificate.only_noise()) {
    return finish(stop ? "stopped" : "nothing",
                  "the machine is too noisy to certify a time; the best program is right: search "
                  "again on a quiet one");
  }
  if (!certificate.passed) {
    note(fmt::format("{} ({}) failed its certificate and gives way to the next best", asked.node_id,
                     asked.program));
    return certify_next();
  }
  winner = asked.program;
  finish(stop ? "stopped" : "passed", end_reason);
}

void Engine::State::finish(std::string status_text, std::string reason) {
  phase = Phase::ended;
  status = std::move(status_text);
  end_reason = std::move(reason);
  std::string certificate = "none";
  if (!winner.empty()) {
    certificate = "passed";
  } else if (std::ranges::any_of(
                 certificates, [](const auto& record) { return record.certificate.has_value(); })) {
    certificate = "failed";
  }
  emit(event::RunEnded{status, end_reason, winner.empty() ? best : winner, certificate});
}

/// Tree and programs stay; the certificate is made again, of what is best then.
void Engine::State::reopen() {
  phase = Phase::searching;
  stop.reset();
  lost_out = false;
  certificates.clear();
  candidates.clear();
  winner.clear();
  status.clear();
  end_reason.clear();
  proposed_at = -1;
  for (const ProgramRecord& record : programs) {  // of which the outcome was lost: not tried yet
    if (record.cycle == 0 || record.outcome) continue;
    program_index.erase(record.hash);
    normal_index.erase(normal_hash(record.program));
  }
  note("the search goes on");
}

}  // namespace ksearch::search
