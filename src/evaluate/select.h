// Which tunables to use where: from the times of every choice on the feedback workloads to a short
// ordered list of rules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/program.h"

namespace ksearch::evaluate {

/// Times of one workload: no entry for a choice that its constraints rule out.
struct ChoiceTimes {
  const kernel::Workload* workload = nullptr;
  std::map<kernel::TunableChoice, double> ns;
  std::map<kernel::TunableChoice, double> error = {};  ///< standard error of each, as a share of it
};

/// Of the geometric mean over all workloads: less is noise where times are measured.
inline constexpr double kLeastGain = 0.02;

/// The best single choice (geometric mean; one that is legal everywhere, if there is one), with
/// rules before it where a choice of their own on some workloads gains more than `least_gain` over
/// all, and more than twice its standard error. A rule's condition is a type, a boolean parameter,
/// or an axis above or below a threshold between the values measured. The last rule has no
/// condition. One choice only: one rule; no tunables: none.
kernel::Select select_tunables(const kernel::Definition& definition,
                               const std::vector<ChoiceTimes>& times,
                               double least_gain = kLeastGain);

/// How the single choices compare, for whoever picks the next ones: "tunables over all workloads:
/// BK=256; BK=128 1.04x its time; BK=512 1.31x". The nearest few; empty where there are not two
/// that are legal everywhere.
std::string describe_choices(const std::vector<ChoiceTimes>& times);

}  // namespace ksearch::evaluate
