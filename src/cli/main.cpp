// The ksearch program: arguments to a command, its result to an exit code.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

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
    base::Result<int> operator()(const ReportOptions& o) { return report(context, o); }
    base::Result<int> operator()(const CompareOptions& o) { return compare(context, o); }
    base::Result<int> operator()(const ExportOptions& o) { return export_files(context, o); }
    base::Result<int> operator()(const CheckOptions& o) { return check(context, o); }
    base::Result<int> operator()(const TasksOptions& o) { return tasks(context, o); }
    base::Result<int> operator()(const DevicesOptions& o) { return devices(context, o); }
    base::Result<int> operator()(const NewTaskOptions& o) { return new_task(context, o); }
  };
  return std::visit(Dispatch{context}, arguments);
}

int complain(const base::Error& error) {
  base::Error said = error;
  said.todo.clear();
  fmt::print(stderr, "ksearch: {}\n", said.text());
  if (!error.todo.empty()) fmt::print(stderr, "  {}\n", error.todo);
  return exit_code(error);
}

int run_program(int argc, char** argv) {
  auto parsed = parse_arguments(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  Context context{os::current_environment(), {}};
  auto home = Home::find(context.environment);
  if (!home) return complain(home.error());
  context.home = std::move(*home);
  const auto code = dispatch(context, std::get<Arguments>(parsed));
  return code ? *code : complain(code.error());
}

}  // namespace

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
  if (argc == 4 && std::string_view(argv[1]) == "worker" && std::string_view(argv[2]) == "simt")
    return ksearch::simt::run_simt_worker(argv[3]);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone must not end a search
  try {
    return ksearch::cli::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ksearch: internal fault: {}\n  Please report it with the command line.\n",
               error.what());
    return ksearch::cli::kInternal;
  }
}
