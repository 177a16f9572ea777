#include "target/process_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "target/failure.h"

namespace ksearch::target {
namespace {
using base::Json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSignalSamples = 15;
constexpr milliseconds kSignalLimit{10000};
constexpr milliseconds kEndLimit{500};
constexpr milliseconds kReadyLimit{60000};  // poisoning gigabytes of scratch comes before `ready`
// Design, section 6: the worker's sum and our bracket agree within 3% and the cost of the signal.
constexpr double kAgreement = 0.03;
// A late wake-up of the parent looks like a disagreement. It costs the program time, it never wins
// any, so some are noise; this many in a row are not.
constexpr double kLateWakeNs = 1e6;
constexpr int kDisagreementsAllowed = 20;
// Reading the order of a long batch takes the worker this much for each call.
constexpr double kOrderNs = 1000;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

ProcessWorker::ProcessWorker(std::unique_ptr<WorkerProcess> process, os::SharedMemory memory,
                             ProcessWorkerOptions options)
    : process_(std::move(process)),
      memory_(std::move(memory)),
      options_(std::move(options)),
      tokens_(options_.seed) {}

ProcessWorker::Failure ProcessWorker::fail(Failure failure) {
  process_->kill();
  return *(failed_ = std::move(failure));
}

std::variant<Json, ProcessWorker::Failure> ProcessWorker::read_reply(std::string_view line,
                                                                     std::string_view key) {
  auto message = base::parse_json(line, "worker");
  if (message && message->is_object() && message->contains(key)) return std::move(*message);
  const FaultContext context{&set_, &own_, options_.memory_limit_bytes};
  return fail(explain_message(message ? *message : Json(), context));
}

std::variant<Json, ProcessWorker::Failure> ProcessWorker::expect(std::string_view key,
                                                                 milliseconds limit) {
  const auto received = process_->receive(Clock::now() + limit);
  if (const auto* end = std::get_if<WorkerEnd>(&received)) return fail(explain_end(*end, limit));
  return read_reply(std::get<std::string>(received), key);
}

std::optional<ProcessWorker::Failure> ProcessWorker::await_loaded() {
  if (std::exchange(loaded_, true)) return std::nullopt;
  // "locked" comes before any foreign code runs: what fails until then is the environment's fault.
  const auto received = process_->receive(Clock::now() + options_.load_limit);
  const auto* line = std::get_if<std::string>(&received);
  if (!line || *line != R"({"locked":true})")
    return fail(kernel::Lost{
        fmt::format("the worker cannot begin: {}", line ? *line : process_->printed())});
  auto loaded = expect("loaded", options_.load_limit);
  if (auto* failure = std::get_if<Failure>(&loaded)) return std::move(*failure);
  return std::nullopt;
}

std::variant<std::monostate, kernel::Verdict, kernel::Lost> ProcessWorker::prepare(const Job& job) {
  const auto as_reply = [](const Failure& failure) {
    return std::visit(
        [](const auto& f) -> std::variant<std::monostate, kernel::Verdict, kernel::Lost> {
          return f;
        },
        failure);
  };
  if (failed_) return as_reply(*failed_);
  process_->resume();
  if (const auto failure = await_loaded()) return as_reply(*failure);
  set_ = Arena();
  for (const TensorShape& t : job.tensors) set_.add(t.name, t.bytes(), job.guard);
  set_.close();
  sets_ = job.sets;
  const std::size_t bytes = set_.bytes() * static_cast<std::size_t>(sets_);
  // New pages: no worker has better ones than another for being there longer.
  if (const auto emptied = memory_.resize(0); !emptied)
    return as_reply(fail(kernel::Lost{emptied.error().text()}));
  if (const auto sized = memory_.resize(bytes); !sized)
    return as_reply(fail(kernel::Lost{sized.error().text()}));
  auto prepared = options_.prepare(job, set_);
  if (const auto* verdict = std::get_if<kernel::Verdict>(&prepared)) return *verdict;
  auto& preparation = std::get<Preparation>(prepared);
  own_ = std::move(preparation.own);
  process_->send(base::to_line(preparation.message));
  for (int set = 0; set < sets_; ++set)
    draw_canaries(set_, memory_.bytes().subspan(set_.bytes() * static_cast<std::size_t>(set)));
  const auto reply = expect("prepared", options_.prepare_limit);
  if (const auto* failure = std::get_if<Failure>(&reply)) return as_reply(*failure);
  about_ = std::get<Json>(reply);
  if (const auto failure = measure_signal()) return as_reply(*failure);
  process_->stop();
  return std::monostate{};
}

std::span<std::byte> ProcessWorker::bytes(int set, std::string_view tensor) {
  const Buffer* buffer = set_.find(tensor);
  KS_CHECK(buffer && set >= 0 && set < sets_, "the job has this tensor and set");
  return memory_.bytes().subspan(set_.bytes() * static_cast<std::size_t>(set) + buffer->offset,
                                 buffer->bytes);
}

std::vector<kernel::Finding> ProcessWorker::canaries(int set) {
  KS_CHECK(set >= 0 && set < sets_, "the job has this set");
  return damaged_canaries(set_,
                          memory_.bytes().subspan(set_.bytes() * static_cast<std::size_t>(set)));
}

std::variant<ProcessWorker::Batch, ProcessWorker::Failure> ProcessWorker::batch(
    std::span<const int> order, bool poison, milliseconds limit) {
  const auto unwanted = [&](const char* what) {
    return fail(kernel::Verdict(kernel::Rejected{"timing", what}));
  };
  const std::string token = fmt::format("{:016x}", tokens_.next());
  const double cpu_before = process_->cpu_ns();
  process_->resume();
  process_->send(base::to_line({{"op", "arm"},
                                {"token", token},
                                {"order", std::vector<int>(order.begin(), order.end())},
                                {"poison", poison}}));
  const auto ready = expect("ready", kReadyLimit);
  if (const auto* failure = std::get_if<Failure>(&ready)) return *failure;
  if (std::get<Json>(ready).at("ready") != token)
    return unwanted("its worker answered twice: the time of the batch before was forged");

  const double cpu_ready = process_->cpu_ns();
  const auto start = Clock::now();
  process_->send("go");
  const auto received = process_->receive(start + limit);
  const auto stop = Clock::now();
  const double cpu_done = process_->cpu_ns();
  if (const auto* end = std::get_if<WorkerEnd>(&received)) return fail(explain_end(*end, limit));
  const auto done = read_reply(std::get<std::string>(received), "done");
  if (const auto* failure = std::get_if<Failure>(&done)) return *failure;
  if (std::get<Json>(done).at("done") != token)
    return unwanted("its worker said done with a wrong token");
  const auto calls = expect("calls", kReadyLimit);
  if (const auto* failure = std::get_if<Failure>(&calls)) return *failure;
  const std::optional<double> stop_ns = process_->stop();
  if (process_->has_unread()) return unwanted("its worker said more than it was asked");
  if (!stop_ns) return fail(explain_stop_failure());

  Batch batch{.bracket_ns = std::chrono::duration<double, std::nano>(stop - start).count(),
              .outside_cpu_ns = (cpu_ready - cpu_before) + (process_->cpu_ns() - cpu_done),
              .stop_ns = *stop_ns,
              .call_ns = {}};
  const Json& times = std::get<Json>(calls).at("calls");
  if (!times.is_array() || times.size() != order.size())
    return unwanted("its worker lost count of the calls");
  for (const Json& t : times) {
    if (!t.is_number() || !(t.get<double>() >= 0))
      return unwanted("its worker's times are no times");
    batch.call_ns.push_back(t.get<double>());
  }
  return batch;
}

/// A worker that left right after `done` is the program's doing; one that lives on and does not
/// stop within seconds is the machine's.
ProcessWorker::Failure ProcessWorker::explain_stop_failure() {
  const auto received = process_->receive(Clock::now() + kEndLimit);
  const auto* end = std::get_if<WorkerEnd>(&received);
  if (end && end->why == WorkerEnd::Why::left) return explain_end(*end, kEndLimit);
  return kernel::Lost{"the worker cannot be stopped"};
}

std::optional<ProcessWorker::Failure> ProcessWorker::measure_signal() {
  if (std::exchange(measured_signal_, true)) return std::nullopt;
  std::vector<double> samples, outside;
  for (int i = 0; i < kSignalSamples; ++i) {
    auto empty = batch({}, false, kSignalLimit);
    if (auto* failure = std::get_if<Failure>(&empty)) return std::move(*failure);
    samples.push_back(std::get<Batch>(empty).bracket_ns);
    outside.push_back(std::get<Batch>(empty).outside_cpu_ns);
  }
  signal_ns_ = median(samples);
  signal_worst_ns_ = *std::max_element(samples.begin(), samples.end());
  outside_allowed_ns_ = 2 * *std::max_element(outside.begin(), outside.end());
  return std::nullopt;
}

void ProcessWorker::settle_time(Batch& batch) {
  const double allowed = outside_allowed_ns_ + kOrderNs * static_cast<double>(batch.call_ns.size());
  batch.bracket_ns += std::max(0.0, batch.outside_cpu_ns - allowed);
}

bool ProcessWorker::times_agree(const Batch& batch) {
  const double sum = std::accumulate(batch.call_ns.begin(), batch.call_ns.end(), 0.0);
  if (sum > batch.bracket_ns) return false;  // both clocks are the machine's: it cannot be
  if (batch.bracket_ns - sum <= kAgreement * batch.bracket_ns + signal_worst_ns_ + kLateWakeNs)
    disagreements_ = 0;
  else
    ++disagreements_;
  return disagreements_ < kDisagreementsAllowed;
}

RunReply ProcessWorker::run(std::span<const int> order, bool poison_scratch, milliseconds limit) {
  const auto as_reply = [](const Failure& failure) {
    return std::visit([](const auto& f) -> RunReply { return f; }, failure);
  };
  if (failed_) return as_reply(*failed_);
  KS_CHECK(loaded_, "prepare comes before run");
  for (const int set : order) KS_CHECK(set >= 0 && set < sets_, "the job has these sets");
  auto result = batch(order, poison_scratch, limit);
  if (const auto* failure = std::get_if<Failure>(&result)) return as_reply(*failure);
  Batch& b = std::get<Batch>(result);
  if (!poison_scratch && !options_.moves_tensors) settle_time(b);
  if (!poison_scratch && !order.empty() && !times_agree(b))
    return as_reply(fail(kernel::Verdict(kernel::Rejected{
        "timing", "the times of its calls do not add up to the time of the batch"})));
  const double sum = std::accumulate(b.call_ns.begin(), b.call_ns.end(), 0.0);
  const double scale = sum > 0 ? std::max(0.0, b.bracket_ns - signal_ns_) / sum : 1.0;
  for (double& t : b.call_ns) t *= scale;
  return Done{b.bracket_ns, std::move(b.call_ns), signal_ns_, b.stop_ns};
}

}  // namespace ksearch::target
