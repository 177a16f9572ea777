// Reads programs: every fault names its place, nothing is guessed.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernel/names.h"
#include "kernel/program.h"

namespace ksearch::kernel {
namespace {

using base::Json;
using base::ObjectReader;

constexpr std::string_view kReserved[] = {
    "cluster", "cooperative", "tensor_map", "overlap_previous", "phase", "role", "max_threads"};
constexpr std::size_t kMaxLaunches = 256;
constexpr std::size_t kMaxSourceBytes = 4u << 20;

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > 200 || path[0] == '/' || path.find('\\') != path.npos)
    return false;
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20) return false;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const auto part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

std::optional<ScalarKind> parse_scalar_kind(std::string_view key) {
  if (key == "i32") return ScalarKind::i32;
  if (key == "u32") return ScalarKind::u32;
  if (key == "i64") return ScalarKind::i64;
  if (key == "f32") return ScalarKind::f32;
  if (key == "bool") return ScalarKind::boolean;
  return std::nullopt;
}

std::optional<ArgAccess> parse_arg_access(std::string_view key) {
  if (key == "read") return ArgAccess::read;
  if (key == "write") return ArgAccess::write;
  if (key == "inout") return ArgAccess::inout;
  if (key == "atomic") return ArgAccess::atomic;
  if (key == "optional") return ArgAccess::optional;
  return std::nullopt;
}

/// Reads one plan. Names become known in the order of the file's meaning: axes, tunables, let.
class PlanReader {
 public:
  PlanReader(const Definition& definition, Dialect dialect, ObjectReader& top)
      : definition_(definition), top_(top) {
    program_.task = definition.name;
    program_.dialect = dialect;
    for (const Axis& a : definition.axes) names_.insert(a.name);
    for (const auto& [name, types] : definition.types) names_.insert(name);
    for (const Param& p : definition.params) names_.insert(p.name);
    for (const Derived& d : definition.derived) names_.insert(d.name);
  }

  Program read() {
    read_tunables();
    read_let();
    program_.constraints = read_exprs(top_, "constraints");
    read_scratch();
    program_.defines = read_defines(top_, "defines");
    read_launches();
    if (const Json* select = top_.optional_array("select")) read_select(*select);
    return std::move(program_);
  }

 private:
  void note(ObjectReader& r) {
    if (auto done = r.finish(); !done) top_.fault_at(done.error());
  }
  void note(base::Error e) { top_.fault_at(std::move(e)); }

  void claim(ObjectReader& r, const std::string& key, const std::string& name) {
    if (!is_name(name))
      r.fault(key, fmt::format("\"{}\" is no name: letters, digits and _", name));
    else if (parse_dtype(name))
      r.fault(key, fmt::format("\"{}\" is an element type", name));
    else if (!names_.insert(name).second)
      r.fault(key, fmt::format("the name \"{}\" is taken", name));
  }

  Expr read_expr(const Json& json, const std::string& where) {
    if (json.is_number_integer()) return Expr::constant(json.get<std::int64_t>());
    if (!json.is_string()) {
      note({base::ErrorKind::usage,
            where,
            fmt::format("is {}, an expression is wanted", json.type_name()),
            {}});
      return Expr::constant(0);
    }
    auto e = Expr::parse(json.get<std::string>(), where);
    if (!e) {
      note(e.error());
      return Expr::constant(0);
    }
    for (const std::string& n : e->names())
      if (!names_.contains(n) && !is_device_name(n))
        note({base::ErrorKind::usage, where, fmt::format("\"{}\" is not known here", n),
              "known: axes, types, parameters, tunables, let above, device.*"});
    for (const std::string& t : e->tensors())
      if (!definition_.tensor(t))
        note(
            {base::ErrorKind::usage, where, fmt::format("\"{}\" is no tensor of the task", t), {}});
    return std::move(*e);
  }

  static bool is_device_name(const std::string& n) {
    static const std::set<std::string> kKnown{"device.cores",        "device.simd_width",
                                              "device.group_memory", "device.max_group_size",
                                              "device.l1_bytes",     "device.l2_bytes"};
    return kKnown.contains(n) || (n.starts_with("device.has_") && is_name(n.substr(11)));
  }

  std::vector<Expr> read_exprs(ObjectReader& r, std::string_view key) {
    std::vector<Expr> list;
    const Json* json = r.optional_array(key);
    for (std::size_t i = 0; json && i < json->size(); ++i)
      list.push_back(read_expr((*json)[i], r.place(fmt::format("{}[{}]", key, i))));
    return list;
  }

  void read_tunables() {
    const Json* json = top_.optional_object("tunables");
    if (!json) return;
    for (const auto& [name, values] : json->items()) {
      const std::string key = fmt::format("tunables.{}", name);
      claim(top_, key, name);
      std::vector<std::int64_t> list;
      const Json empty = Json::array();
      for (const Json& v : values.is_array() ? values : empty) {
        if (v.is_number_integer())
          list.push_back(v.get<std::int64_t>());
        else
          top_.fault(key, fmt::format("{} is no integer", base::to_line(v)));
      }
      if (list.empty() || list.size() > 64) top_.fault(key, "a list of 1 to 64 integers is wanted");
      if (std::set<std::int64_t>(list.begin(), list.end()).size() != list.size())
        top_.fault(key, "a value stands twice");
      program_.tunables.emplace_back(name, std::move(list));
    }
  }

  void read_let() {
    const Json* json = top_.optional_object("let");
    if (!json) return;
    for (const auto& [name, value] : json->items()) {
      Expr e = read_expr(value, top_.place(fmt::format("let.{}", name)));
      claim(top_, fmt::format("let.{}", name), name);
      program_.let.emplace_back(name, std::move(e));
    }
  }

  std::optional<double> read_init(ObjectReader& r) {
    if (!r.has("init")) return std::nullopt;
    return r.number("init");
  }

  void read_scratch() {
    const Json* json = top_.optional_object("scratch");
    if (!json) return;
    for (const auto& [name, value] : json->items()) {
      ObjectReader r(value, top_.place(fmt::format("scratch.{}", name)));
      Scratch s;
      s.name = name;
      const std::string dtype = r.text("dtype");
      if (r.ok() && !parse_dtype(dtype) && !definition_.types.contains(dtype))
        r.fault("dtype", fmt::format("\"{}\" is no element type", dtype));
      else if (r.ok())
        s.dtype = read_expr(Json(dtype), r.place("dtype"));
      r.array("shape");
      s.shape = read_exprs(r, "shape");
      s.init = read_init(r);
      note(r);
      if (!is_name(name) || definition_.tensor(name) || scratch_.contains(name))
        top_.fault(fmt::format("scratch.{}", name), "is no free name for a tensor");
      scratch_.insert(name);
      if (s.init) written_.insert(name);
      program_.scratch.push_back(std::move(s));
    }
  }

  Defines read_defines(ObjectReader& r, std::string_view key) {
    Defines defines;
    const Json* json = r.optional_object(key);
    if (!json) return defines;
    for (const auto& [name, value] : json->items()) {
      if (!is_name(name)) r.fault(key, fmt::format("\"{}\" is no name", name));
      defines.emplace_back(name, read_expr(value, r.place(fmt::format("{}.{}", key, name))));
    }
    return defines;
  }

  Defines read_instantiate(ObjectReader& r) {
    Defines list;
    const Json* json = r.optional_array("instantiate");
    if (!json) return list;
    for (std::size_t i = 0; i < json->size(); ++i) {
      const std::string key = fmt::format("instantiate[{}]", i);
      const Json& pair = (*json)[i];
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() ||
          !is_name(pair[0].get<std::string>())) {
        r.fault(key, "a pair [name, type or expression] is wanted");
        continue;
      }
      list.emplace_back(pair[0].get<std::string>(), read_expr(pair[1], r.place(key)));
    }
    return list;
  }

  void read_launches() {
    const Json& launches = top_.array("launches");
    if (top_.ok() && (launches.empty() || launches.size() > kMaxLaunches))
      top_.fault("launches", "1 to 256 launches are wanted");
    for (std::size_t i = 0; i < launches.size() && top_.ok(); ++i) {
      ObjectReader r(launches[i], top_.place(fmt::format("launches[{}]", i)));
      program_.launches.push_back(read_launch(r));
      note(r);
    }
  }

  Launch read_launch(ObjectReader& r) {
    for (const auto word : kReserved)
      if (r.has(word)) r.fault(word, "is reserved and not supported yet", "leave it out");
    Launch launch;
    launch.kernel = r.text("kernel");
    if (r.ok() && !is_name(launch.kernel)) r.fault("kernel", "the name of a function is wanted");
    read_loop(r, launch);
    if (r.has("when")) launch.when = read_expr(r.any("when"), r.place("when"));
    launch.instantiate = read_instantiate(r);
    launch.defines = read_defines(r, "defines");
    launch.groups = read_exprs(r, "groups");
    launch.threads = read_exprs(r, "threads");
    launch.group_size = read_exprs(r, "group_size");
    launch.group_memory = read_exprs(r, "group_memory");
    launch.constants = read_defines(r, "constants");
    check_size(r, launch);
    check_dialect(r, launch);
    const Json& args = r.array("args");
    for (std::size_t i = 0; i < args.size() && r.ok(); ++i)
      launch.args.push_back(read_arg(args[i], r, fmt::format("args[{}]", i)));
    for (const std::string& name : writes_now_) written_.insert(name);
    writes_now_.clear();
    if (launch.loop) names_.erase(launch.loop->variable);
    return launch;
  }

  void read_loop(ObjectReader& r, Launch& launch) {
    const Json* json = r.optional_object("for");
    if (!json) return;
    if (json->size() != 1 || !json->begin()->is_array() || json->begin()->size() != 2) {
      r.fault("for", "{variable: [from, to]} is wanted");
      return;
    }
    LaunchLoop loop;
    loop.variable = json->begin().key();
    loop.from = read_expr((*json->begin())[0], r.place("for[0]"));
    loop.to = read_expr((*json->begin())[1], r.place("for[1]"));
    claim(r, "for", loop.variable);
    launch.loop = std::move(loop);
  }

  void check_size(ObjectReader& r, const Launch& launch) {
    if (launch.groups.empty() == launch.threads.empty())
      r.fault("groups", "exactly one of groups and threads is wanted");
    for (const auto* list : {&launch.groups, &launch.threads, &launch.group_size})
      if (list->size() > 3) r.fault("groups", "at most three dimensions");
  }

  void check_dialect(ObjectReader& r, const Launch& launch) {
    const bool cpp = program_.dialect == Dialect::cpp;
    if (cpp && !launch.threads.empty()) r.fault("threads", "dialect cpp counts in groups");
    if (cpp && !launch.group_size.empty()) r.fault("group_size", "dialect cpp has none");
    if (cpp && !launch.instantiate.empty())
      r.fault("instantiate", "dialect cpp has none", "use defines");
    if (!cpp && launch.group_size.empty()) r.fault("group_size", "is missing");
    if (program_.dialect != Dialect::metal && !launch.constants.empty())
      r.fault("constants", "only dialect metal has function constants");
    if (program_.dialect == Dialect::mlx && !launch.group_memory.empty())
      r.fault("group_memory", "dialect mlx has no dynamic group memory");
    if ((cpp || program_.dialect == Dialect::cuda) && launch.group_memory.size() > 1)
      r.fault("group_memory", "this dialect has one slot");
  }

  Arg read_arg(const Json& json, ObjectReader& launch, const std::string& key) {
    const std::string where = launch.place(key);
    if (json.is_string()) return read_bare(json.get<std::string>(), launch, key);
    ObjectReader r(json, where);
    Arg arg = read_object_arg(json, r);
    note(r);
    return arg;
  }

  Arg read_bare(const std::string& name, ObjectReader& launch, const std::string& key) {
    const TensorSpec* t = definition_.tensor(name);
    if (scratch_.contains(name))
      launch.fault(key, fmt::format("scratch \"{}\" needs its access", name),
                   fmt::format("{{\"read\": \"{0}\"}} or {{\"write\": \"{0}\"}}", name));
    else if (!t)
      launch.fault(
          key, fmt::format("\"{}\" is no tensor", name),
          names_.contains(name) ? fmt::format("a number is {{\"i32\": \"{}\"}}", name) : "");
    else if (t->optional)
      launch.fault(key, fmt::format("\"{}\" may be absent", name),
                   fmt::format("{{\"optional\": \"{}\"}}", name));
    else if (t->access != Access::in)
      writes_now_.insert(name);
    return TensorArg{name, ArgAccess::natural, std::nullopt, std::nullopt};
  }

  Arg read_object_arg(const Json& json, ObjectReader& r) {
    if (const Json* fields = r.optional_array("struct")) {
      StructArg s;
      for (std::size_t i = 0; i < fields->size(); ++i) {
        ObjectReader f((*fields)[i], r.place(fmt::format("struct[{}]", i)));
        if (auto scalar = read_scalar((*fields)[i], f)) s.fields.push_back(std::move(*scalar));
        note(f);
      }
      if (s.fields.empty()) r.fault("struct", "has no field");
      return s;
    }
    if (auto scalar = read_scalar_if(json, r)) return std::move(*scalar);
    return read_tensor_arg(json, r);
  }

  std::optional<ScalarArg> read_scalar_if(const Json& json, ObjectReader& r) {
    if (!json.is_object()) return std::nullopt;
    for (const auto& [key, value] : json.items())
      if (parse_scalar_kind(key)) return read_scalar(json, r);
    return std::nullopt;
  }

  std::optional<ScalarArg> read_scalar(const Json& json, ObjectReader& r) {
    if (!json.is_object()) {
      r.fault("", "an object like {\"i32\": \"L\"} is wanted");
      return std::nullopt;
    }
    ScalarArg s;
    int kinds = 0;
    for (const auto& [key, value] : json.items()) {
      const auto kind = parse_scalar_kind(key);
      if (!kind) continue;
      ++kinds;
      s.kind = *kind;
      if (*kind == ScalarKind::f32 && value.is_number_float()) {
        r.fault(key, "a float literal belongs in the source", "name a parameter");
        r.ignore(key);
        continue;
      }
      s.value = read_expr(r.any(key), r.place(key));
    }
    if (kinds != 1) r.fault("", "exactly one of i32, u32, i64, f32, bool is wanted");
    s.name = r.text_or("name", is_name(s.value.text()) ? s.value.text() : "");
    if (r.ok() && !s.name.empty() && !is_name(s.name)) r.fault("name", "letters, digits and _");
    if (r.ok() && program_.dialect == Dialect::mlx && s.name.empty())
      r.fault("name", "dialect mlx needs the name of a number");
    return s;
  }

  Arg read_tensor_arg(const Json& json, ObjectReader& r) {
    TensorArg arg;
    int accesses = 0;
    if (json.is_object())
      for (const auto& [key, value] : json.items()) {
        const auto access = parse_arg_access(key);
        if (!access) continue;
        ++accesses;
        arg.access = *access;
        arg.tensor = r.text(key);
        check_access(r, key, arg);
      }
    if (accesses != 1)
      r.fault("",
              "an argument is a tensor's name or an object with one of read, write, inout, "
              "atomic, optional, i32, u32, i64, f32, bool, struct");
    if (r.has("offset")) arg.offset = read_expr(r.any("offset"), r.place("offset"));
    arg.init = read_init(r);
    if (arg.init && (arg.access == ArgAccess::read || arg.access == ArgAccess::optional))
      r.fault("init", "belongs to a tensor that is written");
    return arg;
  }

  void check_access(ObjectReader& r, const std::string& key, const TensorArg& arg) {
    const bool scratch = scratch_.contains(arg.tensor);
    const TensorSpec* t = definition_.tensor(arg.tensor);
    if (!r.ok()) return;
    if (!scratch && !t) return r.fault(key, fmt::format("\"{}\" is no tensor", arg.tensor));
    const bool mlx = program_.dialect == Dialect::mlx;
    switch (arg.access) {
      case ArgAccess::optional:
        if (!t || !t->optional)
          r.fault(key, fmt::format("\"{}\" is never absent", arg.tensor), "write its name alone");
        if (mlx)
          r.fault(key, "dialect mlx has no null pointers", "two launches with when: has(...)");
        return;
      case ArgAccess::read:
        if ((scratch || t->access == Access::out) && !written_.contains(arg.tensor))
          r.fault(key, fmt::format("\"{}\" is read before a launch has written it", arg.tensor));
        return;
      case ArgAccess::inout:
        if (mlx) r.fault(key, "dialect mlx has no update in place");
        [[fallthrough]];
      case ArgAccess::write:
      case ArgAccess::atomic:
        if (t && t->access == Access::in)
          r.fault(key, fmt::format("\"{}\" is an input and may not be written", arg.tensor));
        writes_now_.insert(arg.tensor);
        return;
      case ArgAccess::natural:
        return;
    }
  }

  void read_select(const Json& list) {
    auto select = parse_select(list, top_.place("select"));
    if (!select) return note(select.error());
    for (const SelectRule& rule : *select) {
      if (rule.when) read_expr(Json(rule.when->text()), top_.place("select"));
      for (const auto& [name, value] : rule.tunables) {
        bool found = false;
        for (const auto& [tunable, values] : program_.tunables)
          found = found || (tunable == name && std::count(values.begin(), values.end(), value) > 0);
        if (!found)
          top_.fault("select", fmt::format("{} = {} is no choice of the tunables", name, value));
      }
    }
    program_.select = std::move(*select);
  }

  const Definition& definition_;
  ObjectReader& top_;
  Program program_;
  std::set<std::string> names_;
  std::set<std::string> scratch_;
  std::set<std::string> written_;  // scratch and outputs that earlier launches wrote
  std::set<std::string> writes_now_;
};

std::vector<Source> read_sources(ObjectReader& r, const ReadSource& read_source) {
  std::vector<Source> sources;
  std::set<std::string> paths;
  const Json& list = r.array("sources");
  if (r.ok() && (list.empty() || list.size() > 64)) r.fault("sources", "1 to 64 files are wanted");
  for (std::size_t i = 0; i < list.size() && r.ok(); ++i) {
    ObjectReader s(list[i], r.place(fmt::format("sources[{}]", i)));
    Source source;
    source.path = s.text("path");
    if (s.ok() && !is_safe_path(source.path))
      s.fault("path", fmt::format("\"{}\" is not a plain relative path", source.path));
    else if (s.ok() && !paths.insert(source.path).second)
      s.fault("path", "stands twice");
    if (s.ok() && s.has("text")) {
      source.text = s.text("text");
    } else if (s.ok()) {
      auto text = read_source(source.path);
      if (text)
        source.text = std::move(*text);
      else
        s.fault_at(text.error());
    }
    if (s.ok() && source.text.size() > kMaxSourceBytes) s.fault("text", "is over 4 MiB");
    if (auto done = s.finish(); !done) r.fault_at(done.error());
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace

base::Result<Program> parse_plan(const Json& json, const Definition& definition, Dialect dialect,
                                 std::vector<Source> sources, std::string_view where) {
  ObjectReader top(json, std::string(where));
  Program program = PlanReader(definition, dialect, top).read();
  KS_RETURN_IF_ERROR(top.finish());
  program.sources = std::move(sources);
  return program;
}

base::Result<Program> parse_program(const Json& json, const Definition& definition,
                                    std::string_view where, const ReadSource& read_source) {
  ObjectReader top(json, std::string(where));
  const std::string format = top.text("format");
  if (top.ok() && format != "ksearch.program/1")
    top.fault("format", fmt::format("is \"{}\"; this version reads ksearch.program/1", format));
  const std::string task = top.text("task");
  if (top.ok() && task != definition.name)
    top.fault("task", fmt::format("is \"{}\", but the task is \"{}\"", task, definition.name));
  const std::string dialect = top.text("dialect");
  const auto parsed = parse_dialect(dialect);
  if (top.ok() && !parsed)
    top.fault("dialect", fmt::format("is \"{}\"; cpp, cuda, mlx or metal is wanted", dialect));
  std::vector<Source> sources = read_sources(top, read_source);
  Program program = PlanReader(definition, parsed.value_or(Dialect::cpp), top).read();
  KS_RETURN_IF_ERROR(top.finish());
  program.sources = std::move(sources);
  return program;
}

base::Result<Select> parse_select(const Json& json, std::string_view where) {
  Select select;
  if (!json.is_array()) return base::usage_error(std::string(where), "a list of rules is wanted");
  for (std::size_t i = 0; i < json.size(); ++i) {
    ObjectReader r(json[i], fmt::format("{}[{}]", where, i));
    SelectRule rule;
    if (r.has("when")) {
      KS_TRY(rule.when, Expr::parse(r.text("when"), r.place("when")));
    }
    for (const auto& [name, value] : r.object("tunables").items()) {
      if (value.is_number_integer())
        rule.tunables[name] = value.get<std::int64_t>();
      else
        r.fault("tunables", fmt::format("{} is no integer", name));
    }
    if (rule.when && i + 1 == json.size()) r.fault("when", "the last rule has no condition");
    if (!rule.when && i + 1 < json.size()) r.fault("when", "only the last rule has no condition");
    KS_RETURN_IF_ERROR(r.finish());
    select.push_back(std::move(rule));
  }
  return select;
}

}  // namespace ksearch::kernel
