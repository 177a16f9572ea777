#include "llm/sse.h"

namespace ksearch::llm {

std::vector<std::string> sse_data(std::string_view body) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> events;
  std::string data;
  bool any = false;
  while (!body.empty()) {
    const std::size_t end = body.find_first_of("\r\n");
    if (end == std::string_view::npos) break;  // a line without its end was cut off
    std::string_view line = body.substr(0, end);
    const bool pair = body.substr(end).starts_with("\r\n");
    body.remove_prefix(end + (pair ? 2 : 1));
    if (line.empty()) {
      if (any) events.push_back(std::move(data));
      data.clear();
      any = false;
      continue;
    }
    if (!line.starts_with("data")) continue;
    line.remove_prefix(4);
    if (!line.empty() && line.front() != ':') continue;  // another field: "database"
    if (!line.empty()) line.remove_prefix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (any) data += '\n';
    data += line;
    any = true;
  }
  return events;
}

}  // namespace ksearch::llm
