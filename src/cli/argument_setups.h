// The options of each command. Internal to arguments.cpp.
#pragma once

#include <CLI/App.hpp>

#include "cli/options.h"

namespace ksearch::cli {

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

// arguments_search.cpp
void setup_run(CLI::App& app, Parsed& parsed);
void setup_resume(CLI::App& app, Parsed& parsed);
void setup_eval(CLI::App& app, Parsed& parsed);
void setup_spec(CLI::App& app, Parsed& parsed);
void setup_report(CLI::App& app, Parsed& parsed);
void setup_replay(CLI::App& app, Parsed& parsed);
void setup_compare(CLI::App& app, Parsed& parsed);
void setup_models(CLI::App& app, Parsed& parsed);
// arguments_kernels.cpp
void setup_export(CLI::App& app, Parsed& parsed);
void setup_check(CLI::App& app, Parsed& parsed);
void setup_tasks(CLI::App& app, Parsed& parsed);
void setup_devices(CLI::App& app, Parsed& parsed);
void setup_new_task(CLI::App& app, Parsed& parsed);

CLI::Option* add_json(CLI::App& app, bool& json);

}  // namespace ksearch::cli
