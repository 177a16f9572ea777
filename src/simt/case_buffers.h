// Buffers of a case as JSON has them, and what their text on the command line shares with that.
#pragma once

#include "simt/case.h"
#include "simt/fields.h"

namespace ksearch::simt {

inline constexpr std::int64_t kLargestDimension = std::int64_t{1} << 40;

/// An entry of "buffers"; faults go to `keeper`.
Buffer read_buffer(const base::Json& json, const std::string& where, int position,
                   base::ObjectReader& keeper);
/// Of "const", "iota", ...; nothing where there is no such kind.
std::optional<Init::Kind> init_kind(const std::string& text);
/// A parameter struct in place of an array.
void make_struct(const std::vector<Field>& fields, Buffer& buffer);
/// A number or a boolean as C++ has it.
std::optional<std::string> literal(const base::Json& value);

}  // namespace ksearch::simt
