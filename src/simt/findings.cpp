#include "simt/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/explain.h"

namespace ksearch::simt {
namespace {
using base::Json;

std::string sentence(const Finding& finding, const std::string& detail, Dialect dialect) {
  std::string text = in_words_of(dialect, detail);
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return fmt::format("{}. {}", text, explain(finding.kind, dialect).why);
}

}  // namespace

base::Result<void> read_findings(const toolchain::Builder& builder,
                                 const std::filesystem::path& object, const Json& report,
                                 Dialect dialect, Report& result) {
  const Json& findings = report.value("findings", Json::array());
  std::vector<std::uint64_t> places;
  try {
    for (const Json& finding : findings)
      for (const char* of : {"places", "callers"})
        for (const Json& place : finding.at(of)) places.push_back(place.get<std::uint64_t>());
    KS_TRY(const auto lines, locate(builder.sandbox(), object, places));
    for (const Json& json : findings) {
      Finding finding;
      finding.kind = json.at("kind");
      for (const Json& place : json.at("places")) {
        const auto line = lines.find(place.get<std::uint64_t>());
        if (line == lines.end()) continue;
        finding.where.push_back(line->second);
      }
      for (const Json& caller : json.at("callers")) {
        if (!finding.where.empty()) break;
        if (const auto line = lines.find(caller.get<std::uint64_t>()); line != lines.end())
          finding.where.push_back(line->second);
      }
      finding.buffer = in_words_of(dialect, json.at("buffer"));
      if (const auto offset = json.at("offset").get<std::int64_t>(); !finding.buffer.empty())
        finding.offset = offset;
      finding.threads = json.at("threads").get<std::vector<std::uint32_t>>();
      finding.group = json.at("group").get<std::array<std::uint32_t, 3>>();
      finding.count = json.at("count");
      finding.launch = json.at("launch");
      finding.message = sentence(finding, json.at("detail"), dialect);
      finding.fix = explain(finding.kind, dialect).fix;
      // Several instructions of one line say the same thing.
      const auto same =
          std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& f) {
            return f.kind == finding.kind && f.where == finding.where && f.buffer == finding.buffer;
          });
      if (same == result.findings.end())
        result.findings.push_back(std::move(finding));
      else
        same->count += finding.count;
    }
  } catch (const Json::exception& error) {
    return base::internal_error("report of the checking process", error.what());
  }
  return {};
}

Json to_json(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    Json where = Json::array();
    for (const SourceLine& line : finding.where)
      where.push_back({{"file", line.file}, {"line", line.line}});
    Json json{
        {"kind", finding.kind},       {"where", std::move(where)},
        {"buffer", finding.buffer},   {"offset", finding.offset ? Json(*finding.offset) : Json()},
        {"threads", finding.threads}, {"group", finding.group},
        {"message", finding.message}, {"fix", finding.fix},
        {"count", finding.count},     {"launch", finding.launch}};
    findings.push_back(std::move(json));
  }
  Json json{{"verdict", report.clean() ? "clean" : "findings"},
            {"warnings", report.warnings},
            {"findings", std::move(findings)},
            {"trace", report.trace}};
  for (const Difference& d : report.differences)
    json["differences"].push_back({{"schedule", d.schedule},
                                   {"buffer", d.buffer},
                                   {"elements", d.elements},
                                   {"of", d.of},
                                   {"largest", d.largest},  // null: infinite
                                   {"largest_value", d.largest_value}});
  return json;
}

}  // namespace ksearch::simt
