// JSON as models write it: with comments, trailing commas, single quotes, bare keys and numbers
// that start with a point. What was forgiven is noted; anything else stays an error with its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace ksearch::llm {

struct RelaxedJson {
  base::Json value;
  std::vector<std::string> notes;  ///< "trailing comma (2 times)", one for each kind
};

/// The error's line is the text's own.
base::Result<RelaxedJson> parse_relaxed_json(std::string_view text, std::string_view where);

}  // namespace ksearch::llm
