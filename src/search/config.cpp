#include <fmt/format.h>

#include "search/engine.h"

namespace ksearch::search {
namespace {

using base::Json;

base::Result<void> check(const Config& config) {
  const auto bad = [](const char* name, std::string why) {
    return base::usage_error(name, std::move(why));
  };
  if (config.stagnation < 1) return bad("stagnation", "at least 1 attempt");
  if (config.difficulty_limit < 1 || config.difficulty_limit > 5) {
    return bad("difficulty_limit", fmt::format("{} is not within 1 to 5", config.difficulty_limit));
  }
  if (config.new_nodes < 1) return bad("new_nodes", "at least 1");
  if (config.lanes < 1) return bad("lanes", "at least 1");
  if (config.give_up_after < 1) return bad("give_up_after", "at least 1 cycle");
  if (config.lost_limit < 1) return bad("lost_limit", "at least 1");
  if (config.barren_limit < 1) return bad("barren_limit", "at least 1 cycle");
  if (config.frontier_low < 0 || config.inspirations < 0) {
    return bad("frontier_low", "no negative numbers");
  }
  if (config.roofline_stop < 0 || config.roofline_stop > 1) {
    return bad("roofline_stop", "a fraction, 0 to 1");
  }
  return {};
}

}  // namespace

base::Result<void> check_config(const Config& config) { return check(config); }

Json to_json(const Config& config) {
  return {{"task", config.task},
          {"target", config.target},
          {"dialect", kernel::name(config.dialect)},
          {"device", config.device},
          {"engineer", config.engineer},
          {"strategy", config.strategy},
          {"seed", config.seed},
          {"limits", event::to_json(config.limits)},
          {"stagnation", config.stagnation},
          {"difficulty_limit", config.difficulty_limit},
          {"frontier_low", config.frontier_low},
          {"new_nodes", config.new_nodes},
          {"first_nodes", config.first_nodes},
          {"lanes", config.lanes},
          {"inspirations", config.inspirations},
          {"give_up_after", config.give_up_after},
          {"lost_limit", config.lost_limit},
          {"barren_limit", config.barren_limit},
          {"roofline_stop", config.roofline_stop}};
}

base::Result<Config> parse_config(const Json& json, std::string_view where) {
  base::ObjectReader in(json, std::string(where));
  Config config;
  const auto number = [&](const char* key) { return static_cast<int>(in.integer(key)); };
  config.task = in.text("task");
  config.target = in.text("target");
  const std::string dialect = in.text("dialect");
  if (const auto known = kernel::parse_dialect(dialect)) {
    config.dialect = *known;
  } else {
    in.fault("dialect", fmt::format("\"{}\" is no dialect", dialect));
  }
  config.device = in.text("device");
  config.engineer = in.text("engineer");
  config.strategy = in.text("strategy");
  const Json& seed = in.any("seed");
  if (seed.is_number_integer()) {
    config.seed = seed.get<std::uint64_t>();
  } else {
    in.fault("seed", "an integer is wanted");
  }
  KS_TRY(config.limits, event::parse_limits(in.object("limits"), in.place("limits")));
  config.stagnation = number("stagnation");
  config.difficulty_limit = number("difficulty_limit");
  config.frontier_low = number("frontier_low");
  config.new_nodes = number("new_nodes");
  config.first_nodes = static_cast<int>(in.integer_or("first_nodes", 0));
  config.lanes = number("lanes");
  config.inspirations = number("inspirations");
  config.give_up_after = number("give_up_after");
  config.lost_limit = number("lost_limit");
  config.barren_limit = number("barren_limit");
  config.roofline_stop = in.number("roofline_stop");
  KS_RETURN_IF_ERROR(in.finish());
  KS_RETURN_IF_ERROR(check(config));
  return config;
}

}  // namespace ksearch::search
