// What an engineer writes and a target runs: device code and a launch plan (design, section 3).
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kernel/definition.h"
#include "kernel/expr.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::kernel {

enum class Dialect { cpp, cuda, mlx, metal };
std::string_view name(Dialect dialect);
std::optional<Dialect> parse_dialect(std::string_view text);

struct Source {
  std::string path;  ///< relative, no "..": "decode.cu"
  std::string text;
};

enum class ArgAccess { natural, read, write, inout, atomic, optional };

/// A tensor of the task or of `scratch`. `natural`: a bare string, access as the definition says.
struct TensorArg {
  std::string tensor;
  ArgAccess access = ArgAccess::natural;
  std::optional<Expr> offset;  ///< elements
  std::optional<double> init;  ///< every element set to this before the launch
};

enum class ScalarKind { i32, u32, i64, f32, boolean };

/// "int32_t", "float", "bool", ...
std::string_view cpp_name(ScalarKind kind);

struct ScalarArg {
  ScalarKind kind = ScalarKind::i32;
  Expr value = Expr::constant(0);
  std::string name;
};

struct StructArg {
  std::vector<ScalarArg> fields;
};

using Arg = std::variant<TensorArg, ScalarArg, StructArg>;

/// A loop of launches: variable, first value, one past the last. Launches that follow each other
/// with the same loop are its body together.
struct LaunchLoop {
  std::string variable;
  Expr from = Expr::constant(0);
  Expr to = Expr::constant(0);
};

using Defines = std::vector<std::pair<std::string, Expr>>;

struct Launch {
  std::string kernel;
  std::optional<Expr> when;
  std::optional<LaunchLoop> loop;
  Defines instantiate;
  Defines defines;
  std::vector<Expr> groups;  ///< exactly one of groups and threads is non-empty
  std::vector<Expr> threads;
  std::vector<Expr> group_size;
  std::vector<Expr> group_memory;  ///< bytes of each slot
  Defines constants;
  std::vector<Arg> args;
};

/// One past the last launch of the loop that `first` is in; the next one where it is in none.
std::size_t end_of_loop(const std::vector<Launch>& launches, std::size_t first);

struct Scratch {
  std::string name;
  Expr dtype = Expr::constant(0);  ///< an element type or a type variable
  std::vector<Expr> shape;
  std::optional<double> init;  ///< else poisoned
};

using TunableChoice = std::map<std::string, std::int64_t>;

/// Which tunables to use where: the first rule that holds. The last one has no condition.
struct SelectRule {
  std::optional<Expr> when;
  TunableChoice tunables;
};
using Select = std::vector<SelectRule>;

struct Program {
  std::string task;
  Dialect dialect = Dialect::cpp;
  std::vector<Source> sources;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tunables;
  std::vector<std::pair<std::string, Expr>> let;
  std::vector<Expr> constraints;
  std::vector<Scratch> scratch;
  Defines defines;  ///< for every launch
  std::vector<Launch> launches;
  Select select;  ///< only in programs that were exported; the hash leaves it out

  /// short_hash of the canonical JSON without `select`.
  std::string hash() const;
};

/// Reads a program of `definition`; the faults name their place. A source without `text` is read
/// through `read_source`. Checks everything that does not need a workload: keys, names, kinds,
/// which arguments are tensors, that scratch is written before it is read, reserved words.
using ReadSource = std::function<base::Result<std::string>(std::string_view path)>;
base::Result<Program> parse_program(const base::Json& json, const Definition& definition,
                                    std::string_view where, const ReadSource& read_source);

/// Reads a plan alone, as a model's reply brings it: format, task, dialect and files are known.
base::Result<Program> parse_plan(const base::Json& json, const Definition& definition,
                                 Dialect dialect, std::vector<Source> sources,
                                 std::string_view where);

/// Reads `path` and the sources beside it.
base::Result<Program> load_program(const std::filesystem::path& path, const Definition& definition);

/// The whole program, sources with their text.
base::Json to_json(const Program& program);

base::Json to_json(const Select& select);
base::Result<Select> parse_select(const base::Json& json, std::string_view where);

}  // namespace ksearch::kernel
