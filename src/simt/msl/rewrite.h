// Metal to C++ for the headers in simt/device (which come precompiled): reads preprocessed Metal,
// writes a file in which every line stands where it stood. One pass a file:
//
//   attributes          [[...]] are read and taken out
//   function_constants  constant T n [[function_constant(i)]];  ->  its value
//   kernels             kernels, their parameters, their instantiations  ->  a table
//   group_storage       threadgroup T a[n];  ->  one array a group
//   thread_limits       [[max_total_threads_per_threadgroup(n)]] is looked at when a thread starts
//   meetings            calls that wait for other lanes get their numbers
//   aligned             wide values behind a cast are read and written where they may be
//   duplicates          declarations that differ in address spaces alone: the first stays
//   spelling            address spaces, literals, static_cast
//
// What Metal has and this has not is an error that names the line.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/source/scope.h"
#include "simt/source/token.h"

namespace ksearch::simt::msl {

using source::Attribute;
using source::Function;
using source::Scopes;
using source::Source;
using source::Token;

struct Wanted {
  std::set<std::string> kernels;         ///< functions or host names
  std::map<int, std::string> constants;  ///< function constants
};

struct Rewritten {
  std::string source;
  bool meets = false;  ///< lanes wait for each other somewhere
};

base::Result<Rewritten> rewrite(std::string_view preprocessed, const Wanted& wanted);

// The passes, in order.
void read_attributes(Source& source);
base::Result<void> bind_function_constants(Source& source,
                                           const std::map<int, std::string>& values);
/// Returns the table of kernels as source text, to stand at the end.
base::Result<std::string> collect_kernels(Source& source, const Scopes& scopes,
                                          const std::set<std::string>& wanted);
base::Result<void> place_group_storage(Source& source, const Scopes& scopes);
void check_thread_limits(Source& source, const Scopes& scopes);
/// Whether a function of Metal's library waits for other lanes.
bool waits_for_lanes(const std::string& name);
void check_casts(Source& source, const Scopes& scopes);
void drop_duplicates(Source& source);
void respell(Source& source);

/// Initialisers of ks::Parameter for a kernel's parameters, each with a comma after it.
base::Result<std::string> kernel_parameters(const Source& source, const Function& function);
/// The attribute of this name that stands at `token`, or null.
const Attribute* attribute_of(const Source& source, const Token& token, std::string_view name);

/// An attribute's argument as a number: 3, or 600 + 2 of macros.
std::optional<int> number_of(const Attribute& attribute);

/// Whether the address space at `i` stands after a method's parameters: `f() const constant`.
bool qualifies_method(const Source& source, std::size_t i);

}  // namespace ksearch::simt::msl
