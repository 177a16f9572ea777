// ksearch mcp: the search for coding agents, over the Model Context Protocol on standard streams
// (revisions 2024-11-05 to 2025-11-25).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "cli/commands.h"
#include "cli/mcp_tools.h"
#include "os/descriptor.h"

namespace ksearch::cli {
namespace {

using base::Json;

constexpr std::array<std::string_view, 4> kRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                     "2024-11-05"};
constexpr const char* kInstructions =
    "ksearch searches for fast kernels; you are its engineer. Call start_run, then next_request "
    "until its state is question. Read the question whole and answer it with submit_answer (or "
    "submit_program). What you submit is compiled, checked against a float64 reference and timed; "
    "the next next_request says what came of it. Go on until the state is ended.";

Json initialized(const Json& params) {
  const std::string asked = params.is_object() ? params.value("protocolVersion", "") : "";
  const bool spoken = std::ranges::find(kRevisions, asked) != kRevisions.end();
  return {{"protocolVersion", spoken ? asked : std::string(kRevisions.front())},
          {"capabilities", {{"tools", {{"listChanged", false}}}}},
          {"serverInfo", {{"name", "ksearch"}, {"version", KSEARCH_VERSION}}},
          {"instructions", kInstructions}};
}

Json tool_result(const base::Result<Json>& result) {
  const std::string text = result ? base::to_text(*result) : result.error().text();
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", !result.has_value()}};
}

std::expected<Json, RpcError> call_tool(McpTools& tools, const Json& params) {
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string())
    return std::unexpected(RpcError{kInvalidParams, "a call names its tool"});
  if (!McpTools::known(*name))
    return std::unexpected(
        RpcError{kInvalidParams, "there is no tool " + name->get<std::string>()});
  const auto arguments = params.find("arguments");
  const bool none = arguments == params.end() || arguments->is_null();
  if (!none && !arguments->is_object())
    return std::unexpected(RpcError{kInvalidParams, "arguments are one object"});
  return tool_result(tools.call(*name, none ? Json::object() : *arguments));
}

}  // namespace

base::Result<int> mcp(const Context& context, const McpOptions&) {
  // Standard output is the protocol's: whatever else is printed goes to standard error.
  const os::Descriptor out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (out.get() < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return base::environment_error("standard output", "cannot be used");
  McpTools tools(context);
  const RpcMethod method = [&](const std::string& name,
                               const Json& params) -> std::expected<Json, RpcError> {
    if (name == "initialize") return initialized(params);
    if (name == "ping") return Json::object();
    if (name == "tools/list") return McpTools::list();
    if (name == "tools/call" && params.is_object()) return call_tool(tools, params);
    return std::unexpected(RpcError{kMethodNotFound, "there is no method " + name});
  };
  for (std::string line; std::getline(std::cin, line);) {
    auto answer = answer_rpc(line, method);
    if (!answer) continue;
    *answer += '\n';
    for (std::string_view left = *answer; !left.empty();) {
      const ssize_t n = write(out.get(), left.data(), left.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return kDone;  // the agent is gone; the run can be resumed
      left.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  return kDone;
}

}  // namespace ksearch::cli
