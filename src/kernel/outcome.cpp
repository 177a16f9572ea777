#include "kernel/outcome.h"

#include <fmt/format.h>

#include <cmath>

#include "base/match.h"

namespace ksearch::kernel {
namespace {

using base::Json;
using base::Match;
using base::ObjectReader;

constexpr std::pair<Stage, std::string_view> kStages[] = {
    {Stage::parse, "parse"},           {Stage::check, "check"},
    {Stage::compile, "compile"},       {Stage::tiny, "tiny"},
    {Stage::feedback, "feedback"},     {Stage::timing, "timing"},
    {Stage::assertions, "assertions"}, {Stage::certify, "certify"}};

/// JSON has no NaN and no infinity: those go as text.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double read_number(ObjectReader& r, std::string_view key) {
  const Json& value = r.any(key);
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::nan("");
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  r.fault(key, "a number is wanted");
  return 0;
}

Json ratio_json(const Ratio& r) {
  return {{"value", r.value}, {"low", r.low}, {"high", r.high}, {"pairs", r.pairs}};
}

Json ratios_json(const std::map<std::string, Ratio>& ratios) {
  Json json = Json::object();
  for (const auto& [name, r] : ratios) json[name] = ratio_json(r);
  return json;
}

Json timing_json(const WorkloadTiming& w) {
  Json tunables = Json::object();
  for (const auto& [name, value] : w.tunables) tunables[name] = value;
  return {{"workload", w.workload},
          {"median_ns", w.median_ns},
          {"low_ns", w.low_ns},
          {"high_ns", w.high_ns},
          {"ratios", ratios_json(w.ratios)},
          {"expert", w.expert},
          {"roofline_fraction", w.roofline_fraction},
          {"bound_by", w.bound_by},
          {"tunables", tunables},
          {"samples_ns", w.samples_ns}};
}

template <class Timed>
void add_timings(Json& json, const Timed& m) {
  json["baseline"] = m.baseline;
  json["score"] = ratio_json(m.score);
  json["ratios"] = ratios_json(m.ratios);
  json["workloads"] = Json::array();
  for (const WorkloadTiming& w : m.workloads) json["workloads"].push_back(timing_json(w));
}

Json verdict_json(const Verdict& verdict) {
  return std::visit(
      Match{
          [](const Unparsable& v) -> Json {
            return {{"why", v.why}};
          },
          [](const Duplicate& v) -> Json {
            return {{"of", v.of}};
          },
          [](const Unsupported& v) -> Json {
            return {{"why", v.why}};
          },
          [](const Rejected& v) -> Json {
            return {{"by", v.by}, {"why", v.why}};
          },
          [](const CompileFailed& v) -> Json {
            return {{"log", v.log}};
          },
          [](const LimitExceeded& v) -> Json {
            return {{"what", v.what}, {"value", v.value}, {"limit", v.limit}};
          },
          [](const Crashed& v) -> Json {
            return {{"why", v.why}};
          },
          [](const TimedOut& v) -> Json {
            return {{"limit_seconds", v.limit_seconds}};
          },
          [](const Unsafe& v) -> Json {
            Json findings = Json::array();
            for (const Finding& f : v.findings)
              findings.push_back({{"kind", f.kind}, {"buffer", f.buffer}, {"message", f.message}});
            return {{"findings", findings}};
          },
          [](const InputChanged& v) -> Json {
            return {{"tensor", v.tensor}};
          },
          [](const WrongResult& v) -> Json {
            return {{"output", v.output},
                    {"why", v.why},
                    {"error", number(v.error)},
                    {"tolerance", v.tolerance}};
          },
          [](const AssertionFailed& v) -> Json {
            return {{"assertion", v.assertion}, {"why", v.why}};
          },
          [](const Verified& v) -> Json {
            return {{"resources", v.resources}};
          },
          [](const Modelled& v) -> Json {
            Json json{{"profile", v.profile}, {"model_version", v.model_version}};
            add_timings(json, v);
            return json;
          },
          [](const Measured& v) -> Json {
            Json json = Json::object();
            add_timings(json, v);
            return json;
          }},
      verdict);
}

Ratio read_ratio(ObjectReader& top, const Json& json, const std::string& key) {
  ObjectReader r(json, top.place(key));
  Ratio ratio{r.number("value"), r.number("low"), r.number("high"),
              static_cast<int>(r.integer("pairs"))};
  top.keep(r);
  return ratio;
}

std::map<std::string, Ratio> read_ratios(ObjectReader& r) {
  std::map<std::string, Ratio> ratios;
  for (const auto& [name, json] : r.object("ratios").items())
    ratios[name] = read_ratio(r, json, "ratios." + name);
  return ratios;
}

WorkloadTiming read_timing(ObjectReader& r) {
  WorkloadTiming w;
  w.workload = r.text("workload");
  w.median_ns = r.number("median_ns");
  w.low_ns = r.number("low_ns");
  w.high_ns = r.number("high_ns");
  w.ratios = read_ratios(r);
  w.expert = r.text("expert");
  w.roofline_fraction = r.number("roofline_fraction");
  w.bound_by = r.text("bound_by");
  for (const auto& [name, value] : r.object("tunables").items())
    if (value.is_number_integer())
      w.tunables[name] = value.get<std::int64_t>();
    else
      r.fault("tunables", "integers are wanted");
  for (const Json& s : r.array("samples_ns"))
    if (s.is_number())
      w.samples_ns.push_back(s.get<double>());
    else
      r.fault("samples_ns", "numbers are wanted");
  return w;
}

template <class Timed>
Timed read_timings(ObjectReader& r, Timed m) {
  m.baseline = r.text("baseline");
  m.score = read_ratio(r, r.object("score"), "score");
  m.ratios = read_ratios(r);
  std::size_t i = 0;
  for (const Json& json : r.array("workloads")) {
    ObjectReader w(json, r.place(fmt::format("workloads[{}]", i++)));
    m.workloads.push_back(read_timing(w));
    r.keep(w);
  }
  return m;
}

Unsafe read_findings(ObjectReader& r) {
  Unsafe unsafe;
  std::size_t i = 0;
  for (const Json& json : r.array("findings")) {
    ObjectReader f(json, r.place(fmt::format("findings[{}]", i++)));
    unsafe.findings.push_back({f.text("kind"), f.text("buffer"), f.text("message")});
    r.keep(f);
  }
  return unsafe;
}

WrongResult read_wrong(ObjectReader& r) {
  WrongResult w;
  w.output = r.text("output");
  w.why = r.text("why");
  w.error = read_number(r, "error");
  w.tolerance = r.number("tolerance");
  return w;
}

Verdict read_verdict(const std::string& kind, ObjectReader& r, ObjectReader& top) {
  if (kind == "Unparsable") return Unparsable{r.text("why")};
  if (kind == "Duplicate") return Duplicate{r.text("of")};
  if (kind == "Unsupported") return Unsupported{r.text("why")};
  if (kind == "Rejected") return Rejected{r.text("by"), r.text("why")};
  if (kind == "CompileFailed") return CompileFailed{r.text("log")};
  if (kind == "LimitExceeded")
    return LimitExceeded{r.text("what"), r.number("value"), r.number("limit")};
  if (kind == "Crashed") return Crashed{r.text("why")};
  if (kind == "TimedOut") return TimedOut{r.number("limit_seconds")};
  if (kind == "Unsafe") return read_findings(r);
  if (kind == "InputChanged") return InputChanged{r.text("tensor")};
  if (kind == "WrongResult") return read_wrong(r);
  if (kind == "AssertionFailed") return AssertionFailed{r.text("assertion"), r.text("why")};
  if (kind == "Verified") return Verified{r.any("resources")};
  if (kind == "Measured") return read_timings(r, Measured{});
  if (kind == "Modelled") {
    Modelled m;
    m.profile = r.text("profile");
    m.model_version = r.text("model_version");
    return read_timings(r, std::move(m));
  }
  top.fault("kind", fmt::format("\"{}\" is no kind of outcome", kind));
  return Unsupported{};
}

/// The line that says what is wrong, not the chain of includes before it.
std::string first_error(const std::string& log) {
  const std::size_t error = log.find("error:");
  const std::size_t before = error == std::string::npos ? 0 : log.rfind('\n', error);
  const std::size_t start =
      before == std::string::npos || error == std::string::npos ? 0 : before + 1;
  return log.substr(start, log.find('\n', start) - start);
}

std::string detail(const Verdict& verdict) {
  return std::visit(
      Match{[](const Unparsable& v) { return v.why; },
            [](const Duplicate& v) { return "the same code as " + v.of; },
            [](const Unsupported& v) { return v.why; },
            [](const Rejected& v) { return fmt::format("by {}: {}", v.by, v.why); },
            [](const CompileFailed& v) { return first_error(v.log); },
            [](const LimitExceeded& v) {
              return fmt::format("{} is {:g}, at most {:g}", v.what, v.value, v.limit);
            },
            [](const Crashed& v) { return v.why; },
            [](const TimedOut& v) { return fmt::format("not done in {:g} s", v.limit_seconds); },
            [](const Unsafe& v) {
              return v.findings.empty() ? std::string("findings") : v.findings.front().message;
            },
            [](const InputChanged& v) { return "it wrote into its input " + v.tensor; },
            [](const WrongResult& v) { return v.why; },
            [](const AssertionFailed& v) { return v.assertion + ": " + v.why; },
            [](const Verified&) { return std::string("right, not timed"); },
            [](const Modelled& v) {
              return fmt::format("{:.3g}x {} (modelled)", v.score.value, v.baseline);
            },
            [](const Measured& v) {
              return fmt::format("{:.3g}x {} [{:.3g}, {:.3g}]", v.score.value, v.baseline,
                                 v.score.low, v.score.high);
            }},
      verdict);
}

}  // namespace

std::string_view name(Stage stage) {
  for (const auto& [s, text] : kStages)
    if (s == stage) return text;
  return "";
}

bool Outcome::passed() const {
  return std::holds_alternative<Verified>(verdict) || std::holds_alternative<Modelled>(verdict) ||
         std::holds_alternative<Measured>(verdict);
}

std::optional<Ratio> Outcome::score() const {
  if (const auto* m = std::get_if<Measured>(&verdict)) return m->score;
  if (const auto* m = std::get_if<Modelled>(&verdict)) return m->score;
  return std::nullopt;
}

std::string_view kind(const Outcome& outcome) {
  static constexpr std::string_view kKinds[] = {
      "Unparsable",    "Duplicate",       "Unsupported", "Rejected", "CompileFailed",
      "LimitExceeded", "Crashed",         "TimedOut",    "Unsafe",   "InputChanged",
      "WrongResult",   "AssertionFailed", "Verified",    "Modelled", "Measured"};
  static_assert(std::size(kKinds) == std::variant_size_v<Verdict>);
  return kKinds[outcome.verdict.index()];
}

std::string summary(const Outcome& outcome) {
  std::string text(kind(outcome));
  if (!outcome.workload.empty()) text += " on " + outcome.workload;
  const std::string why = detail(outcome.verdict);
  return why.empty() ? text : text + ": " + why;
}

Json to_json(const Ratio& ratio) { return ratio_json(ratio); }

base::Result<Ratio> parse_ratio(const Json& json, std::string_view where) {
  ObjectReader r(json, std::string(where));
  Ratio ratio{r.number("value"), r.number("low"), r.number("high"),
              static_cast<int>(r.integer("pairs"))};
  KS_RETURN_IF_ERROR(r.finish());
  return ratio;
}

Json to_json(const WorkloadTiming& timing) { return timing_json(timing); }

base::Result<WorkloadTiming> parse_timing(const Json& json, std::string_view where) {
  ObjectReader r(json, std::string(where));
  WorkloadTiming timing = read_timing(r);
  KS_RETURN_IF_ERROR(r.finish());
  return timing;
}

Json to_json(const Outcome& o) {
  Json json{{"kind", kind(o)}, {"stage", name(o.stage)}};
  if (!o.workload.empty()) json["workload"] = o.workload;
  if (!o.select.empty()) json["select"] = to_json(o.select);
  json["measurements"] = o.measurements;
  if (!o.notes.empty()) json["notes"] = o.notes;
  json["detail"] = verdict_json(o.verdict);
  return json;
}

base::Result<Outcome> parse_outcome(const Json& json, std::string_view where) {
  ObjectReader r(json, std::string(where));
  Outcome o;
  const std::string kind = r.text("kind");
  const std::string stage = r.text("stage");
  bool found = false;
  for (const auto& [s, text] : kStages)
    if (text == stage) {
      o.stage = s;
      found = true;
    }
  if (!found) r.fault("stage", fmt::format("\"{}\" is no stage", stage));
  o.workload = r.text_or("workload", "");
  if (const Json* select = r.optional_array("select")) {
    KS_TRY(o.select, parse_select(*select, r.place("select")));
  }
  o.measurements = static_cast<int>(r.integer("measurements"));
  o.notes = r.texts_or_empty("notes");
  ObjectReader detail(r.object("detail"), r.place("detail"));
  o.verdict = read_verdict(kind, detail, r);
  r.keep(detail);
  KS_RETURN_IF_ERROR(r.finish());
  return o;
}

}  // namespace ksearch::kernel
