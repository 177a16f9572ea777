// Operations of a SIMD-group or of memory that all threads share, by the function of ours that a
// kernel asks for; and how our functions' names are read.
#pragma once

#include "simt/ir/operation.h"

namespace ksearch::simt::ir {

/// "exp" of "exp<float, 4>".
std::string_view without_arguments(std::string_view function);
/// The template argument `i` of "name<A, B>".
std::string_view argument(std::string_view function, int i);
/// The name that operations on a C++ type have.
std::string_view type_name(std::string_view cpp);

/// What the engine is asked for, by the builtin that asks; nothing: memory, and in what order.
std::optional<Operation> collective(std::string_view entry);
/// Of functions that are called as they are, as where they return to is the place in the source.
std::optional<Operation> called_operation(std::string_view callee);

}  // namespace ksearch::simt::ir
