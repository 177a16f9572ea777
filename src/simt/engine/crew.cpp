#include "simt/engine/crew.h"

#include <algorithm>

namespace ksearch::simt {
namespace {

/// Lays what one thread's groups did to a word beside what another's did. False where that needs an
/// order.
bool join(Cell& into, const Cell& from, const auto& of_this_launch) {
  const bool writes = of_this_launch(from.writer);
  const bool reads = of_this_launch(from.reader);
  const bool other_reads = of_this_launch(from.other_reader);
  if (!writes && !reads && !other_reads) return true;
  const bool into_writes = of_this_launch(into.writer);
  const bool into_reads = of_this_launch(into.reader);
  if (writes && (into_writes || into_reads)) return false;
  if (into_writes && (reads || other_reads)) return false;
  if (writes) {
    into.writer = from.writer;
    into.writer_site = from.writer_site;
    into.raced |= from.raced;
  }
  if (reads) {
    (into_reads ? into.other_reader : into.reader) = from.reader;
    (into_reads ? into.other_reader_site : into.reader_site) = from.reader_site;
  }
  return true;
}

}  // namespace

Crew::Crew(SharedState& shared, std::size_t threads, std::uint32_t lanes,
           const Machine::Options& options)
    : shared_(shared), members_(threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    members_[i].watch = std::make_unique<Watch>(shared, threads == 1);
    members_[i].machine = std::make_unique<Machine>(
        *members_[i].watch, LaneMemory{shared.stacks.data() + i * LaneMemory::bytes(lanes), lanes},
        options);
  }
  members_[0].machine->enter_thread();
  for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
  on_all([](Member&) {});  // a thread that starts makes calls that a lock would refuse
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    leave_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::serve(std::size_t member) {
  members_[member].machine->enter_thread();
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return leave_ || round_ != seen; });
    if (leave_) return;
    seen = round_;
    const auto* task = task_;
    lock.unlock();
    (*task)(members_[member]);
    lock.lock();
    if (--busy_ == 0) changed_.notify_all();
  }
}

void Crew::on_all(const std::function<void(Member&)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    busy_ = threads_.size();
    ++round_;
  }
  changed_.notify_all();
  task(members_[0]);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return busy_ == 0; });
}

void Crew::attach(void (*attach)(ks::Attachment*)) {
  ks::Attachment common{};
  attach(&common);
  *common.engine = &Machine::engine();
  if (shared_.watched) {
    const Region& own = shared_.stacks;
    const ks::Meta meta = own.meta(own.data());
    *common.private_memory = {.begin = reinterpret_cast<std::uintptr_t>(own.data()),
                              .bytes = own.size(),
                              .shadow = static_cast<char*>(meta.shadow),
                              .origin = static_cast<char*>(meta.origin),
                              .object = reinterpret_cast<std::uintptr_t>(shared_.object.begin)};
  }
  on_all([&](Member& member) {
    ks::Attachment own{};
    attach(&own);
    member.machine->attach(own);
  });
}

void Crew::start_trace(TraceShape shape) {
  std::vector<TracedBuffer> buffers;
  for (const PlacedBuffer& buffer : shared_.buffers)
    buffers.push_back({buffer.offset, buffer.bytes});
  for (Member& member : members_) {
    member.trace = std::make_unique<Trace>(shape, buffers, shared_.device.size());
    member.machine->set_trace(member.trace.get());
  }
}

Trace& Crew::merged_trace() {
  for (std::size_t i = 1; i < members_.size(); ++i) members_[0].trace->merge(*members_[i].trace);
  return *members_[0].trace;
}

bool Crew::run(const GroupPlan& plan) {
  const auto groups = plan.sample_only ? static_cast<std::uint32_t>(plan.sample.size())
                                       : plan.groups[0] * plan.groups[1] * plan.groups[2];
  std::atomic<std::uint32_t> next{0};
  std::atomic<bool> whole{true};
  const auto deal = [&]() -> std::optional<std::uint32_t> {
    if (shared_.again || !whole) return std::nullopt;
    const std::uint32_t number = next.fetch_add(1);
    if (number >= groups) return std::nullopt;
    return plan.sample_only ? plan.sample[number].number : number;
  };
  on_all([&](Member& member) {
    if (member.machine->run(plan, deal)) return;
    whole = false;
    if (members_.size() > 1) shared_.again = true;
  });
  std::vector<Findings*> found;
  for (Member& member : members_) found.push_back(&member.watch->findings());
  findings_.add_launch(found);
  if (members_.size() > 1 && !shared_.again && shared_.watched && !merge()) shared_.again = true;
  return whole && !shared_.again;
}

bool Crew::merge() {
  std::uint32_t launch = 0;
  std::vector<Cells*> own;
  for (Member& member : members_) {
    own.push_back(&member.watch->device_cells());
    launch = member.watch->order().launch();
  }
  const auto of_this_launch = [&](Stamp stamp) {
    return stamp != 0 && shared_.intervals[stamp >> 6].launch == launch;
  };
  return shared_.cells.merge(
      own, [&](Cell& into, const Cell& from) { return join(into, from, of_this_launch); });
}

Counts Crew::counts() const {
  Counts sum;
  for (const Member& member : members_) sum += member.machine->counts();
  return sum;
}

std::vector<PlacedBuffer> Crew::buffers() const {
  std::vector<PlacedBuffer> sum = shared_.buffers;
  for (const Member& member : members_)
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const PlacedBuffer& part = member.watch->buffers()[i];
      sum[i].bytes_read += part.bytes_read;
      sum[i].bytes_written += part.bytes_written;
      sum[i].constant_bytes_read += part.constant_bytes_read;
      if (part.last_store != 0 &&
          std::pair(part.last_store_launch, part.last_store_group) >=
              std::pair(sum[i].last_store_launch, sum[i].last_store_group)) {
        sum[i].last_store = part.last_store;
        sum[i].last_store_launch = part.last_store_launch;
        sum[i].last_store_group = part.last_store_group;
      }
    }
  return sum;
}

std::size_t Crew::most_group_bytes() const {
  std::size_t most = 0;
  for (const Member& member : members_) most = std::max(most, member.watch->group_bytes());
  return most;
}

std::uint64_t Crew::group_bytes_read() const {
  std::uint64_t sum = 0;
  for (const Member& member : members_) sum += member.watch->group_bytes_read();
  return sum;
}

std::uint64_t Crew::group_bytes_written() const {
  std::uint64_t sum = 0;
  for (const Member& member : members_) sum += member.watch->group_bytes_written();
  return sum;
}

}  // namespace ksearch::simt
