// What a source says that Apple's compiler refuses or that is rarely meant, seen in its text alone.
// Lints never change a verdict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simt/case.h"

namespace ksearch::simt::msl {

/// "kernel.metal:12: ..." each. `preprocessed` is the whole file; lines of included files are left
/// out.
std::vector<std::string> lint(const Case& all, std::string_view preprocessed);

}  // namespace ksearch::simt::msl
