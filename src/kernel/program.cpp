#include "kernel/program.h"

#include <fstream>
#include <sstream>

#include "base/hash.h"

namespace ksearch::kernel {
namespace {

using base::Json;

Json exprs(const std::vector<Expr>& list) {
  Json json = Json::array();
  for (const Expr& e : list) json.push_back(e.text());
  return json;
}

Json defines(const Defines& list) {
  Json json = Json::object();
  for (const auto& [name, e] : list) json[name] = e.text();
  return json;
}

std::string_view key_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::i32:
      return "i32";
    case ScalarKind::u32:
      return "u32";
    case ScalarKind::i64:
      return "i64";
    case ScalarKind::f32:
      return "f32";
    case ScalarKind::boolean:
      return "bool";
  }
  return "";
}

std::string_view key_of(ArgAccess access) {
  switch (access) {
    case ArgAccess::read:
      return "read";
    case ArgAccess::write:
      return "write";
    case ArgAccess::inout:
      return "inout";
    case ArgAccess::atomic:
      return "atomic";
    case ArgAccess::optional:
      return "optional";
    case ArgAccess::natural:
      return "";
  }
  return "";
}

Json scalar(const ScalarArg& s) {
  Json json{{key_of(s.kind), s.value.text()}};
  if (!s.name.empty() && s.name != s.value.text()) json["name"] = s.name;
  return json;
}

Json arg_json(const Arg& arg) {
  if (const auto* s = std::get_if<ScalarArg>(&arg)) return scalar(*s);
  if (const auto* s = std::get_if<StructArg>(&arg)) {
    Json fields = Json::array();
    for (const ScalarArg& f : s->fields) fields.push_back(scalar(f));
    return {{"struct", fields}};
  }
  const auto& t = std::get<TensorArg>(arg);
  if (t.access == ArgAccess::natural) return t.tensor;
  Json json{{key_of(t.access), t.tensor}};
  if (t.offset) json["offset"] = t.offset->text();
  if (t.init) json["init"] = *t.init;
  return json;
}

Json launch_json(const Launch& launch) {
  Json json{{"kernel", launch.kernel}};
  if (launch.when) json["when"] = launch.when->text();
  if (launch.loop)
    json["for"] = {{launch.loop->variable, {launch.loop->from.text(), launch.loop->to.text()}}};
  if (!launch.instantiate.empty()) {
    json["instantiate"] = Json::array();
    for (const auto& [name, e] : launch.instantiate)
      json["instantiate"].push_back(Json::array({name, e.text()}));
  }
  if (!launch.defines.empty()) json["defines"] = defines(launch.defines);
  if (!launch.groups.empty()) json["groups"] = exprs(launch.groups);
  if (!launch.threads.empty()) json["threads"] = exprs(launch.threads);
  if (!launch.group_size.empty()) json["group_size"] = exprs(launch.group_size);
  if (!launch.group_memory.empty()) json["group_memory"] = exprs(launch.group_memory);
  if (!launch.constants.empty()) json["constants"] = defines(launch.constants);
  json["args"] = Json::array();
  for (const Arg& arg : launch.args) json["args"].push_back(arg_json(arg));
  return json;
}

/// No link, which would show another file in a compiler's message, and no pipe, which would hang.
base::Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto kind = std::filesystem::symlink_status(path, error).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    return base::usage_error(path.string(), "is no plain file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf() || in.peek() == EOF))
    return base::usage_error(path.string(), "cannot be read");
  return std::move(text).str();
}

}  // namespace

std::string_view cpp_name(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::i32:
      return "int32_t";
    case ScalarKind::u32:
      return "uint32_t";
    case ScalarKind::i64:
      return "int64_t";
    case ScalarKind::f32:
      return "float";
    case ScalarKind::boolean:
      return "bool";
  }
  return "";
}

std::string_view name(Dialect dialect) {
  switch (dialect) {
    case Dialect::cpp:
      return "cpp";
    case Dialect::cuda:
      return "cuda";
    case Dialect::mlx:
      return "mlx";
    case Dialect::metal:
      return "metal";
  }
  return "";
}

std::optional<Dialect> parse_dialect(std::string_view text) {
  for (const Dialect d : {Dialect::cpp, Dialect::cuda, Dialect::mlx, Dialect::metal})
    if (name(d) == text) return d;
  return std::nullopt;
}

Json to_json(const Select& select) {
  Json json = Json::array();
  for (const SelectRule& rule : select) {
    Json item = Json::object();
    if (rule.when) item["when"] = rule.when->text();
    item["tunables"] = Json::object();
    for (const auto& [name, value] : rule.tunables) item["tunables"][name] = value;
    json.push_back(std::move(item));
  }
  return json;
}

Json to_json(const Program& p) {
  Json json{{"format", "ksearch.program/1"}, {"task", p.task}, {"dialect", name(p.dialect)}};
  json["sources"] = Json::array();
  for (const Source& s : p.sources) json["sources"].push_back({{"path", s.path}, {"text", s.text}});
  if (!p.tunables.empty()) {
    json["tunables"] = Json::object();
    for (const auto& [tunable, values] : p.tunables) json["tunables"][tunable] = values;
  }
  if (!p.let.empty()) json["let"] = defines(p.let);
  if (!p.constraints.empty()) json["constraints"] = exprs(p.constraints);
  if (!p.scratch.empty()) {
    json["scratch"] = Json::object();
    for (const Scratch& s : p.scratch) {
      Json item{{"dtype", s.dtype.text()}, {"shape", exprs(s.shape)}};
      if (s.init) item["init"] = *s.init;
      json["scratch"][s.name] = std::move(item);
    }
  }
  if (!p.defines.empty()) json["defines"] = defines(p.defines);
  json["launches"] = Json::array();
  for (const Launch& launch : p.launches) json["launches"].push_back(launch_json(launch));
  if (!p.select.empty()) json["select"] = to_json(p.select);
  return json;
}

std::size_t end_of_loop(const std::vector<Launch>& launches, std::size_t first) {
  const auto same = [&](const Launch& other) {
    const auto &a = launches[first].loop, &b = other.loop;
    return a && b && a->variable == b->variable && a->from.text() == b->from.text() &&
           a->to.text() == b->to.text();
  };
  std::size_t end = first + 1;
  while (end < launches.size() && same(launches[end])) ++end;
  return end;
}

std::string Program::hash() const {
  Json json = to_json(*this);
  json.erase("select");
  return base::short_hash(base::to_line(json));
}

base::Result<Program> load_program(const std::filesystem::path& path,
                                   const Definition& definition) {
  KS_TRY(const std::string text, read_file(path));
  KS_TRY(const Json json, base::parse_json(text, path.string()));
  return parse_program(json, definition, path.string(), [&](std::string_view source) {
    return read_file(path.parent_path() / source);
  });
}

}  // namespace ksearch::kernel
