// Several requests under way: planner and coder think on threads of their own while this thread
// measures, one program at a time (what it times must have the machine for itself).
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "search/driver.h"
#include "search/driver_base.h"

namespace ksearch::search {
namespace {

class Overlapped : DriverBase {
 public:
  using DriverBase::DriverBase;
  ~Overlapped() {
    for (auto& [id, thread] : thinking_) thread.join();
  }

  base::Result<void> run(const Started& start) {
    const auto done = loop(start);
    if (options_.abandon) options_.abandon();
    // What came whole is told: it was paid for. The engine drops what nobody waits for any more.
    for (auto answered = next(true); answered; answered = next(true))
      if (done && !engine_.ended() && !is_lost(*answered))
        KS_RETURN_IF_ERROR(tell(std::move(*answered)));
    return done;
  }

 private:
  base::Result<void> loop(const Started& start) {
    if (engine_.phase() == Phase::fresh) KS_RETURN_IF_ERROR(tell(start));
    while (!engine_.ended()) {
      if (left()) return {};
      if (const auto stop = stop_asked()) {
        KS_RETURN_IF_ERROR(tell(*stop));
        continue;
      }
      if (engine_.phase() != Phase::searching && options_.abandon) options_.abandon();
      begin_thinking();
      if (auto answered = next(false)) {
        if (is_lost(*answered) && left()) return {};
        KS_RETURN_IF_ERROR(tell(std::move(*answered)));
        continue;
      }
      KS_RETURN_IF_ERROR(measure_or_wait());
    }
    return {};
  }

  base::Result<void> measure_or_wait() {
    const auto& requests = engine_.requests();
    const auto it = std::ranges::find_if_not(requests, is_thought);
    if (it == requests.end()) {
      KS_CHECK(!thinking_.empty(), "an engine that has not ended asks for something");
      std::unique_lock lock(mutex_);
      // Looks up now and then: somebody may want to leave or to stop.
      came_.wait_for(lock, std::chrono::milliseconds(200), [this] { return !answers_.empty(); });
      return {};
    }
    const Request request = *it;
    Answered answered = measure(request);
    const bool lost = is_lost(answered);
    if (lost && left()) return {};
    KS_RETURN_IF_ERROR(tell(std::move(answered)));
    if (lost && options_.pause && !engine_.ended()) options_.pause(request.asked);
    return {};
  }

  void begin_thinking() {
    for (const Request& request : engine_.requests()) {
      if (!is_thought(request) || thinking_.contains(request.id)) continue;
      thinking_[request.id] = std::thread([this, request, tree = engine_.tree()] {
        // Lost before: its own thread waits, the others go on.
        if (request.asked > 1 && options_.pause) options_.pause(request.asked - 1);
        Answered answered = think(hands_, request, tree);
        const std::lock_guard lock(mutex_);
        answers_.push_back(std::move(answered));
        came_.notify_one();
      });
    }
  }

  /// The answer that came first; `wait`: for one, while anybody is thinking.
  std::optional<Answered> next(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait && !thinking_.empty()) came_.wait(lock, [this] { return !answers_.empty(); });
    if (answers_.empty()) return std::nullopt;
    Answered answered = std::move(answers_.front());
    answers_.pop_front();
    lock.unlock();
    const auto thread = thinking_.find(answered.id);
    thread->second.join();
    thinking_.erase(thread);
    return answered;
  }

  std::map<RequestId, std::thread> thinking_;  // of the driver's own thread
  std::mutex mutex_;                           // of what follows
  std::condition_variable came_;
  std::deque<Answered> answers_;
};

}  // namespace

base::Result<void> run_overlapped(Engine& engine, const Started& start, const Hands& hands,
                                  const DriverOptions& options) {
  KS_CHECK(options.clock, "a driver needs a clock");
  return Overlapped(engine, hands, options).run(start);
}

}  // namespace ksearch::search
