// The tools that `ksearch mcp` serves: a list with their schemas, and what each does.
#pragma once

#include <memory>
#include <string>

#include "cli/agent_run.h"
#include "cli/json_rpc.h"

namespace ksearch::cli {

class McpTools {
 public:
  explicit McpTools(const Context& context) : context_(context) {}
  /// As tools/list has it.
  static base::Json list();
  /// The text of the result; an error is told to the agent as one of the tool's. An unknown name is
  /// the caller's business.
  static bool known(const std::string& name);
  base::Result<base::Json> call(const std::string& name, const base::Json& arguments);

 private:
  base::Result<base::Json> start_run(base::ObjectReader& in);
  base::Result<base::Json> resume_run(base::ObjectReader& in);
  base::Result<base::Json> submit_program(base::ObjectReader& in);
  base::Result<base::Json> export_best(base::ObjectReader& in);
  base::Result<AgentRun*> run();

  const Context& context_;
  std::unique_ptr<AgentRun> run_;
};

}  // namespace ksearch::cli
