#include "cli/arguments.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/duration.h"
#include "cli/engineer_choice.h"
#include "cli/model_choice.h"
#include "search/strategy.h"

namespace ksearch::cli {
namespace {

/// Everything that is parsed into; one of them is what was asked for.
struct Parsed {
  RunOptions run;
  ResumeOptions resume;
  EvalOptions eval;
  SpecOptions spec;
  ReportOptions report;
  ReplayOptions replay;
  CompareOptions compare;
  ExportOptions export_;
  CheckOptions check;
  TasksOptions tasks;
  DevicesOptions devices;
  NewTaskOptions new_task;
  ModelsOptions models;
  McpOptions mcp;
};

const CLI::Range kCount(1, 1000000000, "COUNT");

/// CLI11 takes -1 and 10^30 for numbers near 2^64.
std::string whole_number(std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text.size() <= 19 ? "" : text + " is no whole number below 10^19";
}

/// What a command is about, and where its programs run.
template <class Options>
void add_task_and_place(CLI::App& app, Options& options) {
  app.add_option("TASK", options.task, "Name of a task (ksearch tasks), or a task's folder")
      ->required();
  app.add_option(
         "--target", options.target,
         "Where programs run: cpu, or metal (a Mac's GPU by MLX; elsewhere an engine, times "
         "modelled)")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "metal"}));
  app.add_option("--device", options.device,
                 fmt::format("With metal: {}, this Mac's GPU, or the GPU that the engine models "
                             "(ksearch devices NAME) [{} where MLX has a Metal device, else {}]",
                             kHereGpu, kHereGpu, kDefaultGpu));
  app.add_option("--threads", options.threads, "Threads a program may use [all]")
      ->check(CLI::Range(1, 4096));
}

void add_evaluate_options(CLI::App& app, EvaluateOptions& options) {
  add_task_and_place(app, options);
  app.add_option("--where", options.where,
                 "Keep workloads for which this holds: 'T == float32 and D == 64'");
  app.add_option("--python", options.python,
                 "Python with libraries to compare with (torch, ...) [.venv]");
  app.add_option("--seed", options.seed, "Of inputs and choices")
      ->capture_default_str()
      ->check(CLI::Validator(whole_number, "UINT"));
  app.add_flag("--unsafe-no-sandbox", options.no_sandbox,
               "Run candidates without confinement where none can be had");
}

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json,
                      "Print one JSON object last, and nothing else on standard output");
}

void add_run_name(CLI::App& app, std::string& run) {
  app.add_option("RUN", run, "Folder of a run, or its name below runs/ [the newest]")
      ->check([](const std::string& text) {  // an unset variable does not mean the newest
        return std::string(text.empty() ? "is empty; leave it out for the newest run" : "");
      });
}

void add_engineer(CLI::App& app, std::string& engineer) {
  app.add_option("--engineer", engineer, "Who plans and writes programs")
      ->capture_default_str()
      ->check(CLI::IsMember({"catalog"}));
}

template <class Time>
void add_time(CLI::App& app, const char* name, Time& time, const char* help) {
  app.add_option_function<std::string>(
         name, [&time](const std::string& text) { time = *parse_duration(text); }, help)
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string() : "\"" + text + "\" is no time: 90s, 3m, 1h30m";
      });
}

/// How models are reached; `run` and `models` share it.
void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("--base-url", options.base_url,
                 "A server of your own that speaks as OpenAI's or Anthropic's do: "
                 "http://127.0.0.1:8080/v1");
  app.add_option("--api", options.api, "How it speaks [the provider's; with --base-url: chat]")
      ->check(CLI::IsMember({"chat", "responses", "messages"}));
  app.add_option("--key-env", options.key_variable,
                 "Variable that holds the key [OPENAI_API_KEY, ANTHROPIC_API_KEY, ...; with "
                 "--base-url: KSEARCH_API_KEY, if set]");
  app.add_option("--key-file", options.key_file, "File that holds the key")
      ->check(CLI::ExistingFile);
  app.add_option("--models", options.models_file, "File laid over knowledge/models.json")
      ->check(CLI::ExistingFile);
  app.add_option("--prices", options.prices_file,
                 "File of prices laid over knowledge/prices.json (the format of LiteLLM's)")
      ->check(CLI::ExistingFile);
  app.add_option("--max-output", options.max_output,
                 "Most tokens of one answer, thinking included [the model's most]")
      ->check(kCount);
  app.add_flag("!--no-stream", options.stream, "Ask for answers in one piece");
}

void setup_run(CLI::App& app, Parsed& parsed) {
  RunOptions& options = parsed.run;
  add_evaluate_options(app, options.on);
  app.add_option("--engineer", options.engineer,
                 "Who plans and writes programs: catalog, llm:MODEL, dir:FOLDER (requests and "
                 "answers are files), exec:COMMAND, or catalog+ one of the last three")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const auto choice = parse_engineer(text);
        return choice ? std::string() : choice.error().what + "; " + choice.error().todo;
      });
  add_time(app, "--answer-time", options.answer_time,
           "How long one call of a model, or exec:COMMAND, may take [10m]");
  app.add_option("--planner", options.model.planner, "With llm: another model to plan");
  app.add_option("--coder", options.model.coder, "With llm: another model to write programs");
  add_model_options(app, options.model);
  app.add_option_function<std::string>(
         "--cost", [&options](const std::string& text) { options.cost_usd = parse_money(text); },
         "End after so much money: 5usd")
      ->check([](const std::string& text) {
        return parse_money(text) ? std::string() : "\"" + text + "\" is no amount: 5usd, 0.50";
      });
  app.add_option_function<std::string>(
         "--retry-wait",
         [&options](const std::string& text) { options.model.retry_wait = *parse_duration(text); },
         "First wait before a failed call of a model is repeated; doubles each time [1s]")
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string() : "\"" + text + "\" is no time";
      });
  app.add_option(
         "--tokens", options.tokens,
         "End after so many tokens of questions and answers (estimated where nobody counts)")
      ->check(kCount);
  app.add_option("--evaluations", options.evaluations, "End after so many evaluated programs")
      ->check(kCount);
  add_time(app, "--time", options.time, "End after this wall time: 90s, 3m, 1h30m [10m]");
  app.add_option("--strategy", options.strategy, "How the search chooses")
      ->capture_default_str()
      ->check(CLI::IsMember([] {
        std::vector<std::string> names;
        for (const auto name : search::strategy_names()) names.emplace_back(name);
        return names;
      }()));
  app.add_option("--stagnation", options.stagnation, "Attempts without progress that end a cycle")
      ->capture_default_str()
      ->check(kCount);
  app.add_option("--lanes", options.lanes,
                 "Actions under way at a time: models think about some while one is measured")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--out", options.out, "Folder of the run [runs/TASK-TIME]");
  add_json(app, options.json);
}

void setup_resume(CLI::App& app, Parsed& parsed) {
  add_run_name(app, parsed.resume.run);
  app.add_flag("--certify", parsed.resume.certify, "Search no further: certify the best and end");
  add_json(app, parsed.resume.json);
}

void setup_eval(CLI::App& app, Parsed& parsed) {
  add_evaluate_options(app, parsed.eval.on);
  app.add_option("PROGRAM", parsed.eval.program, "A program.json, or its folder")->required();
  app.add_flag("--certify", parsed.eval.certify, "Put it to the proof on held-out workloads too");
  add_json(app, parsed.eval.json);
}

void setup_spec(CLI::App& app, Parsed& parsed) {
  SpecOptions& options = parsed.spec;
  add_task_and_place(app, options);
  app.add_option("--where", options.where, "Keep workloads for which this holds");
  app.add_flag_callback(
      "--catalog", [&options] { options.engineer = "catalog"; },
      "As with --engineer catalog+...: the worked example is a step of the catalog");
}

void setup_report(CLI::App& app, Parsed& parsed) {
  add_run_name(app, parsed.report.run);
  app.add_flag("--ablate", parsed.report.ablate,
               "Measure what each step of the winner gains, by leaving it out (takes a session)");
  add_json(app, parsed.report.json);
}

void setup_replay(CLI::App& app, Parsed& parsed) {
  add_run_name(app, parsed.replay.run);
  add_json(app, parsed.replay.json);
}

void setup_compare(CLI::App& app, Parsed& parsed) {
  CompareOptions& options = parsed.compare;
  add_evaluate_options(app, options.on);
  add_engineer(app, options.engineer);
  app.add_option("--strategies", options.strategies, "Names with commas between them")
      ->delimiter(',')
      ->required();
  app.add_option("--knowledge", options.knowledge,
                 "full, none (without the catalog's steps that rest on translation knowledge), or "
                 "full,none: an ablation of the catalog")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "none"}));
  app.add_option("--seeds", options.seeds, "Searches for each strategy")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--evaluations", options.evaluations, "Budget of each search")
      ->capture_default_str()
      ->check(kCount);
  add_json(app, options.json);
}

void setup_export(CLI::App& app, Parsed& parsed) {
  ExportOptions& options = parsed.export_;
  app.add_option("WHAT", options.what, "A run (its winner), or a program.json")->required();
  app.add_option("--as", options.as,
                 "Form: cpp; mlx-python or mlx-cpp for a program of dialect mlx")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpp", "mlx-python", "mlx-cpp"}));
  app.add_option("--out", options.out, "Folder for the files [export-NAME]");
  app.add_option("--name", options.name, "Of files and functions [the task's]");
  app.add_option("--task", options.task, "Task of a program.json [the one it names]");
}

void setup_check(CLI::App& app, Parsed& parsed) {
  CheckOptions& options = parsed.check;
  app.add_option(
         "FILE", options.file,
         "A case.json, a Metal or CUDA (.cu) file, or a program (its program.json or folder)")
      ->required();
  app.add_option("--workload", options.workload, "Of the program's task, by name");
  app.add_option("--kernel", options.kernel,
                 "Function, host_name, or an instantiation: 'f<float, 4>' (CUDA)");
  const auto add_size = [&](const char* name, std::vector<std::uint32_t>& size, const char* help) {
    app.add_option(name, size, help)
        ->delimiter(',')
        ->expected(1, 3)
        ->check(CLI::Range(1u, 1u << 30));
  };
  add_size("--groups", options.groups, "Threadgroups: X[,Y[,Z]] [1]");
  add_size("--group-size", options.group_size, "Threads of a group: X[,Y[,Z]] [1]");
  add_size("--threads", options.threads, "The grid in threads instead of --groups");
  app.add_option("--group-memory", options.group_memory,
                 "Bytes of each [[threadgroup(i)]]; of extern __shared__ (CUDA)")
      ->delimiter(',');
  app.add_option(
      "--buffer", options.buffers,
      "The next buffer: NAME=DTYPE:DIM[xDIM][:KIND[:A[:B]]][:inout]; without KIND an output; "
      "NAME=struct:i32:4:f32:0.5, a parameter struct; NAME=null (CUDA)");
  app.add_option("--param", options.params,
                 "CUDA: the next value: n=64, eps=1e-5, p={ptr:in,i32:64,f32:0.5}");
  app.add_option("--symbol", options.symbols,
                 "CUDA: contents of a __constant__ or __device__ variable, as --buffer");
  app.add_option("--define", options.defines, "A macro: NAME[=TEXT]");
  app.add_option("--constant", options.constants, "A function constant: INDEX=VALUE");
  app.add_option("--include", options.include, "A folder with headers");
  CLI::Option* body = app.add_flag(
      "--body", options.body, "The file is a body for mx.fast.metal_kernel; its grid is --threads");
  app.add_option("--template", options.arguments, "A template argument of the body: NAME=VALUE")
      ->needs(body);
  app.add_flag("--atomic-outputs", options.atomic_outputs, "The body's outputs are atomic")
      ->needs(body);
  app.add_option("--device", options.device,
                 "The GPU whose limits count (ksearch devices) [what every Apple GPU takes]");
  app.add_option("--schedule", options.schedule,
                 "Order of SIMD-groups: default, reversed, random:SEED; several, with commas")
      ->capture_default_str();
  app.add_option("--optimize", options.optimize, "Of the compiled kernel")
      ->capture_default_str()
      ->check(CLI::IsMember({0, 2}));
  app.add_option(
         "--trace-groups", options.trace_groups,
         "Groups of a launch whose work is counted, a sample where it has more: a number, all, "
         "0 for none")
      ->capture_default_str();
  app.add_flag("--no-trace", options.no_trace,
               "Outputs only: nothing is watched, several times as fast");
  app.add_option("--jobs", options.jobs, "CPU threads; the report is the same [all CPUs]")
      ->check(CLI::Range(1, 4096));
  app.add_option("--memory", options.memory_gib, "GiB for the buffers and what watches them")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--time", options.seconds, "Seconds that a run may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 86400));
  app.add_option("--dump", options.dump, "Folder for the bytes of each output, NAME.bin");
  app.add_option("--metal-files", options.metal_files,
                 "Run nothing: write what MLX would compile for a program's workloads there");
  app.add_flag("--unsafe-no-sandbox", options.no_sandbox,
               "Run the kernel without confinement where none can be had");
  add_json(app, options.json);
}

void setup_tasks(CLI::App& app, Parsed& parsed) {
  app.add_option("--python", parsed.tasks.python, "Python to look for libraries in [.venv]");
  add_json(app, parsed.tasks.json);
}

void setup_models(CLI::App& app, Parsed& parsed) {
  ModelsOptions& options = parsed.models;
  app.add_option("--test", options.test, "Call this model once and say what works: a few tokens");
  add_model_options(app, options.how);
  add_json(app, options.json);
}

void setup_devices(CLI::App& app, Parsed& parsed) {
  app.add_option("NAME", parsed.devices.name, "A GPU that is known as data [this machine]");
  app.add_option("--threads", parsed.devices.threads, "Threads the profile is for [all]")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--measure", parsed.devices.measure, "Measure anew instead of reading the cache");
  app.add_flag("--self-test", parsed.devices.self_test,
               "Whether kernels run through MLX on this machine's GPU");
  add_json(app, parsed.devices.json);
}

void setup_new_task(CLI::App& app, Parsed& parsed) {
  app.add_option("NAME", parsed.new_task.name, "Letters, digits and _")->required();
  app.add_option("--dir", parsed.new_task.folder, "Folder to make [tasks/NAME]");
}

/// Every command, in the order of --help. `worker` is not here: people do not call it.
struct Entry {
  const char* name;
  const char* help;
  void (*setup)(CLI::App&, Parsed&);
  Arguments (*take)(Parsed&);
};
constexpr std::array<Entry, 14> kCommands{{
    {"run", "Search for a fast program", setup_run, [](Parsed& p) -> Arguments { return p.run; }},
    {"resume", "Go on with a run that was stopped or killed", setup_resume,
     [](Parsed& p) -> Arguments { return p.resume; }},
    {"eval", "Judge one program: right? how fast?", setup_eval,
     [](Parsed& p) -> Arguments { return p.eval; }},
    {"spec", "What an engineer in writing is told of a task and this machine", setup_spec,
     [](Parsed& p) -> Arguments { return p.spec; }},
    {"report", "What a run found, and what each step gained", setup_report,
     [](Parsed& p) -> Arguments { return p.report; }},
    {"replay", "A recorded run again, without network and measuring: nothing may differ",
     setup_replay, [](Parsed& p) -> Arguments { return p.replay; }},
    {"compare", "Strategies against each other on one budget", setup_compare,
     [](Parsed& p) -> Arguments { return p.compare; }},
    {"export", "The winner as files that need no ksearch", setup_export,
     [](Parsed& p) -> Arguments { return p.export_; }},
    {"check", "Run a Metal or CUDA kernel here and see what is wrong with it", setup_check,
     [](Parsed& p) -> Arguments { return p.check; }},
    {"tasks", "Operations that are known here", setup_tasks,
     [](Parsed& p) -> Arguments { return p.tasks; }},
    {"models", "Language models: whose keys and prices are known here, and whether one answers",
     setup_models, [](Parsed& p) -> Arguments { return p.models; }},
    {"mcp", "Serve the search to a coding agent (Model Context Protocol, standard streams)",
     [](CLI::App&, Parsed&) {}, [](Parsed& p) -> Arguments { return p.mcp; }},
    {"devices", "This machine, or a GPU by name: what it is and what it reaches", setup_devices,
     [](Parsed& p) -> Arguments { return p.devices; }},
    {"new-task", "A folder with a task of your own, to start from", setup_new_task,
     [](Parsed& p) -> Arguments { return p.new_task; }},
}};

/// An empty value is a variable that is not set: it stands for no default.
void refuse_empty(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->check(
          [](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); });
}

bool known_command(std::string_view name) {
  return std::ranges::any_of(kCommands, [&](const Entry& entry) { return entry.name == name; });
}

}  // namespace

std::variant<Arguments, int> parse_arguments(int argc, const char* const* argv) {
  CLI::App app(
      "ksearch finds fast kernels: a tree of optimization plans, each program compiled,\n"
      "checked against float64 and measured here.",
      "ksearch");
  app.set_version_flag("--version", KSEARCH_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    std::string command = failed->get_name();
    for (const CLI::App* sub : failed->get_subcommands()) command += " " + sub->get_name();
    return "ksearch: " + std::string(error.what()) + "\n  " + command +
           " --help says what there is\n";
  });
  app.get_formatter()->column_width(30);
  Parsed parsed;
  for (const Entry& entry : kCommands) {
    CLI::App& command = *app.add_subcommand(entry.name, entry.help);
    entry.setup(command, parsed);
    refuse_empty(command);
  }
  if (argc > 1 && argv[1][0] != '-' && !known_command(argv[1])) {
    std::string names;
    for (const Entry& entry : kCommands)
      names += std::string(names.empty() ? "" : ", ") + entry.name;
    const std::string said =
        "ksearch: there is no command \"" + std::string(argv[1]) + "\"\n  known: " + names + "\n";
    std::fputs(said.c_str(), stderr);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const Entry& entry : kCommands)
    if (app.got_subcommand(entry.name)) return entry.take(parsed);
  return 2;
}

}  // namespace ksearch::cli
