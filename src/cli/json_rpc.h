// JSON-RPC 2.0 over lines, as the Model Context Protocol's standard streams have it: one message a
// line, answers in the order of the requests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace ksearch::cli {

struct RpcError {
  int code = 0;
  std::string message;
};
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602;

/// The result of a request.
using RpcMethod = std::function<std::expected<base::Json, RpcError>(const std::string& method,
                                                                    const base::Json& params)>;

/// The line to write for one that was read; nothing for notifications and answers.
std::optional<std::string> answer_rpc(std::string_view line, const RpcMethod& method);

}  // namespace ksearch::cli
