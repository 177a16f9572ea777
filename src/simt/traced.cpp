#include "simt/traced.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simt/engine/trace.h"
#include "simt/ir/registers.h"

namespace ksearch::simt {
namespace {
using base::Json;

std::int64_t whole(double count) { return std::llround(count); }

struct Runs {
  double threads = 0, simdgroups = 0;
};
Json to_json(const std::map<std::string, Runs>& operations) {
  Json json = Json::object();
  for (const auto& [kind, runs] : operations)
    if (runs.threads > 0)
      json[kind] = {{"threads", whole(runs.threads)}, {"simdgroups", whole(runs.simdgroups)}};
  return json;
}

/// As the worker's array has them.
AccessCounts access_counts(const Json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5)};
}
Json device_json(const AccessCounts& counts) {
  return {{"accesses", whole(counts.accesses)},
          {"bytes", whole(counts.bytes)},
          {"requests", whole(counts.requests)},
          {"lines", whole(counts.lines)}};
}
Json group_json(const AccessCounts& counts) {
  return {{"accesses", whole(counts.accesses)},
          {"bytes", whole(counts.bytes)},
          {"requests", whole(counts.requests)},
          {"turns", whole(counts.turns)},
          {"conflicts", whole(counts.extra)}};
}

/// What one line of the source did.
struct OfLine {
  std::map<std::string, Runs> operations;
  std::map<std::pair<std::int32_t, bool>, AccessCounts> accesses;  ///< by buffer and store
};

class Composer {
 public:
  Composer(const ir::Instrumented& program, const Json& counted)
      : program_(program), counted_(counted), lines_(program.lines.size()) {}

  Json compose(Json trace) {
    add_operations();
    trace["chain"] = chain();
    add_sites();
    add_buffers(trace);
    const Json& group = counted_.at("group");
    trace["group_memory"] = {{"bytes", trace.value("group_memory_bytes", 0)},
                             {"loads", group_json(access_counts(group.at("load")))},
                             {"stores", group_json(access_counts(group.at("store")))},
                             {"atomics", whole(group.at("atomics"))}};
    trace["group_bytes_read"] = trace["group_memory"]["loads"]["bytes"];
    trace["group_bytes_written"] = trace["group_memory"]["stores"]["bytes"];
    trace["operations"] = to_json(operations_);
    trace["dependent_steps"] = counted_.at("longest_chain");
    trace["pipeline"] = {{"half_registers", program_.half_registers},
                         {"thread_limit", ir::thread_limit(program_.half_registers)},
                         {"private_bytes", program_.private_bytes}};
    trace["spills"] = spills();
    trace["traced_groups"] = groups();
    trace["sample"] = counted_.at("sample");
    trace["places"] = places();
    return trace;
  }

 private:
  void add_operations() {
    const Json& blocks = counted_.at("blocks");
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      const Runs runs{blocks.at(b).at(0), blocks.at(b).at(1)};
      if (runs.threads == 0) continue;
      for (const ir::BlockOperation& operation : program_.blocks[b]) {
        const std::string& kind = program_.kinds[operation.kind];
        for (Runs* sum : {&operations_[kind], &lines_[operation.line].operations[kind]}) {
          sum->threads += runs.threads * operation.count;
          sum->simdgroups += runs.simdgroups * operation.count;
        }
      }
    }
  }

  /// Added over SIMD-groups.
  Json chain() const {
    const Json& blocks = counted_.at("blocks");
    const Json& sites = counted_.at("sites");
    double cycles = 0, alone = 0, alone_half = 0, device = 0, group = 0;
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      const double runs = blocks.at(b).at(1);
      const ir::BlockChain& of_block = program_.chains[b];
      cycles += runs * of_block.cycles;
      alone += runs * of_block.alone;
      alone_half += runs * of_block.alone_half;
      for (const auto& together : of_block.waits) {
        if (std::ranges::all_of(together, [&](std::uint32_t s) { return is_constant(s); }))
          continue;  // preloaded
        const bool any_device = std::ranges::any_of(together, [&](std::uint32_t site) {
          return sites.at(site).at(6).get<std::int32_t>() >= 0;
        });
        (any_device ? device : group) += runs;
      }
    }
    return {{"cycles", whole(cycles)},
            {"alone", whole(alone)},
            {"alone_half", whole(alone_half)},
            {"device_waits", whole(device)},
            {"group_waits", whole(group)}};
  }

  /// What each of few groups did, as operations of SIMD-groups.
  Json groups() const {
    Json all = Json::array();
    for (const Json& group : counted_.at("groups")) {
      std::map<std::string, double> operations;
      for (std::size_t b = 0; b < program_.blocks.size(); ++b)
        if (const double runs = group.at("blocks").at(b); runs > 0)
          for (const ir::BlockOperation& operation : program_.blocks[b])
            operations[program_.kinds[operation.kind]] += runs * operation.count;
      Json counts = Json::object();
      for (const auto& [kind, count] : operations) counts[kind] = whole(count);
      all.push_back({{"number", group.at("number")}, {"operations", std::move(counts)}});
    }
    return all;
  }

  /// Registers of 32 bits that are stored and loaded again, added over SIMD-groups.
  Json spills() const {
    double loads = 0, stores = 0;
    for (std::size_t b = 0; b < program_.spills.size(); ++b) {
      const double runs = counted_.at("blocks").at(b).at(1);
      loads += runs * program_.spills[b].loads / 2;
      stores += runs * program_.spills[b].stores / 2;
    }
    return {{"loads", whole(loads)}, {"stores", whole(stores)}};
  }

  /// Whether a site reads a buffer that is bound to `constant` parameters alone.
  bool is_constant(std::uint32_t site) const {
    const auto buffer = counted_.at("sites").at(site).at(6).get<std::int32_t>();
    if (buffer < 0) return false;
    const Json& counts = counted_.at("buffers").at(static_cast<std::size_t>(buffer));
    return access_counts(counts.at("constant")).accesses > 0 &&
           access_counts(counts.at("load")).accesses == 0;
  }

  void add_sites() {
    const Json& sites = counted_.at("sites");
    for (std::size_t s = 0; s < program_.sites.size(); ++s) {
      const ir::Site& site = program_.sites[s];
      const auto buffer = sites.at(s).at(6).get<std::int32_t>();
      if (buffer == Trace::kNowhere) continue;
      lines_[site.line].accesses[{buffer, site.store}] += access_counts(sites.at(s));
    }
  }

  void add_buffers(Json& trace) {
    const Json& buffers = counted_.at("buffers");
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      Json& buffer = trace.at("buffers").at(i);
      const AccessCounts load = access_counts(buffers[i].at("load"));
      const AccessCounts store = access_counts(buffers[i].at("store"));
      const AccessCounts constant = access_counts(buffers[i].at("constant"));
      buffer["bytes_read"] = whole(load.bytes);
      buffer["bytes_written"] = whole(store.bytes);
      buffer["constant_bytes_read"] = whole(constant.bytes);
      buffer["loads"] = device_json(load);
      buffer["stores"] = device_json(store);
      buffer["constant_loads"] = device_json(constant);
      buffer["atomics"] = whole(buffers[i].at("atomics"));
      buffer["group_lines"] = whole(buffers[i].at("group_lines"));
      buffer["distinct_lines"] = whole(buffers[i].at("distinct_lines"));
      Json reuse = Json::array();
      for (const Json& count : buffers[i].at("reuse")) reuse.push_back(whole(count));
      buffer["reuse"] = std::move(reuse);
      names_.push_back(buffer.at("name"));
    }
  }

  Json places() const {
    Json all = Json::array();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const OfLine& line = lines_[i];
      Json accesses = Json::array();
      for (const auto& [what, counts] : line.accesses) {
        const auto& [buffer, store] = what;
        Json json = buffer == Trace::kGroupMemory ? group_json(counts) : device_json(counts);
        json["buffer"] = buffer == Trace::kGroupMemory
                             ? Json("threadgroup")
                             : Json(names_.at(static_cast<std::size_t>(buffer)));
        json["store"] = store;
        accesses.push_back(std::move(json));
      }
      Json operations = to_json(line.operations);
      if (operations.empty() && accesses.empty()) continue;
      all.push_back({{"file", program_.lines[i].file},
                     {"line", program_.lines[i].line},
                     {"operations", std::move(operations)},
                     {"accesses", std::move(accesses)}});
    }
    return all;
  }

  const ir::Instrumented& program_;
  const Json& counted_;
  std::map<std::string, Runs> operations_;
  std::vector<OfLine> lines_;
  std::vector<std::string> names_;
};

}  // namespace

base::Result<Json> trace_report(const ir::Instrumented& program, const Json& counted,
                                Json checked) {
  try {
    return Composer(program, counted).compose(std::move(checked));
  } catch (const Json::exception& error) {
    return base::internal_error("report of the tracing process", error.what());
  } catch (const std::out_of_range& error) {
    return base::internal_error("report of the tracing process", error.what());
  }
}

}  // namespace ksearch::simt
