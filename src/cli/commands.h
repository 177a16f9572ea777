// One function a command, each in the file of its name. The value is the exit code.
#pragma once

#include "cli/options.h"
#include "cli/session.h"

namespace ksearch::cli {

base::Result<int> run(const Context& context, const RunOptions& options);
base::Result<int> resume(const Context& context, const ResumeOptions& options);
base::Result<int> eval(const Context& context, const EvalOptions& options);
base::Result<int> spec(const Context& context, const SpecOptions& options);
base::Result<int> report(const Context& context, const ReportOptions& options);
base::Result<int> replay(const Context& context, const ReplayOptions& options);
base::Result<int> compare(const Context& context, const CompareOptions& options);
base::Result<int> export_files(const Context& context, const ExportOptions& options);
base::Result<int> check(const Context& context, const CheckOptions& options);
base::Result<int> tasks(const Context& context, const TasksOptions& options);
base::Result<int> models(const Context& context, const ModelsOptions& options);
base::Result<int> mcp(const Context& context, const McpOptions& options);
base::Result<int> devices(const Context& context, const DevicesOptions& options);
base::Result<int> new_task(const Context& context, const NewTaskOptions& options);

/// Exit codes (design, section 11).
inline constexpr int kDone = 0;
inline constexpr int kNothingPassed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kEnvironment = 3;
inline constexpr int kInternal = 4;
int exit_code(const base::Error& error);

}  // namespace ksearch::cli
