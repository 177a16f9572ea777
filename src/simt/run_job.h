// Runs a case's launches in a confined process and brings back what it said.
#pragma once

#include <filesystem>

#include "simt/check.h"
#include "simt/shared_buffers.h"

namespace ksearch::simt {

/// The worker's report. On several threads first; on one where groups turn out to need an order
/// (see engine/crew.h). `trace`: what is counted; null: nothing.
base::Result<base::Json> run_job(const toolchain::Builder& builder, const Case& all,
                                 const std::filesystem::path& object, const SharedBuffers& shared,
                                 CheckOptions options, const base::Json& trace = {});

}  // namespace ksearch::simt
