// One job of the worker: memory, threads, the object, its launches, the report.
#pragma once

#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "simt/engine/crew.h"
#include "simt/engine/loaded_object.h"

namespace ksearch::simt {

/// Never destroyed once it has run: threads cannot end under the lock, and the object's destructors
/// are nobody's to call.
class Job {
 public:
  explicit Job(base::Json json) : json_(std::move(json)) {}
  Job(const Job&) = delete;

  base::Result<base::Json> run();

 private:
  bool cuda() const { return json_.at("dialect") == "cuda"; }
  std::uint32_t most_lanes() const;
  std::size_t most_groups() const;
  std::size_t cell_bytes(std::size_t device_bytes, std::size_t threads) const;
  base::Result<LoadedObject> load_locked() const;
  base::Result<GroupPlan> plan_of(const base::Json& launch, const ks::Attachment& object) const;
  base::Json trace() const;
  void choose_sample(GroupPlan& plan);
  base::Result<base::Json> counted(bool whole, double cpu_seconds) const;

  base::Json json_;
  std::uint64_t groups_ = 0;  ///< of all launches
  std::unique_ptr<SharedState> shared_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace ksearch::simt
