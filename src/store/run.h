// A run's folder, and the only writer of it.
//
//   RUN/run.json          everything needed to repeat the run (RunInfo); written once
//       journal.jsonl     append-only (journal.h)
//       programs/HASH/    program.json and sources, stored before the line that names them
//       world_model.json  the tree, replaced atomically
//       lock              held while a process writes here
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernel/program.h"
#include "store/append_file.h"
#include "store/journal.h"

namespace ksearch::store {

/// `ksearch.run/1`. What the search itself needs is `search` (search::Config as JSON).
struct RunInfo {
  std::string run;          ///< name of the folder
  std::string task;         ///< name
  std::string task_folder;  ///< where it was loaded from
  std::string target;       ///< "cpu"
  base::Json device;        ///< the hardware profile
  int threads = 0;
  std::string where;  ///< --where, or empty
  std::string engineer, planner, coder;
  std::string python;    ///< --python, or empty
  base::Json search;     ///< strategy, seed, budgets, limits
  base::Json knowledge;  ///< names and versions of what was used, {"catalog": HASH, ...}
  std::string ksearch_version;
  std::string created_at;  ///< ISO 8601
  base::Json environment;  ///< compiler, OS, CPU, sandbox, libraries
  base::Json options;      ///< whatever else the command line set
};
base::Json to_json(const RunInfo& info);
base::Result<RunInfo> parse_run_info(const base::Json& json, std::string_view where);

/// A folder that is ours for a run, before there is one: made, empty, and locked against others.
/// Where no run was created in it, it goes again.
class Claim {
 public:
  /// An error where another process has the folder, where something is in it, or where nothing can
  /// be written.
  static base::Result<Claim> take(const std::filesystem::path& folder);
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;
  ~Claim();

  const std::filesystem::path& folder() const { return folder_; }
  /// What is to be removed, in order, where the process ends without running to its end.
  std::vector<std::filesystem::path> leavings() const;

 private:
  friend class Run;
  Claim(std::filesystem::path folder, bool made, Descriptor lock);
  std::filesystem::path folder_;
  bool made_ = false;  ///< the folder was not there before
  Descriptor lock_;    ///< none: a run has it
};

/// A run folder open for writing. One process at a time: the lock goes with the process.
class Run {
 public:
  static base::Result<Run> create(Claim claim, const RunInfo& info);
  /// The folder must not exist, or be empty.
  static base::Result<Run> create(const std::filesystem::path& folder, const RunInfo& info);
  /// Opens a run that was there, repairs a torn last line (see `journal().notes`).
  static base::Result<Run> open(const std::filesystem::path& folder);
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  const std::filesystem::path& folder() const;
  const RunInfo& info() const;
  /// What was in the journal when the run was opened.
  const JournalContents& contents() const;

  base::Result<void> save_program(const kernel::Program& program);
  base::Result<kernel::Program> load_program(const std::string& hash,
                                             const kernel::Definition& definition) const;
  /// On the disk when it returns.
  base::Result<void> append_told(const base::Json& told);
  /// On the disk with the next told line: they follow from the one before, and are written again on
  /// resuming where they are missing.
  base::Result<void> append_events(const std::vector<base::Json>& events);
  base::Result<void> replace_world_model(const base::Json& world_model);
  /// Any other file of the run ("report.json", "certificate.json"), replaced atomically.
  base::Result<void> replace_file(const std::string& name, std::string_view text);

 private:
  struct Open;
  explicit Run(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;
};

/// A run that is only read, also while another process writes it.
struct RunData {
  std::filesystem::path folder;
  RunInfo info;
  JournalContents journal;
};
base::Result<RunData> read_run(const std::filesystem::path& folder);
base::Result<kernel::Program> read_program(const std::filesystem::path& run_folder,
                                           const std::string& hash,
                                           const kernel::Definition& definition);

}  // namespace ksearch::store
