// ksearch new-task: a folder to start from.
#include "formats/new_task.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

namespace ksearch::cli {

base::Result<int> new_task(const Context&, const NewTaskOptions& options) {
  const std::filesystem::path folder = options.folder.empty()
                                           ? std::filesystem::path("tasks") / options.name
                                           : std::filesystem::path(options.folder);
  KS_TRY(const auto files, formats::new_task(options.name, folder));
  for (const std::string& file : files) fmt::print("{}\n", (folder / file).string());
  fmt::print(
      "\nIt works as it is: ksearch run {} --time 30s\nREADME.md there says what to change.\n",
      folder.string());
  return kDone;
}

}  // namespace ksearch::cli
