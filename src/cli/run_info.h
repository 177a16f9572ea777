// What run.json holds of a new run.
#pragma once

#include <filesystem>

#include "cli/options.h"
#include "cli/session.h"
#include "engineer/catalog.h"
#include "search/engine.h"

namespace ksearch::cli {

/// Nodes of a first tree: somebody who is asked for a whole one has more to say than one update's
/// worth.
inline constexpr int kFirstNodes = 8;

store::RunInfo run_info(const RunOptions& options, const evaluate::OpenedSession& session,
                        const search::Config& config, const engineer::Catalog& catalog,
                        const std::filesystem::path& folder, const std::filesystem::path& python);

}  // namespace ksearch::cli
