// Sources of a `cpp` program made fit to stand several times in one file: includes hoisted, entry
// points made static, each copy in a namespace with its own macros.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/program.h"

namespace ksearch::formats {

struct HoistedSource {
  std::string body;                ///< without includes; sources beside each other joined
  std::set<std::string> includes;  ///< "<cmath>", with the condition a header needs
  std::set<std::string> macros;    ///< names it defines, to be undefined after each copy
};

/// Quoted includes of the program's own sources are put in place, once each.
HoistedSource hoist(const kernel::Program& program);

/// "#include <immintrin.h>" between the condition under which the header exists.
std::string include_line(const std::string& include);

/// `namespace NAME { body }` between its defines and their removal.
std::string source_copy(const HoistedSource& source, const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& defines);

/// A file's text between its "// begin" and "// end" lines, or without its #includes and
/// #pragma once where there are none.
std::string without_head(std::string_view text);

}  // namespace ksearch::formats
