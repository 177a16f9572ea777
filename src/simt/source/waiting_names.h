// Which names, called, may wait for other lanes: operations of the dialect's own, functions and
// lambdas whose bodies call such a name, variables of classes whose operator() does; then also
// variables whose type a template leaves open.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "simt/source/meetings.h"

namespace ksearch::simt::source {

/// The names of `source` that wait, the dialect's own not among them.
std::set<std::string> waiting_names(const Source& source, const Scopes& scopes, Meets meets_itself);

/// Variables declared with a type of this name: `Type a, b[4];`, `const thread Type& c`.
void add_variables(const Source& source, std::string_view type, std::set<std::string>& names);

/// The `(` of a call of the name at `i`, or 0.
std::size_t call_at(const Source& source, std::size_t i);

/// Words that stand before a parenthesis and are no call.
bool is_keyword(std::string_view name);

}  // namespace ksearch::simt::source
