// A language model as a correspondent: each letter is a call of a model, or several.
#pragma once

#include <memory>

#include "engineer/call_log.h"
#include "engineer/correspondent.h"
#include "llm/client.h"

namespace ksearch::engineer {

/// An answer that the log holds is not asked for again; calls that it holds and the search has not
/// heard of (a run that was killed) are part of what the letter took. `client` and `log` are
/// borrowed; `log` may be null.
std::unique_ptr<Correspondent> make_model_correspondent(llm::Client* client, CallLog* log);

}  // namespace ksearch::engineer
