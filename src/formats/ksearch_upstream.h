// K-Search's own files: world_model.json (the tree; tree/world_model.h) and solution_db.jsonl (the
// code, by hash). Import takes both, so does export.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernel/program.h"
#include "tree/world_model.h"

namespace ksearch::formats {

/// A line of solution_db.jsonl. `code` is K-Search's text: one source, or blocks for several files.
struct UpstreamSolution {
  std::string solution_id;
  std::string name;
  std::string definition;
  std::optional<std::string> parent_solution_id;
  base::Json eval_result;  ///< object or null
  std::string code;
  base::Json extra;  ///< keys we do not know; null where there are none
  /// The files in `code`: {"kernel.cu", ...}; one unnamed file where it has no blocks.
  std::vector<kernel::Source> files() const;
};

struct UpstreamImport {
  tree::LoadedWorldModel world_model;
  std::map<std::string, UpstreamSolution> solutions;  ///< by hash; a later line replaces an earlier
  /// Hashes that nodes name and the database lacks.
  std::vector<std::string> missing;
  std::vector<std::string> notes;  ///< also: scores are arithmetic means there
};

/// Reads a world model and, if given, its solution database. A torn last line of the database is
/// dropped with a note; any other bad line is an error with file:line.
base::Result<UpstreamImport> import_upstream(
    const std::filesystem::path& world_model,
    const std::optional<std::filesystem::path>& solution_db);
base::Result<std::map<std::string, UpstreamSolution>> parse_solution_db(
    std::string_view text, std::string_view file_name, std::vector<std::string>& notes);

/// One line of solution_db.jsonl.
base::Json to_json(const UpstreamSolution& solution);
/// A program of ours as K-Search stores it; the hash stays ours.
UpstreamSolution to_upstream(const kernel::Program& program, const std::string& name,
                             const std::optional<std::string>& parent, const base::Json& eval);

}  // namespace ksearch::formats
