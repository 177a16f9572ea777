// What a run shows to be wrong, with places in the object's code; `locate` turns those into lines.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ksearch::simt {

/// Kinds, as reports and cases name them.
namespace kind {
inline constexpr char kOutOfBounds[] = "out_of_bounds";
inline constexpr char kDataRace[] = "data_race";
inline constexpr char kBarrierDivergence[] = "barrier_divergence";
inline constexpr char kUninitialisedGroupMemory[] = "uninitialised_group_memory";
inline constexpr char kUninitialisedOutput[] = "uninitialised_output";
inline constexpr char kUninitialisedVariable[] = "uninitialised_variable";
inline constexpr char kUndefinedLane[] = "undefined_lane";
inline constexpr char kGroupMemoryLimit[] = "group_memory_limit";
inline constexpr char kGroupSizeLimit[] = "group_size_limit";
inline constexpr char kMisaligned[] = "misaligned_access";
inline constexpr char kLivelock[] = "livelock";
inline constexpr char kUncoveredOutput[] = "uncovered_output";
inline constexpr char kStackOverflow[] = "stack_overflow";
inline constexpr char kCrash[] = "crash";
inline constexpr char kWrongMask[] = "wrong_mask";
inline constexpr char kSystemCall[] = "system_call";
}  // namespace kind

struct RawFinding {
  std::string kind;
  std::vector<std::uint64_t> places;  ///< offsets in the object of the instructions after
  /// Where the kernel was stopped: what may be callers of the place, innermost first, for where its
  /// own code has no line of the user's.
  std::vector<std::uint64_t> callers;
  std::string buffer;
  std::int64_t offset = -1;  ///< bytes in the buffer
  std::vector<std::uint32_t> threads;
  std::array<std::uint32_t, 3> group{};
  std::uint32_t group_number = 0;  ///< in the launch, from 1
  std::string detail;              ///< what happened, without the places
  std::uint64_t count = 1;
  int launch = 0;
};

/// Keeps the first of each kind, place and buffer, and counts the others.
class Findings {
 public:
  void add(RawFinding finding);
  /// What several saw of one launch, as if one had seen it group by group. They are empty then.
  void add_launch(const std::vector<Findings*>& parts);
  const std::vector<RawFinding>& all() const { return all_; }
  bool empty() const { return all_.empty(); }

 private:
  std::vector<RawFinding> all_;
};

}  // namespace ksearch::simt
