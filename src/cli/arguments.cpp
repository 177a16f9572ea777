#include "cli/arguments.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/argument_setups.h"

namespace ksearch::cli {
namespace {

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
