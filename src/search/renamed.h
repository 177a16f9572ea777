// Names that a program gave itself, put into a common form: a program that differs from another one
// in nothing but such names is the same program.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ksearch::search {

/// C-like sources in normal_code's form, all of one program, with each name that they declare for
/// variables, parameters, helper functions and types replaced by its number in the order of
/// appearance. Names in `fixed` stay (kernels and defines, which the plan names), and so does every
/// name that may be somebody else's: what is not seen to be declared here, what follows `.`, `->`
/// or
/// `::`, what a preprocessor line mentions. So two programs that compute something different never
/// become the same; some that are the same are not seen to be.
std::vector<std::string> with_common_names(const std::vector<std::string>& sources,
                                           const std::set<std::string, std::less<>>& fixed);

/// The identifiers of a text.
std::set<std::string, std::less<>> identifiers(std::string_view text);

}  // namespace ksearch::search
