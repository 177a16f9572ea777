// A case under several schedules: what any of them sees is a finding, and what they leave different
// is said.
#pragma once

#include <functional>
#include <vector>

#include "simt/check.h"

namespace ksearch::simt {

/// "default,reversed,random:7": one at least.
base::Result<std::vector<ScheduleChoice>> parse_schedules(std::string_view text);

/// Calls `run` for each, traced under the first alone, whose outputs and times are the report's.
/// `types` are those of the outputs.
base::Result<Report> check_schedules(
    const std::vector<ScheduleChoice>& schedules, CheckOptions options,
    const std::map<std::string, kernel::DType>& types,
    const std::function<base::Result<Report>(const CheckOptions&)>& run);

/// Where `other` differs from `first`, element by element; nothing where it does not.
std::optional<Difference> difference(kernel::DType type, std::string_view first,
                                     std::string_view other);

/// "3 of 64 elements of out differ under schedule reversed, ..."
std::string in_words(const Difference& difference);

}  // namespace ksearch::simt
