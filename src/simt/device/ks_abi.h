// What a kernel's object and the engine that runs it know of each other. Compiled into both, so
// plain types only: the object is made by clang without any standard header.
#pragma once

namespace ks {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;

struct Dim {
  u32 x, y, z;
};

/// Where a thread stands: the values of Metal's attributes on kernel arguments.
struct Thread {
  Dim position_in_group, group_position, position_in_grid;
  Dim group_size;           ///< of this group: smaller at the edge of a grid given in threads
  Dim dispatch_group_size;  ///< as asked for
  Dim groups, grid_size;
  u32 index_in_group, lane, simdgroup, simdgroups;
};

/// One lane's part in an operation of its SIMD-group; `resolve` sees those of all lanes in `mask`.
struct Post {
  const void* in;
  void* out;
  u32 source;  ///< lane to read from, where the operation has one
};
using Resolve = void (*)(Post* const* lanes, u32 mask);

/// What a lane posts and what comes back. Those of a SIMD-group lie one after the other.
struct Mailbox {
  static constexpr u32 kIn = 96, kOut = 128;
  alignas(64) Post post;     ///< points at the two below
  alignas(32) char in[kIn];  ///< small ones are in one cache line with the post
  alignas(64) char out[kOut];
};
static_assert(sizeof(Mailbox) == 256);

/// The current lane, as its code sees it.
struct Lane {
  static constexpr u32 kDeepest = 16;
  Mailbox* mailbox;
  u32 depth;
  u32 path[kDeepest];  ///< numbers of the calls it is in, outermost first: see ks_sync.h
  Thread thread;
  u32* counters;  ///< how often it ran each block, where that is traced
};

enum class ArgumentKind : int { buffer, group_memory, attribute, absent };
enum class Space : int { device, constant };

/// The thread attributes of Metal, by what they mean.
enum class Attribute : int {
  position_in_group,
  group_position,
  position_in_grid,
  group_size,
  dispatch_group_size,
  groups,
  grid_size,
  grid_origin,
  index_in_group,
  lane,
  simdgroup,
  simdgroups,
  simdgroup_size,
  quad_lane,
  quad,
  quads,
};

/// One parameter of a kernel, as the rewriter saw it.
struct Parameter {
  ArgumentKind kind;
  int index;  ///< of the buffer or the slot of group memory; or an Attribute
  Space space;
};

struct Arguments {
  void* buffers[64];
  void* group_memory[32];
  const Thread* thread;
  const Parameter* parameters;
};

struct Kernel {
  const char* name;
  void (*run)(const Arguments*);
  const Parameter* parameters;
  int count;
};

enum class BarrierScope : int { simdgroup, group };
inline constexpr u32 kOrdersDevice = 1, kOrdersGroup = 2;

/// Definedness of memory: a byte a byte (0: defined), and where what is undefined came from, four
/// bytes a word.
struct Meta {
  void* shadow;
  void* origin;
};

/// An origin: what an undefined value was, and the place in the object it came from.
inline constexpr u32 kOriginPlaceBits = 30, kOriginVariable = 2;

/// Memory of threads' own (stacks, mailboxes) with its shadows, for the object to look up itself.
struct PrivateMemory {
  u64 begin, bytes;
  char* shadow;
  char* origin;
  u64 object;  ///< where the object was loaded
};

/// What the engine does for an object. `pc` tells the place in the source.
struct Engine {
  Meta (*load)(const void* at, u64 bytes, const void* pc);
  Meta (*store)(void* at, u64 bytes, const void* pc);
  void (*copy)(void* to, const void* from, u64 bytes, const void* pc);
  void (*fill)(void* to, int byte, u64 bytes, const void* pc);
  void (*used_undefined)(u32 origin, const void* pc);
  void (*misaligned)(const void* at, u64 alignment, const void* pc);
  void (*outside_array)(const void* pc);
  void* (*group_array)(const void* key, u64 bytes, u64 alignment, const char* name, const void* pc);
  /// What the lane's mailbox holds goes to `resolve`; its answer is there afterwards.
  void (*collective)(Resolve resolve, u32 source, const void* pc);
  void (*barrier)(BarrierScope scope, u32 orders);
  /// In a Resolve: this lane's result is no defined value.
  void (*undefined_lane)(void* at, u64 bytes, u32 lane);
  void (*atomic)(const void* at, u64 bytes, bool loads, bool stores, const void* pc);
  void (*trace)(const void* at, u32 site, u64 bytes, bool store);
};

/// Variables of the object that the engine sets; lane and call_state are each OS thread's own.
struct Attachment {
  Lane** lane;
  void** call_state;  ///< where instrumented code passes the definedness of arguments
  const Engine** engine;
  PrivateMemory* private_memory;
  const Kernel* kernels;
  int kernel_count;
};

}  // namespace ks
