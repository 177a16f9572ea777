#include "simt/explain.h"

#include <map>

#include "simt/engine/finding.h"

namespace ksearch::simt {

Explanation explain(std::string_view kind) {
  static const std::map<std::string_view, Explanation> kAll = {
      {kind::kOutOfBounds,
       {"A GPU reads or overwrites whatever lies there, without a fault.",
        "Guard the access with the length, or give the tail its own scalar path."}},
      {kind::kDataRace,
       {"Which access comes first is not defined, so the result may change from run to run.",
        "Put a barrier that names this memory between them, or make both atomic."}},
      {kind::kBarrierDivergence,
       {"A barrier that some threads never reach hangs the group or lets it pass at random.",
        "Let every thread reach it: guard the work, not the barrier, and return after it."}},
      {kind::kUninitialisedGroupMemory,
       {"Threadgroup memory starts with what an earlier group left there.",
        "Write every element before the barrier, or read only those that were written."}},
      {kind::kUninitialisedOutput,
       {"The contents of an output are not defined before the kernel writes them.",
        "Write it first, or bind it as inout with start contents."}},
      {kind::kUninitialisedVariable,
       {"The variable holds whatever the register held before.", "Give it a value first."}},
      {kind::kUndefinedLane,
       {"A shuffle from a lane that is out of range or inactive gives an undefined value.",
        "Use the _and_fill_ form, or guard the use with the lane's index."}},
      {kind::kGroupMemoryLimit,
       {"The pipeline cannot be made: an Apple GPU has 32768 bytes of threadgroup memory a group.",
        "Use smaller tiles, or reuse one array for both purposes."}},
      {kind::kGroupSizeLimit,
       {"The launch is refused: a group has 1024 threads at most.",
        "Use smaller groups and more of them."}},
      {kind::kMisaligned,
       {"An address that is no multiple of the type's alignment is undefined: Apple GPUs drop the "
        "low bits.",
        "Read narrower elements and assemble them, or use a packed_ type."}},
      {kind::kLivelock,
       {"A thread that never ends hangs the GPU until the system resets it.",
        "Bound the loop, and never wait for a thread that may not be running."}},
      {kind::kUncoveredOutput,
       {"Elements that no thread writes keep what was in that memory.",
        "Launch as many threads as there are elements (a grid in threads, not groups), or loop."}},
      {kind::kSystemCall,
       {"Its text asks the operating system for something; a GPU has none.",
        "Take it out: a kernel computes, and nothing else."}},
      {kind::kStackOverflow,
       {"Private memory of a thread is small.", "Use smaller private arrays and no recursion."}},
  };
  const auto found = kAll.find(kind);
  return found == kAll.end() ? Explanation{} : found->second;
}

}  // namespace ksearch::simt
