// Names of the user's in exported C and C++: which of them the language, the system's headers or
// the code around have already.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ksearch::formats {

/// A local variable or member for a name of the user's: changed where C++, a macro or the code
/// around (`taken`) has the word.
std::string cpp_local(std::string_view name, const std::set<std::string_view>& taken);

/// Why an export's function and file cannot be called so ("is a word of C++"), or nothing. `own`:
/// what the file itself declares.
std::string_view cpp_refuses(std::string_view function, const std::set<std::string_view>& own);

}  // namespace ksearch::formats
