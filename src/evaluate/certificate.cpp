#include "evaluate/certificate.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::evaluate {
namespace {

using base::Json;
using base::ObjectReader;

Json timings(const std::vector<kernel::WorkloadTiming>& list) {
  Json json = Json::array();
  for (const auto& t : list) json.push_back(kernel::to_json(t));
  return json;
}

base::Result<std::vector<kernel::WorkloadTiming>> read_timings(ObjectReader& r,
                                                               std::string_view key) {
  std::vector<kernel::WorkloadTiming> list;
  for (const Json& json : r.array(key)) {
    KS_TRY(kernel::WorkloadTiming t,
           kernel::parse_timing(json, fmt::format("{}[{}]", r.place(key), list.size())));
    list.push_back(std::move(t));
  }
  return list;
}

bool passed_but_for_noise(const CertificateCheck& check) {
  return check.passed || check.name == "a_a_ratio" || check.name == "ratio";
}

}  // namespace

bool Certificate::only_noise() const {
  return !passed && !checks.empty() && std::ranges::all_of(checks, passed_but_for_noise);
}

const CertificateCheck* Certificate::failed_check() const {
  if (passed) return nullptr;
  auto found = std::ranges::find_if_not(checks, passed_but_for_noise);
  if (found == checks.end()) found = std::ranges::find(checks, false, &CertificateCheck::passed);
  return found == checks.end() ? nullptr : &*found;
}

std::string Certificate::summary() const {
  if (passed) return "passed";
  const CertificateCheck* check = failed_check();
  return check ? fmt::format("failed: {}: {}", check->name, check->finding)
               : "failed: no check was made";
}

base::Json to_json(const Certificate& c) {
  Json json{{"format", "ksearch.certificate/1"}, {"verdict", c.passed ? "passed" : "failed"}};
  if (!c.baseline.empty()) {
    json["baseline"] = c.baseline;
    json["heldout_ratio"] = kernel::to_json(c.heldout_ratio);
    json["feedback_ratio"] = kernel::to_json(c.feedback_ratio);
  }
  json["checks"] = Json::array();
  for (const CertificateCheck& check : c.checks) {
    Json one{{"name", check.name}, {"passed", check.passed}, {"finding", check.finding}};
    if (!check.details.is_null()) one["details"] = check.details;
    json["checks"].push_back(std::move(one));
  }
  json["heldout"] = timings(c.heldout);
  json["feedback"] = timings(c.feedback);
  json["basis"] = c.basis;
  return json;
}

base::Result<Certificate> parse_certificate(const Json& json, std::string_view where) {
  ObjectReader r(json, std::string(where));
  const std::string format = r.text("format");
  if (r.ok() && format != "ksearch.certificate/1")
    r.fault("format", fmt::format("is \"{}\"; this version reads ksearch.certificate/1", format));
  Certificate c;
  const std::string verdict = r.text("verdict");
  if (r.ok() && verdict != "passed" && verdict != "failed")
    r.fault("verdict", "passed or failed is wanted");
  c.passed = verdict == "passed";
  c.baseline = r.text_or("baseline", "");
  if (const Json* ratio = r.optional_object("heldout_ratio")) {
    KS_TRY(c.heldout_ratio, kernel::parse_ratio(*ratio, r.place("heldout_ratio")));
  }
  if (const Json* ratio = r.optional_object("feedback_ratio")) {
    KS_TRY(c.feedback_ratio, kernel::parse_ratio(*ratio, r.place("feedback_ratio")));
  }
  for (const Json& one : r.array("checks")) {
    ObjectReader check(one, fmt::format("{}[{}]", r.place("checks"), c.checks.size()));
    CertificateCheck read{check.text("name"), check.boolean_or("passed", false),
                          check.text("finding"), nullptr};
    if (check.has("details")) read.details = check.any("details");
    KS_RETURN_IF_ERROR(check.finish());
    c.checks.push_back(std::move(read));
  }
  KS_TRY(c.heldout, read_timings(r, "heldout"));
  KS_TRY(c.feedback, read_timings(r, "feedback"));
  c.basis = r.any("basis");
  KS_RETURN_IF_ERROR(r.finish());
  bool all = true;
  for (const CertificateCheck& check : c.checks) all = all && check.passed;
  if (c.passed && (!all || c.checks.empty()))
    return base::usage_error(std::string(where), "the verdict is passed but a check is not");
  return c;
}

}  // namespace ksearch::evaluate
