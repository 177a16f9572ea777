#include "cli/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/counted.h"
#include "report/columns.h"

namespace ksearch::cli {
namespace {
using base::Json;

constexpr int kWidth = 98, kHeading = 20, kLongestName = 24;
constexpr std::size_t kMostPlaces = 3;

std::uint64_t number(const Json& json, const char* key) {
  return json.value(key, std::uint64_t{0});
}
double per(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

/// "1.00", or a dash where nothing was asked for.
std::string lines_a_request(const Json& buffer, const char* key) {
  const Json counts = buffer.value(key, Json::object());
  const std::uint64_t requests = number(counts, "requests");
  return requests == 0 ? "-" : fmt::format("{:.2f}", per(number(counts, "lines"), requests));
}

/// A heading, and text beside it on as many lines as it needs.
std::string paragraph(const report::Style& style, std::string_view heading, std::string_view text) {
  std::string result;
  for (const std::string& line : report::wrap(style, text, kWidth - kHeading)) {
    result += fmt::format("{:<{}}{}\n", heading, kHeading, line);
    heading = "";
  }
  return result;
}

std::string buffers_text(const report::Style& style, const Json& buffers) {
  std::vector<std::vector<std::string>> rows{
      {"buffer", "bytes", "read", "written", "constant", "touched", "lines a load", "a store"}};
  for (const Json& buffer : buffers)
    rows.push_back(
        {report::cut(style, report::printable(style, buffer.value("name", "")), kLongestName),
         std::to_string(number(buffer, "bytes")), std::to_string(number(buffer, "bytes_read")),
         std::to_string(number(buffer, "bytes_written")),
         std::to_string(number(buffer, "constant_bytes_read")),
         std::to_string(std::max(number(buffer, "distinct_bytes_read"),
                                 number(buffer, "distinct_bytes_written"))),
         lines_a_request(buffer, "loads"), lines_a_request(buffer, "stores")});
  return report::table(style, rows, {false, true, true, true, true, true, true, true});
}

std::string group_memory_text(const Json& memory) {
  std::string text = base::counted(number(memory, "bytes"), "byte");
  std::uint64_t conflicts = 0, turns = 0;
  for (const auto& [key, verb] : {std::pair{"loads", "read"}, std::pair{"stores", "written"}}) {
    const Json counts = memory.value(key, Json::object());
    conflicts += number(counts, "conflicts");
    turns += number(counts, "turns");
    text += fmt::format(", {} {} in {}", number(counts, "bytes"), verb,
                        base::counted(number(counts, "requests"), "request"));
  }
  if (conflicts > 0)
    text += fmt::format("; {} of {} turns ({:.0f}%) are bank conflicts", conflicts, turns,
                        100 * per(conflicts, turns));
  else if (turns > 0)
    text += "; no bank conflicts";
  return text;
}

/// "float: add 12, mul 4", "int: add 3": a line each.
std::string operations_text(const report::Style& style, const Json& operations) {
  constexpr std::array<std::string_view, 8> kFirst = {"float", "half", "bfloat", "matrix",
                                                      "simd",  "quad", "int",    "short"};
  const auto rank = [&](std::string_view group) {
    return std::find(kFirst.begin(), kFirst.end(), group) - kFirst.begin();
  };
  std::map<std::pair<std::ptrdiff_t, std::string>, std::string> groups;
  for (const auto& [kind, runs] : operations.items()) {
    const std::size_t dot = kind.find('.');
    const std::string group = kind.substr(0, dot);
    if (kind.ends_with(".fusable") || group == "barrier") continue;
    std::string& text = groups[{rank(group), group}];
    if (!text.empty()) text += ", ";
    text += dot == std::string::npos
                ? fmt::format("{}", number(runs, "threads"))
                : fmt::format("{} {}", kind.substr(dot + 1), number(runs, "threads"));
  }
  std::string result;
  const char* heading = "operations";
  for (const auto& [group, text] : groups) {
    result += paragraph(style, heading, fmt::format("{}: {}", group.second, text));
    heading = "";
  }
  return result;
}

/// Lines of the source that ask for the most memory.
std::string places_text(const report::Style& style, const Json& places) {
  struct Place {
    std::uint64_t cost = 0;
    std::string where, text;
  };
  std::vector<Place> all;
  for (const Json& place : places)
    for (const Json& access : place.value("accesses", Json::array())) {
      const bool group = access.contains("turns");
      const std::uint64_t cost = number(access, group ? "turns" : "lines");
      const std::uint64_t requests = number(access, "requests");
      if (requests == 0) continue;
      all.push_back({cost, fmt::format("{}:{}", place.value("file", ""), place.value("line", 0)),
                     fmt::format("{} of {}: {}, {:.2f} {} each",
                                 access.value("store", false) ? "stores" : "loads",
                                 access.value("buffer", ""), base::counted(requests, "request"),
                                 per(cost, requests), group ? "turns" : "lines")});
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const Place& a, const Place& b) { return a.cost > b.cost; });
  std::string result;
  const char* heading = "most memory";
  for (std::size_t i = 0; i < std::min(all.size(), kMostPlaces); ++i) {
    result += paragraph(style, heading,
                        report::printable(style, fmt::format("{}  {}", all[i].where, all[i].text)));
    heading = "";
  }
  return result;
}

std::string pipeline_text(const Json& pipeline, const Json& spills) {
  std::string text = fmt::format("about {} of 16 bits a thread: {} a group on M1 and M2",
                                 base::counted(number(pipeline, "half_registers"), "register"),
                                 base::counted(number(pipeline, "thread_limit"), "thread"));
  if (const std::uint64_t bytes = number(pipeline, "private_bytes"); bytes > 0)
    text += "; " + base::counted(bytes, "byte") + " of arrays in memory";
  const std::uint64_t loads = number(spills, "loads"), stores = number(spills, "stores");
  if (loads + stores > 0)
    text +=
        fmt::format("; more than 256 are spilled: SIMD-groups do about {} and {} of 32 bits a lane",
                    base::counted(stores, "store"), base::counted(loads, "load"));
  return text;
}

}  // namespace

std::string trace_text(const Json& trace) {
  if (!trace.contains("buffers")) return {};
  const report::Style style;
  std::string text = "\n" + buffers_text(style, trace["buffers"]) + "\n";
  text += paragraph(style, "launched",
                    fmt::format("{} in {}; {} of SIMD-groups, {} of groups, {} of SIMD-groups",
                                base::counted(number(trace, "threads"), "thread"),
                                base::counted(number(trace, "groups"), "group"),
                                base::counted(number(trace, "simd_operations"), "operation"),
                                base::counted(number(trace, "threadgroup_barriers"), "barrier"),
                                number(trace, "simdgroup_barriers")));
  if (const std::uint64_t bytes = number(trace, "unwatched_bytes"); bytes > 0)
    text += paragraph(
        style, "not watched",
        base::counted(bytes, "byte") +
            ", for races and for being written: the memory for that is used up (--memory)");
  if (trace.contains("not_traced"))
    return text +
           paragraph(style, "not traced", report::printable(style, trace.value("not_traced", "")));
  if (!trace.contains("operations")) return text;
  if (number(trace["group_memory"], "bytes") > 0)
    text += paragraph(style, "threadgroup memory", group_memory_text(trace["group_memory"]));
  text += operations_text(style, trace["operations"]);
  text += paragraph(
      style, "dependent steps",
      fmt::format("{} {} of SIMD-groups, one after the other", number(trace, "dependent_steps"),
                  number(trace, "dependent_steps") == 1 ? "barrier or operation"
                                                        : "barriers and operations"));
  text += paragraph(style, "pipeline", pipeline_text(trace["pipeline"], trace["spills"]));
  text += places_text(style, trace["places"]);
  const Json& sample = trace["sample"];
  constexpr std::uint64_t kSpread = 8;  // simt/engine/sample.h
  const char* how = number(sample, "traced") <= kSpread
                        ? "a sample spread evenly over the grid"
                        : "a sample from corners, edges and interior";
  if (number(sample, "traced") < number(sample, "of"))
    text += paragraph(
        style, "traced",
        fmt::format("{} of {}, {}; counts are scaled to all (--trace-groups all: no sample)",
                    number(sample, "traced"), base::counted(number(sample, "of"), "group"), how));
  return text;
}

}  // namespace ksearch::cli
