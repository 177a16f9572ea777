// What --engineer names, and the brief that an engineer in writing gets.
//
//   catalog | llm:MODEL | dir:PATH | exec:CMD | catalog+llm:MODEL | catalog+dir:PATH | ...
#pragma once

#include <string>
#include <string_view>

#include "cli/home.h"
#include "engineer/catalog.h"
#include "engineer/prompts.h"
#include "store/run.h"

namespace ksearch::cli {

struct EngineerChoice {
  enum class Writer { none, folder, program, model, agent };
  bool catalog = false;
  Writer writer = Writer::none;
  std::string value;  ///< the folder, the command, or the model
  /// As it is written to run.json: "catalog+dir:/home/me/letters".
  std::string text() const;
};
base::Result<EngineerChoice> parse_engineer(std::string_view text);
/// The same of a run: an agent of `ksearch mcp` too ("agent", "catalog+agent").
base::Result<EngineerChoice> recorded_engineer(const store::RunInfo& info);

/// Prompts for a task on a device. The worked example is a first step of the catalog where the
/// catalog takes part, else the naive program.
base::Result<engineer::Prompts> load_prompts(const Home& home, const task::Task& task,
                                             const kernel::HardwareProfile& device,
                                             const EngineerChoice& choice,
                                             const engineer::Catalog& catalog,
                                             kernel::Dialect dialect);

}  // namespace ksearch::cli
