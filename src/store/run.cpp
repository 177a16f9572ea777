#include "store/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "os/files.h"
#include "store/append_file.h"

namespace ksearch::store {
namespace {

namespace fs = std::filesystem;
using base::Json;

base::Result<RunInfo> read_info(const fs::path& folder) {
  const fs::path path = folder / "run.json";
  std::error_code error;
  if (!fs::exists(path, error)) {
    return base::usage_error(folder.string(), "no run is stored here",
                             "name the folder that has a run.json");
  }
  KS_TRY(const std::string text, os::read_file(path));
  KS_TRY(const Json json, base::parse_json(text, path.string()));
  return parse_run_info(json, path.string());
}

/// A run killed before its first line has no journal yet.
base::Result<JournalContents> read_journal(const fs::path& folder) {
  const fs::path path = folder / "journal.jsonl";
  std::error_code error;
  if (!fs::exists(path, error)) return JournalContents{};
  KS_TRY(const std::string text, os::read_file(path));
  return parse_journal(text, path.string());
}

/// program.json names its sources; their text is beside it.
Json with_paths(const kernel::Program& program) {
  Json json = kernel::to_json(program);
  json.erase("select");
  for (Json& source : json["sources"]) source.erase("text");
  return json;
}

}  // namespace

struct Run::Open {
  fs::path folder;
  Descriptor lock;
  RunInfo info;
  JournalContents contents;
  AppendFile journal;
  std::uint64_t told = 0;
};

Run::Run(std::unique_ptr<Open> open) : open_(std::move(open)) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

namespace {

/// A lock that nobody holds is left of a process that was killed before it had a run.
bool is_free(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename() != kLockFile) return false;
  return !error;
}

base::Result<void> check_place(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::exists(status) && !fs::is_directory(status))
    return base::usage_error(folder.string(), "is no folder", "choose another --out");
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there, error) && there != there.parent_path()) there = there.parent_path();
  if (!fs::is_directory(there, error))
    return base::usage_error(folder.string(), there.string() + " is no folder",
                             "choose another --out");
  if (access(there.c_str(), W_OK | X_OK) != 0)
    return base::usage_error(
        folder.string(),
        fmt::format("nothing can be written in {}: {}", there.string(), std::strerror(errno)),
        "choose another --out");
  return {};
}

}  // namespace

Claim::Claim(fs::path folder, bool made, Descriptor lock)
    : folder_(std::move(folder)), made_(made), lock_(std::move(lock)) {}
Claim::Claim(Claim&&) noexcept = default;
Claim& Claim::operator=(Claim&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(made_, other.made_);
  std::swap(lock_, other.lock_);
  return *this;
}

Claim::~Claim() {
  std::error_code ignored;
  if (lock_.get() < 0) return;
  for (const fs::path& path : leavings()) fs::remove(path, ignored);
}

std::vector<fs::path> Claim::leavings() const {
  std::vector<fs::path> paths{folder_ / kLockFile};
  if (made_) paths.push_back(folder_);
  return paths;
}

base::Result<Claim> Claim::take(const fs::path& folder) {
  KS_RETURN_IF_ERROR(check_place(folder));
  std::error_code error;
  const bool made = !fs::exists(folder, error);
  const auto full = [&] {
    return base::usage_error(folder.string(), "the folder is not empty",
                             "choose another --out, or resume the run in it");
  };
  if (!made && !is_free(folder)) return full();  // and nothing is put into it
  KS_RETURN_IF_ERROR(os::make_folder(folder));
  KS_TRY(Descriptor lock, lock_folder(folder));
  if (!is_free(folder)) return full();  // somebody was faster, and has gone
  return Claim(folder, made, std::move(lock));
}

base::Result<Run> Run::create(const fs::path& folder, const RunInfo& info) {
  KS_TRY(Claim claim, Claim::take(folder));
  return create(std::move(claim), info);
}

base::Result<Run> Run::create(Claim claim, const RunInfo& info) {
  const fs::path folder = claim.folder();
  KS_RETURN_IF_ERROR(os::make_folder(folder / "programs"));
  KS_RETURN_IF_ERROR(os::write_file(folder / "run.json", base::to_text(to_json(info))));
  KS_TRY(AppendFile journal, AppendFile::open(folder / "journal.jsonl", 0));
  const std::string header = journal_header();
  KS_RETURN_IF_ERROR(journal.append(header));
  JournalContents contents;
  contents.good_bytes = header.size();
  return Run(std::make_unique<Open>(folder, std::move(claim.lock_), info, std::move(contents),
                                    std::move(journal)));
}

base::Result<Run> Run::open(const fs::path& folder) {
  KS_TRY(RunInfo info, read_info(folder));
  KS_TRY(Descriptor lock, lock_folder(folder));
  KS_TRY(JournalContents contents, read_journal(folder));
  KS_TRY(AppendFile journal, AppendFile::open(folder / "journal.jsonl", contents.good_bytes));
  if (contents.good_bytes == 0) {
    const std::string header = journal_header();
    KS_RETURN_IF_ERROR(journal.append(header));
    contents.good_bytes = header.size();
  }
  const std::uint64_t told = contents.told;
  return Run(std::make_unique<Open>(folder, std::move(lock), std::move(info), std::move(contents),
                                    std::move(journal), told));
}

const fs::path& Run::folder() const { return open_->folder; }
const RunInfo& Run::info() const { return open_->info; }
const JournalContents& Run::contents() const { return open_->contents; }

base::Result<void> Run::save_program(const kernel::Program& program) {
  const std::string hash = program.hash();
  const fs::path folder = open_->folder / "programs" / hash;
  std::error_code error;
  if (fs::exists(folder / "program.json", error)) return {};  // written last
  for (const kernel::Source& source : program.sources) {
    KS_RETURN_IF_ERROR(os::write_file(folder / source.path, source.text));
  }
  return os::write_file(folder / "program.json", base::to_text(with_paths(program)));
}

base::Result<kernel::Program> read_program(const fs::path& run_folder, const std::string& hash,
                                           const kernel::Definition& definition) {
  const fs::path path = run_folder / "programs" / hash / "program.json";
  KS_TRY(kernel::Program program, kernel::load_program(path, definition));
  if (program.hash() != hash) {
    return base::environment_error(path.string(),
                                   fmt::format("damaged: the program's hash is {}", program.hash()),
                                   "restore the folder from a copy");
  }
  return program;
}

base::Result<kernel::Program> Run::load_program(const std::string& hash,
                                                const kernel::Definition& definition) const {
  return read_program(open_->folder, hash, definition);
}

base::Result<void> Run::append_told(const Json& told) {
  KS_RETURN_IF_ERROR(open_->journal.append(told_line(open_->told + 1, told)));
  ++open_->told;
  return {};
}

base::Result<void> Run::append_events(const std::vector<Json>& events) {
  std::string lines;
  for (const Json& event : events) lines += event_line(event);
  if (lines.empty()) return {};
  return open_->journal.append_later(lines);
}

base::Result<void> Run::replace_world_model(const Json& world_model) {
  return replace_file("world_model.json", base::to_text(world_model));
}

base::Result<void> Run::replace_file(const std::string& name, std::string_view text) {
  return os::write_file(open_->folder / name, text);
}

base::Result<RunData> read_run(const fs::path& folder) {
  RunData data;
  data.folder = folder;
  KS_TRY(data.info, read_info(folder));
  KS_TRY(data.journal, read_journal(folder));
  return data;
}

}  // namespace ksearch::store
