// Server-sent events (WHATWG HTML, section 9.2) out of a body: only their data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksearch::llm {

/// The data of each event, lines of one event joined by line feeds. An event that the body's end
/// cuts off is left out.
std::vector<std::string> sse_data(std::string_view body);

}  // namespace ksearch::llm
