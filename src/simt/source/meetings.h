// Calls at which a lane waits for others get numbers in the order of the source: f(x) becomes
// ks::at(3u, [&] { return f(x); }), also where f is a function of the file that waits inside.
#pragma once

#include <string>

#include "simt/source/scope.h"

namespace ksearch::simt::source {

/// Whether a function of the dialect's library waits for other lanes.
using Meets = bool (*)(const std::string& name);

/// Returns how many calls there are that wait.
int number_meetings(Source& source, const Scopes& scopes, Meets meets);

}  // namespace ksearch::simt::source
