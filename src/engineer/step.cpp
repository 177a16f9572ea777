// Reads step.json, strictly.
#include <fmt/format.h>

#include <algorithm>

#include "engineer/catalog.h"
#include "engineer/traits.h"

namespace ksearch::engineer {
namespace {

using base::Json;
using base::ObjectReader;

double within(ObjectReader& in, std::string_view key, double otherwise, double low, double high) {
  const double value = in.number_or(key, otherwise);
  if (value < low || value > high) {
    in.fault(key, fmt::format("{} is not within {} to {}", value, low, high));
  }
  return value;
}

tree::Action read_action(const Json& json, const std::string& where, ObjectReader& top) {
  ObjectReader in(json, where);
  tree::Action action;
  action.title = in.text("title");
  if (in.ok() && action.title.empty()) in.fault("title", "a step needs a title");
  action.description = in.text("description");
  action.difficulty = static_cast<int>(in.integer("difficulty_1_to_5"));
  if (in.ok() && (action.difficulty < 1 || action.difficulty > 5)) {
    in.fault("difficulty_1_to_5", fmt::format("{} is not within 1 to 5", action.difficulty));
  }
  in.number("score_0_to_1");
  action.score = within(in, "score_0_to_1", 0, 0, 1);
  if (in.has("expected_vs_baseline_factor")) {
    action.expected = within(in, "expected_vs_baseline_factor", 0, 0, 1000);
  }
  action.rationale = in.text_or("rationale", "");
  if (auto finished = in.finish(); !finished) top.fault("action", finished.error().text());
  return action;
}

tree::Impact read_impact(const Json* json, const std::string& where, std::string* hw_notes,
                         ObjectReader& top) {
  tree::Impact impact;
  if (!json) return impact;
  ObjectReader in(*json, where);
  in.number("rating_0_to_10");
  impact.rating = within(in, "rating_0_to_10", 0, 0, 10);
  impact.risk = in.text_or("risk", "");
  impact.notes = in.text_or("notes", "");
  if (hw_notes) *hw_notes = in.text_or("hw_notes", "");
  if (auto finished = in.finish(); !finished) top.fault("impacts", finished.error().text());
  return impact;
}

tree::Impacts read_impacts(ObjectReader& top) {
  tree::Impacts impacts;
  const Json* json = top.optional_object("impacts");
  if (!json) return impacts;
  ObjectReader in(*json, top.place("impacts"));
  const auto read = [&](const char* key, std::string* hw_notes) {
    return read_impact(in.optional_object(key), in.place(key), hw_notes, top);
  };
  impacts.memory_bandwidth = read("memory_bandwidth", nullptr);
  impacts.register_pressure = read("register_pressure", nullptr);
  impacts.compute_intensity_and_hw_fit = read("compute_intensity_and_hw_fit", &impacts.hw_notes);
  if (auto finished = in.finish(); !finished) top.fault("impacts", finished.error().text());
  return impacts;
}

void read_helps(ObjectReader& in, Step& step) {
  const Json* helps = in.optional_object("helps");
  if (!helps) return;
  for (const auto& [trait, weight] : helps->items()) {
    if (std::ranges::find(trait_names(), trait) == trait_names().end()) {
      in.fault("helps", fmt::format("\"{}\" is no trait", trait),
               fmt::format("traits are {}", fmt::join(trait_names(), ", ")));
    } else if (!weight.is_number() || weight < 0.0 || weight > 1.0) {
      in.fault("helps", fmt::format("{} is not a number within 0 to 1", trait));
    } else {
      step.helps[trait] = weight.get<double>();
    }
  }
}

void read_leave_out(ObjectReader& in, Step& step) {
  const Json* leave_out = in.optional_object("leave_out");
  if (!leave_out) return;
  for (const auto& [name, defines] : leave_out->items()) {
    if (!defines.is_object() || defines.empty()) {
      in.fault("leave_out", fmt::format("{} needs an object of defines", name));
      continue;
    }
    for (const auto& [define, value] : defines.items()) {
      if (value.is_number_integer()) {
        step.leave_out[name][define] = value.get<std::int64_t>();
      } else {
        in.fault("leave_out", fmt::format("{}.{} is not an integer", name, define));
      }
    }
  }
}

}  // namespace

base::Result<Step> parse_step(const Json& json, std::string_view name, std::string_view where) {
  ObjectReader in(json, std::string(where));
  Step step;
  step.name = name;
  const std::string format = in.text("format");
  if (in.ok() && format != "ksearch.step/1") {
    in.fault("format", fmt::format("\"{}\" is not ksearch.step/1", format));
  }
  in.array("parents");
  step.parents = in.texts_or_empty("parents");
  if (in.ok() && step.parents.empty()) {
    in.fault("parents", "a step hangs on at least one", "name steps, or \"naive\"");
  }
  step.action = read_action(in.object("action"), in.place("action"), in);
  step.impacts = read_impacts(in);
  step.rating = within(in, "overall_rating_0_to_10", 10 * step.action.score, 0, 10);
  step.confidence = within(in, "confidence_0_to_1", 0.5, 0, 1);
  if (in.has("needs")) {
    const std::string text = in.text("needs");
    const auto needs = kernel::Expr::parse(text, in.place("needs"));
    if (!needs) return std::unexpected(needs.error());
    for (const std::string& used : needs->names()) {
      if (!used.starts_with("device.")) {
        in.fault("needs", fmt::format("{} is nothing of the device", used), "use device.* names");
      }
    }
    step.needs = *needs;
  }
  read_helps(in, step);
  read_leave_out(in, step);
  step.rests_on = in.texts_or_empty("rests_on");
  KS_RETURN_IF_ERROR(in.finish());
  return step;
}

}  // namespace ksearch::engineer
