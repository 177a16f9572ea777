// Answers that are kept in the list of calls, and answers taken from it alone.
#pragma once

#include <functional>
#include <memory>

#include "engineer/call_log.h"
#include "engineer/correspondent.h"

namespace ksearch::engineer {

/// Keeps what `who` (a folder or a program) answers; what the list holds is not asked for again.
/// `given_up`: whether the user or the clock ended the wait. `log` is borrowed; null: nothing is
/// kept.
std::unique_ptr<Correspondent> make_logged_correspondent(std::unique_ptr<Correspondent> who,
                                                         CallLog* log,
                                                         std::function<bool()> given_up);

/// Answers from the list alone, for a run that is replayed: what is not in it is Lost, and the
/// reason says what is missing where. `log` is borrowed.
std::unique_ptr<Correspondent> make_recorded_correspondent(const CallLog* log);

}  // namespace ksearch::engineer
