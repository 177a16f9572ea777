// What each command was asked for: values, filled by arguments.cpp, used by the file of the
// command.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ksearch::cli {

/// What every command that evaluates programs takes.
struct EvaluateOptions {
  std::string task;  ///< name or folder
  std::string target = "cpu";
  std::string device;  ///< with target metal: gpu_place
  int threads = 0;     ///< 0: all that this process may use
  std::string where;   ///< keeps workloads
  std::string python;  ///< interpreter for experts; empty: the project's .venv
  std::uint64_t seed = 1;
  bool no_sandbox = false;  ///< --unsafe-no-sandbox
};

/// Language models: which, where, and how they are spoken to. No key is among them.
struct ModelOptions {
  std::string planner, coder;  ///< models of one role; empty: the engineer's
  std::string base_url;        ///< empty: the provider's that sells the model
  std::string api;             ///< wire format; empty: the provider's, "chat" with a base_url
  std::string key_variable;    ///< of the environment, with the key
  std::string key_file;
  std::string models_file, prices_file;  ///< laid over ours
  int max_output = 0;                    ///< tokens of one answer; 0: the model's most
  std::chrono::milliseconds retry_wait{1000};
  bool stream = true;
};

struct RunOptions {
  EvaluateOptions on;
  ModelOptions model;
  std::string engineer = "catalog";       ///< parse_engineer
  std::chrono::seconds answer_time{600};  ///< of one answer of exec: or llm:
  std::string strategy = "ksearch";
  std::optional<std::int64_t> evaluations;
  /// Without any limit: kDefaultTime; with dir: none, a person stops by Ctrl-C or by answers.
  std::optional<std::chrono::seconds> time;
  std::optional<std::int64_t> tokens;
  std::optional<double> cost_usd;
  int stagnation = 5;
  int lanes = 1;    ///< cycles at the same time
  std::string out;  ///< folder of the run; empty: runs/TASK-TIME
  bool json = false;
};
inline constexpr std::chrono::seconds kDefaultTime{600};
inline constexpr const char* kDefaultGpu = "apple-m1-max";
inline constexpr const char* kHereGpu = "here";  ///< this Mac's, through MLX

struct ResumeOptions {
  std::string run;       ///< folder, name below runs/, or empty: the newest
  bool certify = false;  ///< search no further: certify the best and end
  bool json = false;
};

struct EvalOptions {
  EvaluateOptions on;
  std::string program;  ///< program.json, or its folder
  bool certify = false;
  bool json = false;
};

struct SpecOptions {
  std::string task;
  std::string target = "cpu";
  std::string device;
  int threads = 0;
  std::string where;
  std::string engineer = "dir:.";  ///< with a catalog the worked example is one of its steps
};

struct ReportOptions {
  std::string run;
  bool ablate = false;
  bool json = false;
};

struct ReplayOptions {
  std::string run;
  bool json = false;
};

struct CompareOptions {
  EvaluateOptions on;
  std::string engineer = "catalog";
  std::vector<std::string> strategies;
  /// "full", "none": the catalog with and without the steps that rest on translation knowledge.
  std::vector<std::string> knowledge{"full"};
  int seeds = 3;
  std::int64_t evaluations = 10;
  bool json = false;
};

struct ExportOptions {
  std::string what;  ///< run, or program.json
  std::string as = "cpp";
  std::string out;   ///< folder; empty: export-NAME
  std::string name;  ///< of files and functions; empty: the task's
  std::string task;  ///< for a program.json outside a task's folder
};

struct TasksOptions {
  std::string python;
  bool json = false;
};

struct ModelsOptions {
  ModelOptions how;
  std::string test;  ///< a model to call once; empty: list what is known
  bool json = false;
};

struct McpOptions {};

struct DevicesOptions {
  std::string name;  ///< of a GPU that is known as data; empty: this machine
  int threads = 0;
  bool measure = false;
  bool self_test = false;  ///< of the MLX path
  bool json = false;
};

struct CheckOptions {
  std::string file;      ///< case.json, a Metal or CUDA file, a program.json or its folder
  std::string workload;  ///< of the program's task
  std::string device;    ///< an Apple GPU whose limits count; empty: what all of them take
  std::string kernel;
  std::vector<std::uint32_t> groups{1}, group_size{1};
  std::vector<std::uint32_t> threads;       ///< grid in threads; empty: given in groups
  std::vector<std::uint32_t> group_memory;  ///< bytes of each [[threadgroup(i)]]
  std::vector<std::string> buffers;         ///< simt::parse_buffer
  std::vector<std::string> constants;       ///< INDEX=VALUE
  std::vector<std::string> include;         ///< folders with headers
  std::vector<std::string> params;          ///< simt::parse_value; CUDA
  std::vector<std::string> symbols;         ///< simt::parse_buffer; CUDA
  std::vector<std::string> defines;         ///< NAME[=TEXT]
  bool body = false;                        ///< the file is a body for mx.fast.metal_kernel
  std::vector<std::string> arguments;       ///< its template arguments: NAME=VALUE
  bool atomic_outputs = false;
  std::string schedule = "default";  ///< simt::parse_schedules
  int optimize = 2;
  std::string trace_groups = "32";  ///< simt::parse_trace_groups
  bool no_trace = false;            ///< outputs only
  std::size_t jobs = 0;             ///< OS threads; 0: all CPUs
  double memory_gib = 8;
  int seconds = 120;        ///< of the run
  std::string dump;         ///< folder for outputs
  std::string metal_files;  ///< folder for what MLX would compile; nothing is run then
  bool no_sandbox = false;
  bool json = false;
};

struct NewTaskOptions {
  std::string name;
  std::string folder;  ///< empty: tasks/NAME
};

using Arguments =
    std::variant<RunOptions, ResumeOptions, EvalOptions, SpecOptions, ReportOptions, CompareOptions,
                 ExportOptions, CheckOptions, TasksOptions, DevicesOptions, NewTaskOptions,
                 ModelsOptions, McpOptions, ReplayOptions>;

}  // namespace ksearch::cli
