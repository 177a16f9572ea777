// A line of a file that is only appended to: an object with, as its last member, `sum`: the first 8
// hex digits of the SHA-256 of the line without it, so that damage is seen.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace ksearch::store {

/// The object on one line with its sum, and a line feed.
std::string sealed_line(const base::Json& json);
/// The object without its sum. An error where the line (without its line feed) is not as written:
/// `where` names file and line.
base::Result<base::Json> open_line(std::string_view line, const std::string& where);

}  // namespace ksearch::store
