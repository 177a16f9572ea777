#include "cli/json_rpc.h"

namespace ksearch::cli {
namespace {

using base::Json;

std::string error_line(const Json& id, const RpcError& error) {
  return base::to_line({{"jsonrpc", "2.0"},
                        {"id", id},
                        {"error", {{"code", error.code}, {"message", error.message}}}});
}

}  // namespace

std::optional<std::string> answer_rpc(std::string_view line, const RpcMethod& method) {
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::nullopt;
  const auto message = base::parse_json(line, "message");
  if (!message) return error_line(nullptr, {kParseError, message.error().text()});
  if (!message->is_object())
    return error_line(nullptr, {kInvalidRequest, "a message is one object"});
  const auto id = message->find("id");
  const auto name = message->find("method");
  const bool named = name != message->end() && name->is_string();
  if (id == message->end() || id->is_null()) return std::nullopt;  // a notification
  if (!named) {
    const bool answer = message->contains("result") || message->contains("error");
    if (answer) return std::nullopt;  // to a question that we never ask
    return error_line(*id, {kInvalidRequest, "a request has a method"});
  }
  const auto params = message->find("params");
  const auto result =
      method(name->get<std::string>(), params == message->end() ? Json::object() : *params);
  if (!result) return error_line(*id, result.error());
  return base::to_line({{"jsonrpc", "2.0"}, {"id", *id}, {"result", *result}});
}

}  // namespace ksearch::cli
