// Options of the commands that search, and of those that read what was found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

#include "cli/argument_setups.h"
#include "cli/duration.h"
#include "cli/engineer_choice.h"
#include "cli/model_choice.h"
#include "search/strategy.h"

namespace ksearch::cli {
namespace {

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

}  // namespace

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
  app.add_option("--strategies", options.strategies,
                 fmt::format("Names with commas between them: {}",
                             fmt::join(search::strategy_names(), ", ")))
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

void setup_models(CLI::App& app, Parsed& parsed) {
  ModelsOptions& options = parsed.models;
  app.add_option("--test", options.test, "Call this model once and say what works: a few tokens");
  add_model_options(app, options.how);
  add_json(app, options.json);
}

}  // namespace ksearch::cli
