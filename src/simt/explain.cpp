#include "simt/explain.h"

#include <map>

#include "simt/engine/finding.h"

namespace ksearch::simt {

namespace {

using Explanations = std::map<std::string_view, Explanation>;

/// Where CUDA differs from what is said of Metal.
const Explanations& of_cuda() {
  static const Explanations kAll = {
      {kind::kDataRace,
       {"Which access comes first is not defined, so the result may change from run to run.",
        "Put __syncthreads() between them (__syncwarp() within a warp), or make both atomic."}},
      {kind::kBarrierDivergence,
       {"A barrier that some threads never reach hangs the block; __syncthreads() has to be "
        "reached "
        "at one place by all threads that have not returned.",
        "Guard the work, not the barrier; give bar.sync the number of threads that come."}},
      {kind::kUninitialisedGroupMemory,
       {"Shared memory starts with what an earlier block left there.",
        "Write every element before the barrier, or read only those that were written."}},
      {kind::kUndefinedLane,
       {"A shuffle from a lane that is not in the mask, or has returned, gives an undefined value.",
        "Name every lane that is read in the mask and let it take part, or guard the use."}},
      {kind::kWrongMask,
       {"A warp operation waits for all lanes of its mask: the warp hangs, or the result is "
        "undefined.",
        "Let all lanes of the mask reach it, or compute the mask with __ballot_sync before the "
        "branch."}},
      {kind::kGroupMemoryLimit,
       {"A block has 48 KiB of static shared memory, and 227 KiB with dynamic memory that the host "
        "asked for (compute capability 9.0).",
        "Use smaller tiles, or extern __shared__ memory with "
        "cudaFuncAttributeMaxDynamicSharedMemorySize."}},
      {kind::kGroupSizeLimit,
       {"The launch is refused: a block has 1024 threads at most, or as many as its kernel says.",
        "Use smaller blocks and more of them."}},
      {kind::kMisaligned,
       {"An address that is no multiple of the access's size stops the kernel: misaligned address.",
        "Read narrower elements, or align the array (__align__(16)) and the row's length."}},
      {kind::kUncoveredOutput,
       {"Elements that no thread writes keep what was in that memory.",
        "Launch enough blocks (round up), or let each thread loop."}},
      {kind::kStackOverflow,
       {"Local memory of a thread is small.", "Use smaller local arrays and no recursion."}},
  };
  return kAll;
}

}  // namespace

std::string in_words_of(Dialect dialect, std::string text) {
  if (dialect != Dialect::cuda) return text;
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"threadgroup(0)", "extern __shared__"},
      {"threadgroup memory", "shared memory"},
      {"the same SIMD-group", "the same warp"},
      {"another SIMD-group of the same group", "another warp of the same block"},
      {"another group", "another block"},
      {"SIMD-group", "warp"},
      {"of the group", "of the block"}};
  for (const auto& [from, to] : kWords)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

Explanation explain(std::string_view kind, Dialect dialect) {
  if (dialect == Dialect::cuda)
    if (const auto own = of_cuda().find(kind); own != of_cuda().end()) return own->second;
  static const Explanations kAll = {
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
       {"The launch is refused: a group has 1024 threads at most, or as many as its kernel says.",
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
