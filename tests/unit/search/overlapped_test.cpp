// Several actions under way: calls overlap each other and measurements, and the journal's order is
// all that a resumption needs.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;

class Keep final : public Recorder {
 public:
  base::Result<void> told(const Told& told) override {
    lines.push_back(told);
    return {};
  }
  base::Result<void> events(std::span<const event::Event>, const Engine&) override { return {}; }
  std::vector<Told> lines;
};

Config three_lanes() {
  Config c = config();
  c.lanes = 3;
  c.limits.evaluations = 60;
  return c;
}

TEST(Overlapped, WhatWasToldInItsOrderIsTheState) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Scripted scripted(seed, false);
    const base::ManualClock clock;
    Keep keep;
    const Hands hands{&scripted, &scripted,
                      [&](const auto& request, const auto&) { return scripted.evaluate(request); },
                      [&](const auto& request, const auto&) { return scripted.certify(request); }};
    Engine engine = Engine::make(three_lanes()).value();
    ASSERT_TRUE(run_overlapped(engine, {}, hands, {.clock = &clock, .recorder = &keep}));
    EXPECT_TRUE(engine.ended());
    EXPECT_LE(engine.spent().evaluations, 60);
    EXPECT_EQ(replay(three_lanes(), keep.lines)->state(), engine.state());
  }
}

/// Counts who is in a call at the same time; a call waits until somebody else is, too.
class Meeting final : public engineer::Planner, public engineer::Coder {
 public:
  std::string name() const override { return "meeting"; }
  engineer::PlanReply plan(const engineer::PlanRequest& request, const tree::Tree& tree) override {
    if (tree.size() > 1) return {engineer::Nothing{}};
    (void)request;
    return edits({idea("root", "a"), idea("root", "b"), idea("root", "c")});
  }
  engineer::CodeReply code(const engineer::CodeRequest& request) override {
    if (request.attempt > 1) return {engineer::Exhausted{}};
    meet();
    // A name alone would be the same program.
    return {program("int of = " + std::to_string(request.node_id.front()) + ";")};
  }
  void meet() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, 10s, [this] { return most_ >= 3; });
    --inside_;
  }
  int most() const { return most_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, most_ = 0;
};

TEST(Overlapped, CallsAreUnderWayAtTheSameTime) {
  Meeting meeting;
  const base::ManualClock clock;
  std::atomic<int> measuring = 0, most = 0;
  const Hands hands{&meeting, &meeting,
                    [&](const auto&, const auto&) -> kernel::EvaluateReply {
                      most = std::max(most.load(), ++measuring);
                      --measuring;
                      return measured(1);
                    },
                    [](const auto&, const auto&) -> CertifyReply { return certificate(true); }};
  Engine engine = Engine::make(three_lanes()).value();
  ASSERT_TRUE(run_overlapped(engine, {}, hands, {.clock = &clock}));
  EXPECT_EQ(meeting.most(), 3);
  EXPECT_EQ(most, 1) << "what is timed has the machine for itself";
  EXPECT_EQ(engine.spent().evaluations, 3);
}

TEST(Overlapped, LeavingTellsWhatCameWhole) {
  Scripted scripted(3, false);
  const base::ManualClock clock;
  Keep keep;
  int looks = 0;
  DriverOptions options{.clock = &clock, .recorder = &keep};
  options.leave = [&] { return ++looks > 40; };
  bool abandoned = false;
  options.abandon = [&] { abandoned = true; };
  const Hands hands{&scripted, &scripted,
                    [&](const auto& request, const auto&) { return scripted.evaluate(request); },
                    [&](const auto& request, const auto&) { return scripted.certify(request); }};
  Engine engine = Engine::make(three_lanes()).value();
  ASSERT_TRUE(run_overlapped(engine, {}, hands, options));
  EXPECT_FALSE(engine.ended());
  EXPECT_TRUE(abandoned);
  EXPECT_EQ(replay(three_lanes(), keep.lines)->state(), engine.state());
}

}  // namespace
}  // namespace ksearch::search
