// The ksearch program: arguments to a command, its result to an exit code.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "simt/engine/worker.h"
#include "target/cpu/worker_main.h"

namespace ksearch::cli {
namespace {

base::Result<int> dispatch(const Context& context, const Arguments& arguments) {
  struct Dispatch {
    const Context& context;
    base::Result<int> operator()(const RunOptions& o) { return run(context, o); }
    base::Result<int> operator()(const ResumeOptions& o) { return resume(context, o); }
    base::Result<int> operator()(const EvalOptions& o) { return eval(context, o); }
    base::Result<int> operator()(const SpecOptions& o) { return spec(context, o); }
    base::Result<int> operator()(const ReportOptions& o) { return report(context, o); }
    base::Result<int> operator()(const ReplayOptions& o) { return replay(context, o); }
    base::Result<int> operator()(const CompareOptions& o) { return compare(context, o); }
    base::Result<int> operator()(const ExportOptions& o) { return export_files(context, o); }
    base::Result<int> operator()(const CheckOptions& o) { return check(context, o); }
    base::Result<int> operator()(const TasksOptions& o) { return tasks(context, o); }
    base::Result<int> operator()(const ModelsOptions& o) { return models(context, o); }
    base::Result<int> operator()(const McpOptions& o) { return mcp(context, o); }
    base::Result<int> operator()(const DevicesOptions& o) { return devices(context, o); }
    base::Result<int> operator()(const NewTaskOptions& o) { return new_task(context, o); }
  };
  return std::visit(Dispatch{context}, arguments);
}

/// Where standard error is closed nobody hears it; that must not end the program.
void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

int complain(const base::Error& error) {
  base::Error said = error;
  said.todo.clear();
  say("ksearch: " + said.text());
  if (!error.todo.empty()) say("  " + error.todo);
  return exit_code(error);
}

base::Error no_output(const char* why) {
  return {base::ErrorKind::environment, "output", fmt::format("cannot be written: {}", why), {}};
}

int run_program(int argc, char** argv) {
  auto parsed = parse_arguments(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  Context context{os::current_environment(), {}};
  auto home = Home::find(context.environment);
  if (!home) return complain(home.error());
  context.home = std::move(*home);
  const auto code = dispatch(context, std::get<Arguments>(parsed));
  if (!code) return complain(code.error());
  if (std::fflush(stdout) != 0 && errno != EPIPE) return complain(no_output(std::strerror(errno)));
  return *code;
}

}  // namespace

int guarded(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const std::system_error& error) {  // fmt's, where the stream is closed or full
    return complain(no_output(error.what()));
  } catch (const std::exception& error) {
    say(fmt::format("ksearch: internal fault: {}\n  Please report it with the command line.",
                    error.what()));
    return kInternal;
  }
}

int exit_code(const base::Error& error) {
  switch (error.kind) {
    case base::ErrorKind::usage:
      return kUsage;
    case base::ErrorKind::environment:
      return kEnvironment;
    case base::ErrorKind::internal:
      return kInternal;
  }
  return kInternal;
}

}  // namespace ksearch::cli

int main(int argc, char** argv) {
  // Before anything is set up: a worker starts often, and runs foreign code.
  if (argc == 3 && std::string_view(argv[1]) == "worker" && std::string_view(argv[2]) == "cpu")
    return ksearch::target::run_cpu_worker();
  if (argc == 3 && std::string_view(argv[1]) == "worker" && std::string_view(argv[2]) == "simt")
    return ksearch::simt::run_simt_worker();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone must not end a search
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  return ksearch::cli::guarded(argc, argv);
}
