#include <fmt/format.h>

#include "store/run.h"

namespace ksearch::store {
namespace {

constexpr std::string_view kRunFormat = "ksearch.run/1";

}  // namespace

base::Json to_json(const RunInfo& info) {
  return {{"format", kRunFormat},
          {"run", info.run},
          {"task", info.task},
          {"task_folder", info.task_folder},
          {"target", info.target},
          {"device", info.device},
          {"threads", info.threads},
          {"where", info.where},
          {"engineer", info.engineer},
          {"planner", info.planner},
          {"coder", info.coder},
          {"python", info.python},
          {"search", info.search},
          {"knowledge", info.knowledge},
          {"ksearch_version", info.ksearch_version},
          {"created_at", info.created_at},
          {"environment", info.environment},
          {"options", info.options}};
}

base::Result<RunInfo> parse_run_info(const base::Json& json, std::string_view where) {
  base::ObjectReader in(json, std::string(where));
  const std::string format = in.text("format");
  if (in.ok() && format != kRunFormat) {
    return base::environment_error(
        std::string(where),
        fmt::format("the run is of format {}, this ksearch reads {}", format, kRunFormat),
        "use a newer ksearch");
  }
  RunInfo info;
  info.run = in.text("run");
  info.task = in.text("task");
  info.task_folder = in.text("task_folder");
  info.target = in.text("target");
  info.device = in.any("device");
  info.threads = static_cast<int>(in.integer("threads"));
  info.where = in.text("where");
  info.engineer = in.text("engineer");
  info.planner = in.text("planner");
  info.coder = in.text("coder");
  info.python = in.text("python");
  info.search = in.any("search");
  info.knowledge = in.any("knowledge");
  info.ksearch_version = in.text("ksearch_version");
  info.created_at = in.text("created_at");
  info.environment = in.any("environment");
  info.options = in.any("options");
  KS_RETURN_IF_ERROR(in.finish());
  return info;
}

}  // namespace ksearch::store
