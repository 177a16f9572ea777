#include "target/cpu/profile.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "os/files.h"
#include "target/cpu/cpu_info.h"
#include "target/cpu/probes.h"

namespace ksearch::target {
namespace {
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kFormat = "ksearch.cpu_profile/1";
constexpr milliseconds kRateTime{200};  // of each rate
constexpr milliseconds kCopyTime{60};   // of each working set and kind of store
constexpr milliseconds kLimit{30000};
constexpr double kBatchNs = 10e6;
constexpr double kLeastSignals = 50;
constexpr double kCalmer = 1.05;  // a cached profile this much slower than now goes
constexpr int kMostCalls = 100000;
constexpr std::int64_t kLeastTraffic =
    std::int64_t{16} << 20;  // of a call, so that its threads stay with their part
// Small enough for a level 2 cache, beyond one, and beyond any last level that one core fills.
constexpr std::int64_t kSetsAThread[] = {std::int64_t{256} << 10, std::int64_t{2} << 20};
constexpr std::int64_t kSets[] = {std::int64_t{16} << 20, std::int64_t{64} << 20,
                                  std::int64_t{256} << 20, std::int64_t{512} << 20};

CpuTarget make_target(const toolchain::Builder& builder, const ProfileOptions& options) {
  return CpuTarget(builder, {.device = describe_cpu(options.threads),
                             .cpus = options.cpus,
                             .worker = options.worker,
                             .memory_limit_bytes = 0,
                             .seed = options.seed,
                             .static_check = true});
}

base::Error unusable(std::string why) {
  return {base::ErrorKind::environment, "device profile", std::move(why),
          "see that the machine has memory and processors to spare, then try again"};
}

/// The reason says itself what to do: a disk is full, a cache cannot be written.
base::Error gone(const kernel::Lost& lost) {
  return {base::ErrorKind::environment, "device profile", lost.reason, {}};
}

std::string words(const kernel::Verdict& verdict) {
  kernel::Outcome outcome;
  outcome.verdict = verdict;
  return kernel::summary(outcome);
}

base::Error failed(const auto& reply) {
  if (const auto* lost = std::get_if<kernel::Lost>(&reply)) return gone(*lost);
  return unusable(words(std::get<kernel::Verdict>(reply)));
}

/// A worker that runs the plans of one program, timed.
class Timed {
 public:
  static base::Result<Timed> start(CpuTarget& target, const kernel::Program& program,
                                   const std::vector<kernel::BoundProgram>& plans) {
    auto built = target.build({&program, &plans});
    const auto* executable = std::get_if<Executable>(&built);
    if (!executable) return std::unexpected(failed(built));
    KS_TRY(auto worker, target.start(*executable));
    return Timed(std::move(worker));
  }

  /// The shortest call seen in batches of about 10 ms until `time` is up, in nanoseconds.
  base::Result<double> best_ns(const Probe& probe, milliseconds time) {
    const Job job{.workload = nullptr, .plan = &probe.plans[0], .tensors = probe.tensors};
    const auto ready = worker_->prepare(job);
    if (auto* lost = std::get_if<kernel::Lost>(&ready)) return std::unexpected(gone(*lost));
    if (auto* verdict = std::get_if<kernel::Verdict>(&ready))
      return std::unexpected(unusable(words(*verdict)));
    double best = 0;
    int calls = 1;
    const auto end = Clock::now() + time;
    while (best == 0 || Clock::now() < end) {
      const std::vector<int> order(static_cast<std::size_t>(calls), 0);
      const auto reply = worker_->run(order, false, kLimit);
      const auto* done = std::get_if<Done>(&reply);
      if (!done) return std::unexpected(failed(reply));
      // A batch that is short beside the signal says only how many calls to make next.
      const bool counts = done->bracket_ns > kLeastSignals * done->signal_ns;
      const double ns = (done->bracket_ns - (counts ? done->signal_ns : 0)) / calls;
      if (counts && (best == 0 || ns < best)) best = ns;
      if (!counts && calls == kMostCalls)
        return std::unexpected(unusable("a probe is too short to time"));
      calls =
          static_cast<int>(std::clamp<double>(kBatchNs / ns, counts ? 1 : 2 * calls, kMostCalls));
    }
    return best;
  }

 private:
  explicit Timed(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
  std::unique_ptr<Worker> worker_;
};

base::Result<double> rate(CpuTarget& target, const Probe& probe, milliseconds time) {
  KS_TRY(Timed timed, Timed::start(target, probe.program, probe.plans));
  KS_TRY(const double ns, timed.best_ns(probe, time));
  return probe.flops / (ns * 1e-9);
}

/// Each working set with plain stores and with streaming ones, whichever is faster.
base::Result<void> measure_bandwidth(CpuTarget& target, int threads,
                                     kernel::HardwareProfile& profile) {
  std::vector<std::int64_t> sets;
  for (const std::int64_t bytes : kSetsAThread) sets.push_back(bytes * threads);
  for (const std::int64_t bytes : kSets)
    if (bytes > sets.back()) sets.push_back(bytes);
  const Probe plain = copy_probe(threads, sets[0], 1, false),
              streaming = copy_probe(threads, sets[0], 1, true);
  KS_TRY(Timed timed, Timed::start(target, plain.program, {plain.plans[0], streaming.plans[0]}));
  profile.bandwidth.clear();
  for (const std::int64_t bytes : sets) {
    const std::int64_t repeats = std::max<std::int64_t>(1, kLeastTraffic / bytes);
    double best = 0;
    for (const bool stream : {false, true}) {
      const Probe probe = copy_probe(threads, bytes, repeats, stream);
      KS_TRY(const double ns, timed.best_ns(probe, kCopyTime));
      best = std::max(best, probe.bytes / (ns * 1e-9));
    }
    profile.bandwidth.push_back({static_cast<double>(bytes), best});
  }
  return {};
}

double timer_overhead_ns() {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i) static_cast<void>(Clock::now());
    best = std::min(best,
                    std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 101);
  }
  return best;
}

}  // namespace

kernel::HardwareProfile describe_cpu(int threads) {
  const CpuInfo info = read_cpu_info();
  kernel::HardwareProfile profile;
  profile.name = fmt::format("cpu: {} ({} thread{})", info.model, threads, threads == 1 ? "" : "s");
  profile.kind = "cpu";
  profile.cores = threads;
  profile.simd_width = info.simd_width;
  profile.l1_bytes = info.l1_bytes;
  profile.l2_bytes = info.l2_bytes;
  profile.features = info.features;
  return profile;
}

base::Result<kernel::HardwareProfile> measure_rates(const toolchain::Builder& builder,
                                                    const ProfileOptions& options,
                                                    kernel::HardwareProfile profile) {
  CpuTarget target = make_target(builder, options);
  const Probe fma = fma_probe(options.threads, 200000, profile.simd_width);
  KS_TRY(profile.float32_flops, rate(target, fma, kRateTime));
  profile.bfloat16_flops = 0;
  if (profile.features.contains("amx_bf16")) {
    const Probe matrix = matrix_probe(options.threads, 20000);
    KS_TRY(profile.bfloat16_flops, rate(target, matrix, kRateTime / 2));
  }
  return profile;
}

base::Result<kernel::HardwareProfile> measure_cpu(const toolchain::Builder& builder,
                                                  const ProfileOptions& options) {
  kernel::HardwareProfile profile = describe_cpu(options.threads);
  const std::string key = base::short_hash(fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", kFormat, profile.name, toolchain::machine_key(),
      read_cpu_info().system, builder.compiler().version, fmt::join(options.cpus, ",")));
  const std::filesystem::path file = builder.cache() / "profiles" / (key + ".json");
  if (!options.again)
    if (const auto text = os::read_file(file, 1 << 20))
      if (const auto json = base::parse_json(*text, file.string()))
        if (auto cached = kernel::parse_hardware(*json, file.string())) {
          if (!options.doubt_cache) return cached;
          KS_TRY(profile, measure_rates(builder, options, *cached));
          if (profile.float32_flops < kCalmer * cached->float32_flops) return cached;
        }  // else measured again
  KS_TRY(profile, measure_rates(builder, options, describe_cpu(options.threads)));
  CpuTarget target = make_target(builder, options);
  KS_RETURN_IF_ERROR(measure_bandwidth(target, options.threads, profile));
  profile.timer_overhead_ns = timer_overhead_ns();
  profile.measured_at = fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  profile.source =
      fmt::format("measured: best of batches of 10 ms, {}", builder.compiler().version);
  KS_RETURN_IF_ERROR(os::write_file(file, base::to_text(kernel::to_json(profile))));
  return profile;
}

}  // namespace ksearch::target
