#include "cli/mcp_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/duration.h"
#include "os/process.h"

namespace ksearch::cli {
namespace {

using base::Json;
using base::ObjectReader;

constexpr int kWaitDefault = 20, kWaitMost = 50;  // seconds: clients give up after 60

struct Tool {
  const char* name;
  const char* text;
  const char* properties;  ///< JSON Schema
  const char* required;
};
constexpr std::array<Tool, 12> kTools{{
    {"list_tasks", "Operations that can be searched here, by name, with a line on each.", "{}",
     "[]"},
    {"start_run",
     "Start a search. It measures the baselines first (up to a minute); then "
     "next_request has the first question. Give evaluations or time, or the search goes on until "
     "you stop it.",
     R"({"task": {"type": "string"},
         "evaluations": {"type": "integer", "minimum": 1, "description": "end after so many measured programs"},
         "time": {"type": "string", "description": "end after this wall time: 10m, 1h30m"},
         "catalog": {"type": "boolean", "description": "try the catalog's proven steps first"},
         "where": {"type": "string", "description": "keep workloads for which this holds: T == float32 and D == 64"},
         "target": {"enum": ["cpu", "metal"], "description": "this CPU; or an Apple GPU: this Mac's, else on an engine (times are modelled) [cpu]"},
         "device": {"type": "string", "description": "with metal: here, or a GPU to model, like apple-m1-max"},
         "threads": {"type": "integer", "minimum": 1},
         "seed": {"type": "integer", "minimum": 0},
         "out": {"type": "string", "description": "folder of the run [runs/TASK-TIME]"}})",
     R"(["task"])"},
    {"resume_run", "Go on with a run that was stopped or killed.",
     R"({"run": {"type": "string", "description": "folder, or name below runs/ [the newest]"}})",
     "[]"},
    {"next_request",
     "Wait for the next question of the search and read it whole: it is complete in itself, with "
     "the task, the machine, the rules, what was measured, and the form of the answer. Also says "
     "what has happened since the last call. Call it again while the state is opening or working.",
     R"({"wait_seconds": {"type": "integer", "minimum": 0, "maximum": 50}})", "[]"},
    {"submit_answer",
     "Answer the open question in the form that it asks for: a JSON object for plans, files in "
     "fenced blocks and the launch plan for programs, {\"exhausted\": why} where nothing more is "
     "to "
     "be had. What cannot be used comes back at once with the reason; mend it and submit again.",
     R"({"request": {"type": "integer"}, "text": {"type": "string"}})", R"(["request", "text"])"},
    {"submit_program", "Answer an open question for a program with files and plan apart.",
     R"({"request": {"type": "integer"},
         "files": {"type": "array", "items": {"type": "object", "required": ["path", "text"],
           "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}},
         "plan": {"type": "object", "description": "the launch plan: launches, tunables, let, defines, scratch"}})",
     R"(["request", "files", "plan"])"},
    {"outcome", "What became of a program: verdict, diagnosis, times of each workload.",
     R"({"program": {"type": "string", "description": "its hash [the last one evaluated]"}})",
     "[]"},
    {"tree", "The tree of actions with scores, expectations and what was measured.", "{}", "[]"},
    {"edit_tree",
     "Add, change or delete nodes of the tree at any time: operations insert_node, update_node, "
     "split_node, delete_node as the planner's questions describe them.",
     R"({"ops": {"type": "array", "items": {"type": "object"}}})", R"(["ops"])"},
    {"best", "The best program so far: its files, its plan and what was measured of it.", "{}",
     "[]"},
    {"stop_run", "End the search. The best program is put to the proof first, unless told not to.",
     R"({"certify": {"type": "boolean"}})", "[]"},
    {"export",
     "Write the winner as files that need no ksearch: C++, or Python for MLX with target metal.",
     R"({"out": {"type": "string", "description": "folder for the files"}})", R"(["out"])"},
}};

base::Result<std::optional<std::chrono::seconds>> time_of(ObjectReader& in) {
  if (!in.has("time")) return std::nullopt;
  const std::string text = in.text("time");
  const auto time = parse_duration(text);
  if (!time) return base::usage_error("time", "\"" + text + "\" is no time", "90s, 3m, 1h30m");
  return time;
}

Json tasks_json(const Context& context) {
  Json json = Json::array();
  for (const auto& folder : task::list_tasks(context.home.task_search_path()))
    if (const auto task = task::load_task(folder))
      json.push_back({{"name", task->definition.name},
                      {"description", task->definition.description},
                      {"workloads", task->workloads.size()}});
  return {{"tasks", std::move(json)}};
}

}  // namespace

Json McpTools::list() {
  Json tools = Json::array();
  for (const Tool& tool : kTools)
    tools.push_back({{"name", tool.name},
                     {"description", tool.text},
                     {"inputSchema",
                      {{"type", "object"},
                       {"properties", Json::parse(tool.properties)},
                       {"required", Json::parse(tool.required)},
                       {"additionalProperties", false}}}});
  return {{"tools", std::move(tools)}};
}

bool McpTools::known(const std::string& name) {
  return std::ranges::any_of(kTools, [&](const Tool& tool) { return tool.name == name; });
}

base::Result<AgentRun*> McpTools::run() {
  if (run_) return run_.get();
  return base::usage_error("run", "none is open", "start_run or resume_run opens one");
}

base::Result<Json> McpTools::start_run(ObjectReader& in) {
  AgentRunOptions options;
  options.on.task = in.text("task");
  options.on.where = in.text_or("where", "");
  options.on.target = in.text_or("target", "cpu");
  options.on.device = in.text_or("device", "");
  options.on.threads = static_cast<int>(in.integer_or("threads", 0));
  options.on.seed = static_cast<std::uint64_t>(in.integer_or("seed", 1));
  options.catalog = in.boolean_or("catalog", false);
  options.folder = in.text_or("out", "");
  const std::int64_t evaluations = in.integer_or("evaluations", 0);
  KS_TRY(options.time, time_of(in));
  KS_RETURN_IF_ERROR(in.finish());
  if (options.on.target != "cpu" && options.on.target != "metal")
    return base::usage_error("target", "\"" + options.on.target + "\" is none", "cpu, metal");
  if (options.on.threads < 0 || options.on.threads > 4096 || evaluations < 0)
    return base::usage_error("start_run", "threads and evaluations are numbers above zero");
  if (evaluations > 0) options.evaluations = evaluations;
  KS_TRY(const task::Task task, open_task(context_.home, options.on.task, options.on.target));
  if (options.folder.empty()) options.folder = new_run_folder(task.definition.name).string();
  run_.reset();  // one at a time: what it times must have the machine for itself
  KS_TRY(run_, AgentRun::start(context_, std::move(options)));
  return Json{{"run", run_->folder().string()}, {"state", "opening"}};
}

base::Result<Json> McpTools::resume_run(ObjectReader& in) {
  AgentRunOptions options;
  const std::string name = in.text_or("run", "");
  KS_RETURN_IF_ERROR(in.finish());
  run_.reset();
  KS_TRY(const std::filesystem::path folder, find_run(name));
  options.folder = folder.string();
  options.resume = true;
  KS_TRY(run_, AgentRun::start(context_, std::move(options)));
  return Json{{"run", run_->folder().string()}, {"state", "opening"}};
}

base::Result<Json> McpTools::submit_program(ObjectReader& in) {
  const auto request = static_cast<std::uint64_t>(in.integer("request"));
  Json plan = in.object("plan");
  const Json& files = in.array("files");
  KS_RETURN_IF_ERROR(in.finish());
  std::vector<kernel::Source> sources;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ObjectReader file(files[i], fmt::format("files[{}]", i));
    kernel::Source source;
    source.path = file.text("path");
    source.text = file.text("text");
    KS_RETURN_IF_ERROR(file.finish());
    sources.push_back(std::move(source));
  }
  KS_TRY(AgentRun* const run, this->run());
  return run->submit_program(request, std::move(plan), std::move(sources));
}

/// By a process of our own: the exporter writes to standard output, which is the protocol's here.
base::Result<Json> McpTools::export_best(ObjectReader& in) {
  const std::string out = in.text("out");
  KS_RETURN_IF_ERROR(in.finish());
  KS_TRY(AgentRun* const run, this->run());
  os::Command command;
  command.argv = {os::executable_path().string(),
                  "export",
                  run->folder().string(),
                  "--as",
                  run->target() == "metal" ? "mlx-python" : "cpp",
                  "--out",
                  out};
  command.environment = context_.environment;
  KS_TRY(const os::Finished done, os::run(command, std::chrono::minutes(2)));
  if (done.status.code != 0) return base::usage_error("export", done.output);
  return Json{{"text", done.output}};
}

base::Result<Json> McpTools::call(const std::string& name, const Json& arguments) {
  ObjectReader in(arguments, name);
  if (name == "start_run") return start_run(in);
  if (name == "resume_run") return resume_run(in);
  if (name == "submit_program") return submit_program(in);
  if (name == "export") return export_best(in);
  if (name == "list_tasks") {
    KS_RETURN_IF_ERROR(in.finish());
    return tasks_json(context_);
  }
  // What follows is about the open run; everything is read before it is looked for.
  const auto wait = std::clamp<std::int64_t>(
      name == "next_request" ? in.integer_or("wait_seconds", kWaitDefault) : 0, 0, kWaitMost);
  const bool answer = name == "submit_answer";
  const auto request = answer ? static_cast<std::uint64_t>(in.integer("request")) : 0;
  const std::string text = answer ? in.text("text") : "";
  const std::string program = name == "outcome" ? in.text_or("program", "") : "";
  const Json ops = name == "edit_tree" ? in.array("ops") : Json();
  const bool certify = name != "stop_run" || in.boolean_or("certify", true);
  KS_RETURN_IF_ERROR(in.finish());
  KS_TRY(AgentRun* const run, this->run());
  if (name == "next_request") return run->next(std::chrono::seconds(wait));
  if (answer) return run->submit(request, text);
  if (name == "outcome") return run->outcome(program);
  if (name == "tree") return run->tree();
  if (name == "edit_tree") return run->edit(ops);
  if (name == "best") return run->best();
  return run->stop(certify);
}

}  // namespace ksearch::cli
