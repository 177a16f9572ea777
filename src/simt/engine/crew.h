// Deals the groups of a launch to OS threads, each with a machine of its own.
//
// The answer must not depend on how many there are. Groups of a launch are independent on a GPU,
// and most kernels keep to that; so each thread runs whole groups and notes who used what on top of
// what earlier launches left, and after the launch the notes are laid together. Where two groups
// used one place in a way that needs an order - a race, an atomic, two writes of one value - or
// where a group stopped the run, what was seen depends on chance: the run is given up (`again`) and
// the parent starts it anew on one thread, whose order of groups is the rule. Groups that wait for
// each other by atomics therefore run as they always did: in order, one after the other, and one
// that waits for a later group is told as livelock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "simt/engine/machine.h"

namespace ksearch::simt {

class Crew {
 public:
  Crew(SharedState& shared, std::size_t threads, std::uint32_t lanes,
       const Machine::Options& options);
  ~Crew();
  Crew(const Crew&) = delete;

  /// Private memory that so many threads need.
  static std::size_t lane_bytes(std::size_t threads, std::uint32_t lanes) {
    return threads * LaneMemory::bytes(lanes);
  }
  /// Each thread asks the object for its variables.
  void attach(void (*attach)(ks::Attachment*));
  /// What groups do is counted from now on.
  void start_trace(TraceShape shape);
  Trace& merged_trace();
  /// False where a group stopped the run, or it must be run again on one thread.
  bool run(const GroupPlan& plan);
  bool again() const { return shared_.again; }

  Findings& findings() { return findings_; }
  /// Of all threads together.
  Counts counts() const;
  std::vector<PlacedBuffer> buffers() const;
  std::size_t most_group_bytes() const;
  std::uint64_t group_bytes_read() const;
  std::uint64_t group_bytes_written() const;

 private:
  struct Member {
    std::unique_ptr<Watch> watch;
    std::unique_ptr<Machine> machine;
    std::unique_ptr<Trace> trace;
  };
  void on_all(const std::function<void(Member&)>& task);
  void serve(std::size_t member);
  bool merge();

  SharedState& shared_;
  std::vector<Member> members_;
  std::vector<std::thread> threads_;  ///< of all members but the first
  Findings findings_;

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(Member&)>* task_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool leave_ = false;
};

}  // namespace ksearch::simt
