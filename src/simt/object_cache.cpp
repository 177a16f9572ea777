#include "simt/object_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "os/files.h"
#include "os/process.h"

namespace ksearch::simt {
namespace {
namespace fs = std::filesystem;
using base::Json;

/// Another build of this program may read the text in another way.
std::string this_program() {
  std::error_code code;
  const fs::path path = os::executable_path();
  return fmt::format("{} {} {}", path.string(), fs::file_size(path, code),
                     fs::last_write_time(path, code).time_since_epoch().count());
}

}  // namespace

Json to_json(const TracedObject& traced) {
  // A new member has to be kept too: it does not compile before.
  const auto& [text, kinds, lines, blocks, chains, spills, sites, half_registers, private_bytes] =
      traced.program;
  static_cast<void>(text);
  Json json{{"object", traced.file.string()}, {"kinds", kinds},
            {"lines", Json::array()},         {"blocks", Json::array()},
            {"chains", Json::array()},        {"spills", Json::array()},
            {"sites", Json::array()},         {"half_registers", half_registers},
            {"private_bytes", private_bytes}};
  for (const ir::Place& place : lines) json["lines"].push_back({place.file, place.line});
  for (const auto& block : blocks) {
    Json operations = Json::array();
    for (const auto& [kind, line, count] : block) operations.push_back({kind, line, count});
    json["blocks"].push_back(std::move(operations));
  }
  for (const auto& [cycles, alone, alone_half, waits] : chains)
    json["chains"].push_back({cycles, alone, alone_half, waits});
  for (const auto& [loads, stores] : spills) json["spills"].push_back({loads, stores});
  for (const auto& [line, store] : sites) json["sites"].push_back({line, store});
  return json;
}

TracedObject traced_from_json(const Json& json) {
  TracedObject traced{json.at("object").get<std::string>(), {}};
  ir::Instrumented& program = traced.program;
  program.kinds = json.at("kinds").get<std::vector<std::string>>();
  program.half_registers = json.at("half_registers");
  program.private_bytes = json.at("private_bytes");
  for (const Json& place : json.at("lines")) program.lines.push_back({place.at(0), place.at(1)});
  for (const Json& block : json.at("blocks")) {
    program.blocks.emplace_back();
    for (const Json& operation : block)
      program.blocks.back().push_back({operation.at(0), operation.at(1), operation.at(2)});
  }
  for (const Json& chain : json.at("chains"))
    program.chains.push_back({chain.at(0), chain.at(1), chain.at(2),
                              chain.at(3).get<std::vector<std::vector<std::uint32_t>>>()});
  for (const Json& of_block : json.at("spills"))
    program.spills.push_back({of_block.at(0), of_block.at(1)});
  for (const Json& site : json.at("sites")) program.sites.push_back({site.at(0), site.at(1)});
  return traced;
}

ObjectCache::ObjectCache(const toolchain::Built& text)
    : file_(text.file.parent_path() / (base::sha256(this_program()).substr(0, 16) + ".json")) {}

std::optional<TracedObject> ObjectCache::find() const {
  std::error_code code;
  if (!fs::exists(file_, code)) return std::nullopt;
  const auto text = os::read_file(file_);
  const auto json = text ? base::parse_json(*text, "traced") : std::unexpected(text.error());
  if (!json) return std::nullopt;
  try {
    TracedObject traced = traced_from_json(*json);
    if (!fs::exists(traced.file, code)) return std::nullopt;
    // It stays in the build cache as long as it is used.
    fs::last_write_time(traced.file.parent_path(), fs::file_time_type::clock::now(), code);
    return traced;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void ObjectCache::keep(const TracedObject& traced) const {
  static_cast<void>(os::write_file(file_, base::to_line(to_json(traced))));
}

}  // namespace ksearch::simt
