// The search and its run folder: recording into it, and resuming from it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "search/driver.h"
#include "search/engine.h"
#include "store/run.h"

namespace ksearch::search {

/// What the journal says of events, for readers: without what only a live view needs.
std::vector<base::Json> reader_lines(std::span<const event::Event> events);

/// Stores programs, then the told line, then the events; the tree's snapshot at the end of cycles
/// and of the run.
class StoreRecorder final : public Recorder {
 public:
  explicit StoreRecorder(store::Run* run) : run_(run) {}
  base::Result<void> told(const Told& told) override;
  base::Result<void> events(std::span<const event::Event> events, const Engine& engine) override;

 private:
  store::Run* run_;         // borrowed
  std::size_t cycles_ = 0;  // since the last snapshot
};

struct Resumed {
  Engine engine;
  std::chrono::nanoseconds already{0};  ///< run time so far
  std::vector<std::string> notes;       ///< a torn last line that was dropped, ...
};

/// Folds the journal of an open run into the state it was in, writes the reader lines that a kill
/// cut off, and replaces the snapshot. `sink` hears the past (for a view that should show it), if
/// given.
base::Result<Resumed> resume(store::Run& run, const kernel::Definition& definition,
                             event::Sink* sink = nullptr);

/// The same from a run that is only read: for reports.
base::Result<Resumed> reconstruct(const store::RunData& data, const kernel::Definition& definition);

/// Takes up a run again that ended because a request was lost too often, if it did.
base::Result<void> reopen(store::Run& run, Engine& engine);

}  // namespace ksearch::search
