// What code of a header of ours (src/simt/device) is to a trace. One that is not listed counts as
// if the author had written it.
#pragma once

#include <string_view>

namespace ksearch::simt::ir {

/// All of them are named so.
bool is_device_header(std::string_view file);
/// Whether it makes lanes meet, binds arguments and the like: nothing that a GPU's thread computes.
bool is_machinery(std::string_view file);
/// Whether it is machinery that loads and stores what the author asks for.
bool moves_memory(std::string_view file);
/// Whether it computes functions of any type in float: a GPU's instructions need no conversion.
bool is_mathematical(std::string_view file);

}  // namespace ksearch::simt::ir
