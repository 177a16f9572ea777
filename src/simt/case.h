// What `check` runs: a kernel source, its launches in order and its buffers, with their start
// contents. As a file: the format of the cases (docs: "Checking a kernel").
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "kernel/dtype.h"

namespace ksearch::simt {

enum class Dialect { metal, cuda };
/// By the file's ending: .cu and .cuh are CUDA.
Dialect dialect_of(const std::filesystem::path& file);

enum class Role { in, out, inout };
std::string_view name(Role role);

/// Start contents: a kind and its numbers, or bytes.
struct Init {
  enum class Kind { none, constant, iota, ints, uniform, normal, bytes, file };
  Kind kind = Kind::none;
  std::uint64_t seed = 0;
  double value = 0;                             ///< constant
  double start = 0, step = 1;                   ///< iota: start + step * (i % modulo)
  std::int64_t modulo = 0;                      ///< 0: none
  double low = 0, high = 1;                     ///< ints without `values`, uniform
  double mean = 0, deviation = 1;               ///< normal
  std::optional<std::vector<double>> values{};  ///< ints: the list itself
  std::string bytes;                            ///< bytes
  std::string path;                             ///< file: of its bytes, beside the case
};

struct Buffer {
  std::string name;
  int index = 0;  ///< where a launch does not bind it otherwise
  kernel::DType dtype = kernel::DType::float32;
  std::vector<std::int64_t> shape;
  Role role = Role::in;
  Init init;
  bool symbol = false;  ///< contents of the file's variable of this name (CUDA), no argument
  bool null = false;    ///< a null pointer (CUDA)
  /// Of an output of a case in a sequence: a byte a byte, not 0 where a case before wrote it.
  std::string written;
  /// Of a body's input that is not row contiguous, in elements; none is negative. The bytes are
  /// those from its first element to its last.
  std::optional<std::vector<std::int64_t>> strides{};

  std::int64_t elements() const;  ///< of the shape
  std::size_t bytes() const;
};

/// A value that a CUDA kernel takes: a number, or a struct.
struct Value {
  struct Field {
    std::string bytes;   ///< as in memory
    std::string buffer;  ///< instead: a pointer to it
  };
  std::optional<std::int64_t> integer;
  std::optional<double> number;
  std::vector<Field> fields;
};

struct Launch {
  std::string kernel;  ///< function, or host_name; an instantiation: "f<float, 4>" (CUDA)
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> group_size{1, 1, 1};
  /// Threads in all, where the grid is given so: groups at its edge are smaller.
  std::optional<std::array<std::uint32_t, 3>> threads;
  std::vector<std::uint32_t> group_memory;  ///< bytes of each slot
  std::map<int, std::string> constants;     ///< function constants, as C++ literals
  std::map<int, std::string> bind;          ///< buffer names; empty: the buffers' own indices
  std::vector<Value> values;                ///< of the parameters that are no pointers, in order
};

/// A kernel body as mx.fast.metal_kernel takes it.
struct Body {
  std::vector<std::string> inputs, outputs;
  std::vector<std::pair<std::string, std::string>>
      arguments;  ///< template: name, C++ type or value
  bool atomic_outputs = false;
  bool fast_math = false;  ///< compile_options {"math_mode": "fast"}: __FAST_MATH__ is defined
  std::string header;
};

struct Case {
  std::string file;  ///< the source's name in reports
  std::string source;
  Dialect dialect = Dialect::metal;
  std::vector<Launch> launches;
  std::vector<Buffer> buffers;
  std::optional<Body> body;
  std::vector<std::pair<std::string, std::string>> headers;  ///< that it may include: path, text
  std::vector<std::pair<std::string, std::string>> defines;  ///< macros: name, text
  /// Other cases write its outputs too: which bytes have been written is handed on.
  bool in_sequence = false;
};

/// case.json; its source is kernel.metal or kernel.cu beside it. The error names the key.
base::Result<Case> load_case(const std::filesystem::path& path);
base::Result<Case> parse_case(std::string_view json, std::string_view where, std::string source,
                              Dialect dialect = Dialect::metal);

/// NAME=DTYPE:DIM[xDIM...][:KIND[:A[:B]]], as --buffer takes it: "x=f32:64x128:normal:0:1",
/// "out=f32:64" (nothing after the shape: role out), "n=u32:1:ints:1000"; or a parameter struct:
/// "p=struct:i32:4:f32:0.5" (fields.h).
base::Result<Buffer> parse_buffer(std::string_view text);

/// "f32", "float32", ...
std::optional<kernel::DType> dtype_named(std::string_view text);

/// NAME=VALUE, as --param takes it: "n=64", "eps=1e-5", "causal=true", or a struct field by field:
/// "p={ptr:in,i32:64,f32:0.5}". The name is for people.
base::Result<Value> parse_value(std::string_view text);

/// A template argument of a body as C++: "float32" is float, "64" and "true" are themselves.
std::optional<std::string> template_argument(std::string_view text);

}  // namespace ksearch::simt
