// Options of the commands that are about kernels, tasks and devices, without a search.
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

#include "cli/argument_setups.h"

namespace ksearch::cli {

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json,
                      "Print one JSON object last, and nothing else on standard output");
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

}  // namespace ksearch::cli
