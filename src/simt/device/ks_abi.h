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
  void* dynamic_memory;  ///< of the group, where the launch asked for some (CUDA)
};

/// One lane's part in an operation of its SIMD-group; `resolve` sees those of all lanes in `mask`.
struct Post {
  const void* in;
  void* out;
  u32 source;  ///< lane to read from, where the operation has one
  u32 mask;    ///< lanes it waits for (CUDA); 0: those that come
  bool clean;  ///< all words that were posted last are defined, and so is their shadow
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

enum class ArgumentKind : int { buffer, group_memory, attribute, absent, value };
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
  int index;  ///< of the buffer, the slot of group memory or the value; or an Attribute
  Space space;
  u32 bytes;  ///< of a value: its size
  bool is_number;
};

/// A value that a launch passes (CUDA): a number, or the bytes of a struct.
struct Value {
  long integer;
  double number;
  bool is_integer;
  const void* bytes;
  u64 size;  ///< of `bytes`; 0: a number
};

struct Arguments {
  void* buffers[64];
  void* group_memory[32];
  const Thread* thread;
  const Parameter* parameters;
  const Value* values;
};

struct Kernel {
  const char* name;
  void (*run)(const Arguments*);
  const Parameter* parameters;
  int count;
};

enum class BarrierScope : int { simdgroup, group };
inline constexpr u32 kOrdersDevice = 1, kOrdersGroup = 2;

/// A barrier of CUDA: __syncthreads, bar.sync, bar.arrive.
struct BlockBarrier {
  u32 id;
  u32 threads;     ///< it opens when so many have come; 0: all that have not returned
  bool waits;      ///< false: arrives and goes on
  bool one_place;  ///< all come at one place of the source
  bool predicate;
  const void* pc;
  u32 yes, all;  ///< out: how many said yes, of how many
};

/// A variable of the file that lives in device memory (CUDA): __device__, __constant__.
struct Symbol {
  const char* name;
  void** at;            ///< set by the engine
  const void* initial;  ///< what it starts with
  u64 bytes;
  Space space;
};

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
  /// The kernel says that a group has at most so many.
  void (*too_many_threads)(u32 most, const void* pc);

  // CUDA alone.
  void (*warp_barrier)(u32 mask);
  void (*block_barrier)(BlockBarrier* barrier);
  /// Copies that end when they are waited for: `bytes` to shared memory, those after `from_bytes`
  /// zero. `pending`: how many groups may go on; -1: wait for those without a group too.
  void (*start_copy)(void* to, const void* from, u32 bytes, u32 from_bytes, const void* pc);
  void (*commit_copies)();
  void (*wait_for_copies)(int pending);
  void (*fence)();
  void (*yield)();  ///< another lane may go first
  void* (*group_memory)();
};

/// Variables of the object that the engine sets; lane and call_state are each OS thread's own.
struct Attachment {
  Lane** lane;
  void** call_state;  ///< where instrumented code passes the definedness of arguments
  const Engine** engine;
  PrivateMemory* private_memory;
  const Kernel* kernels;
  int kernel_count;
  const Symbol* symbols;
  int symbol_count;
};

}  // namespace ks
