#include "target/metal/time_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "target/metal/model_report.h"

namespace ksearch::target {
namespace {
using base::Json;

// Estimates, where nothing was published; docs/apple-time-model.md says what they were set by.
constexpr double kAlone = 1.0;       // cycles more for a float32 operation beside which none stands
constexpr double kAloneHalf = 0.56;  // and float16
constexpr double kBarrierCycles = 30;
constexpr double kL1Cycles = 30, kL2Cycles = 110;  // of latency
constexpr double kLineSector = 32;                 // bytes that a lane alone moves of a line
/// How much of the caches a kernel has for itself.
constexpr double kCacheShare = 0.75;
constexpr double kUnknownL2 = 1 << 20, kUnknownSlc = 8 << 20;  // where nothing was published
constexpr double kOperationsABuffer = 40;                      // MLX, of a command buffer

/// The kind whose cost a kind of another width has.
std::string family_of(std::string_view kind) {
  const std::size_t dot = kind.find('.');
  if (dot == std::string_view::npos) return std::string(kind);
  const std::string_view type = kind.substr(0, dot), what = kind.substr(dot);
  if (type == "half" || type == "bfloat") return "float" + std::string(what);
  if (type == "short" || type == "bool") return "int" + std::string(what);
  return std::string(kind);
}

struct BufferTraffic {
  std::string name;
  double bytes = 0;
  double requests = 0, lines = 0, moved = 0;  ///< asked of a core's cache
  double group_lines = 0, distinct_lines = 0;
  std::vector<double> reuse;
};

BufferTraffic traffic_of(const Json& json) {
  BufferTraffic t;
  t.name = json.value("name", "");
  t.bytes = number(json, "bytes");
  t.group_lines = number(json, "group_lines");
  t.distinct_lines = number(json, "distinct_lines");
  for (const char* key : {"loads", "stores"}) {
    const Json& counts = part(json, key);
    const double lines = number(counts, "lines");
    t.requests += number(counts, "requests");
    t.lines += lines;
    t.moved += std::min(std::max(number(counts, "bytes"), kLineSector * lines), 128 * lines);
  }
  for (const Json& count : part(json, "reuse")) t.reuse.push_back(count);
  return t;
}

class LaunchModel {
 public:
  LaunchModel(const GpuProfile& gpu, const GpuLaunch& launch, const Json& trace)
      : gpu_(gpu), launch_(launch), trace_(trace) {
    cores_ = gpu.at("cores");
    clock_ = gpu.at("clock_hz");
    simdgroups_ = std::ceil(launch.threads / 32);
    groups_a_core_ = std::ceil(launch.groups / cores_);
    for (const Json& buffer : part(trace, "buffers")) buffers_.push_back(traffic_of(buffer));
    registers_ =
        std::clamp(number(part(trace, "pipeline"), "half_registers"), 16.0, kMostRegisters);
  }

  ModelledLaunch run() {
    set_occupancy();
    set_ends();
    add_spills();
    add("issue", issue_seconds());
    add("latency", latency_seconds());
    add("l1", l1_seconds());
    add_memory();
    double sum = 0;
    const TimeTerm* largest = &result_.terms.front();
    for (const TimeTerm& term : result_.terms) {
      sum += std::pow(term.seconds, kTermNorm);
      if (term.seconds > largest->seconds) largest = &term;
    }
    result_.kernel_seconds = std::pow(sum, 1 / kTermNorm);
    result_.seconds = result_.kernel_seconds + gpu_.at("dispatch_seconds");
    result_.bottleneck =
        result_.kernel_seconds < gpu_.at("dispatch_seconds") ? "dispatch" : largest->name;
    const bool memory = result_.bottleneck != "issue" && result_.bottleneck != "latency";
    result_.costs = largest_costs(gpu_, trace_, memory);
    result_.kinds = issue_shares(gpu_, trace_);
    result_.half_registers = static_cast<int>(number(part(trace_, "pipeline"), "half_registers"));
    return std::move(result_);
  }

 private:
  double figure_or(const char* name, double otherwise) const {
    return gpu_.figures.contains(name) ? gpu_.at(name) : otherwise;
  }
  void add(const char* name, double seconds) { result_.terms.push_back({name, seconds}); }
  /// Work that is spread over the groups, on the core that ends last.
  double on_busiest_core(double all) const { return all / launch_.groups * shared_end_; }

  /// How many mean groups follow each other on the core that ends last.
  void set_ends() {
    const double resident = groups_a_core();
    shared_end_ = groups_a_core_;
    lone_end_ = std::ceil(groups_a_core_ / resident);
    std::vector<MeasuredGroup> measured;
    for (const Json& group : part(trace_, "traced_groups")) {
      double cycles = 0;
      for (const auto& [kind, runs] : part(group, "operations").items())
        cycles += runs.get<double>() * issue_cycles(gpu_, kind);
      measured.push_back({number(group, "number"), cycles});
    }
    const std::vector<double> lengths = group_lengths(launch_.grid, measured);
    if (lengths.empty()) return;
    const double most =
        std::min(1.0, simdgroups_ / std::min(gpu_.at("schedulers_per_core"), resident_));
    shared_end_ = target::shared_end(lengths, {cores_, resident, most});
    lone_end_ = target::lone_end(lengths, {cores_, resident, 1});
    result_.unevenness = shared_end_ / groups_a_core_;
  }

  void set_occupancy() {
    const double file = gpu_.at("register_file_bytes");
    const double by_registers =
        std::max(1.0, std::floor(file / (2 * registers_) / launch_.threads));
    const double memory = number(part(trace_, "group_memory"), "bytes");
    const double by_memory =
        memory > 0 ? std::max(1.0, std::floor(gpu_.at("group_memory_core_bytes") / memory)) : 1e9;
    const double by_slots =
        std::max(1.0, std::floor(gpu_.at("max_simdgroups_per_core") / simdgroups_));
    const double groups = std::min({by_registers, by_memory, by_slots, groups_a_core_});
    result_.occupancy_limit = groups == groups_a_core_ ? "groups"
                              : groups == by_memory    ? "group memory"
                              : groups == by_registers ? "registers"
                                                       : "SIMD-groups";
    if (groups == by_registers && groups < std::min({by_memory, by_slots, groups_a_core_})) {
      result_.next_registers =
          static_cast<int>(std::floor(file / (2 * launch_.threads * (groups + 1))));
      result_.next_simdgroups = (groups + 1) * simdgroups_;
    }
    resident_ = groups * simdgroups_;
    result_.resident_simdgroups = resident_;
  }

  /// What a thread's registers do not hold lies in memory of its own, a line for each register of
  /// 32 bits of a SIMD-group, until the next group takes its place.
  void add_spills() {
    const Json& spills = part(trace_, "spills");
    const double wanted = number(part(trace_, "pipeline"), "half_registers");
    const double moves = number(spills, "loads") + number(spills, "stores");
    if (wanted <= registers_ || moves == 0) return;
    BufferTraffic t;
    const double lines = std::ceil((wanted - registers_) / 2) * simdgroups_;  // of a group
    const double resident = groups_a_core() * cores_used();
    t.name = "spilled registers";
    t.bytes = 128 * lines * resident;
    t.requests = t.lines = moves;
    t.moved = 128 * moves;
    t.group_lines = std::min(lines * launch_.groups, moves);
    t.distinct_lines = t.group_lines;
    // All others are touched between two touches of one.
    t.reuse.resize(static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(lines))));
    t.reuse.back() = moves - t.group_lines;
    result_.spilled_bytes = t.moved;
    buffers_.push_back(std::move(t));
  }

  double issue_seconds() {
    double cycles = 0;
    for (const auto& [kind, runs] : part(trace_, "operations").items())
      cycles += number(runs, "simdgroups") * issue_cycles(gpu_, kind);
    double requests = 0;
    for (const BufferTraffic& b : buffers_) requests += b.requests;
    for (const char* key : {"loads", "stores"})
      requests += number(part(part(trace_, "group_memory"), key), "requests");
    cycles += requests * issue_cycles(gpu_, "load");
    const Json& chain = part(trace_, "chain");
    cycles += kAlone * number(chain, "alone") + kAloneHalf * number(chain, "alone_half");
    const double schedulers = std::min(gpu_.at("schedulers_per_core"), resident_);
    return on_busiest_core(cycles) / schedulers / clock_;
  }

  /// A SIMD-group on its own: chains, waits for memory, barriers; as many at a time as are
  /// resident.
  double latency_seconds() const {
    const Json& chain = part(trace_, "chain");
    const double all = launch_.groups * simdgroups_;
    const double lines = total(&BufferTraffic::lines);
    const double far = lines > 0 ? missed_lines() / lines : 0;
    const double device = kL1Cycles + far * (kL2Cycles - kL1Cycles) +
                          far * far_share() * gpu_.at("slc_latency_seconds") * clock_;
    double serial = number(chain, "cycles") + number(chain, "device_waits") * device +
                    number(chain, "group_waits") * gpu_.at("group_memory_latency_cycles");
    const Json& operations = part(trace_, "operations");
    serial += kBarrierCycles * number(part(operations, "barrier.group"), "simdgroups");
    return serial / all * lone_end_ / clock_;
  }

  double l1_seconds() const {
    const Json& memory = part(trace_, "group_memory");
    double bytes = total(&BufferTraffic::moved);
    for (const char* key : {"loads", "stores"}) bytes += 128 * number(part(memory, key), "turns");
    return on_busiest_core(bytes) / gpu_.at("core_bytes_per_cycle") / clock_;
  }

  double total(double BufferTraffic::*what) const {
    double sum = 0;
    for (const BufferTraffic& b : buffers_) sum += b.*what;
    return sum;
  }

  /// The share of touches of a bucket that a cache of so many lines has lost: its distances are
  /// between `from` and twice that.
  static double lost_share(double from, double lines) {
    return 1 - std::clamp((lines - from) / from, 0.0, 1.0);
  }
  /// Touches again that miss a cache of so many lines a group.
  double touches_again(double lines) const {
    double missed = 0;
    for (const BufferTraffic& b : buffers_)
      for (std::size_t k = 0; k < b.reuse.size(); ++k)
        missed += lost_share(std::ldexp(1.0, static_cast<int>(k)), lines) * b.reuse[k];
    return missed;
  }
  double groups_a_core() const { return std::max(1.0, resident_ / simdgroups_); }
  double cores_used() const { return std::min(cores_, launch_.groups); }
  double l1_lines() const { return kCacheShare * gpu_.at("l1_bytes") / 128 / groups_a_core(); }
  /// Of a cache that all cores share, what one of the running groups has.
  double shared_lines(const char* figure, double otherwise) const {
    return kCacheShare * figure_or(figure, otherwise) / 128 / (groups_a_core() * cores_used());
  }

  /// Lines that a core's cache asks the next one for.
  double missed_lines() const {
    return total(&BufferTraffic::group_lines) + touches_again(l1_lines());
  }

  /// Bytes that all groups touch, each once. A sample touches a part of them.
  double distinct_bytes() const {
    const Json& sample = part(trace_, "sample");
    const double traced = std::max(number(sample, "traced"), 1.0);
    const double scale = std::max(number(sample, "of"), traced) / traced;
    double bytes = 0;
    for (const BufferTraffic& b : buffers_) {
      const double whole = std::ceil(b.bytes / 128);
      // Groups that share lines share them in the sample too; beyond that each brings its own.
      bytes += 128 * std::min(whole, std::min(b.group_lines, b.distinct_lines * scale));
    }
    return bytes;
  }

  /// Bytes that a cache all cores share does not hold: those touched first of all, those of other
  /// groups where all is too large for it, and those a group comes back to too late.
  double beyond(const char* figure, double otherwise) const {
    const double distinct = distinct_bytes();
    const double first = 128 * total(&BufferTraffic::group_lines);
    const double size = kCacheShare * figure_or(figure, otherwise);
    const double shared = std::max(0.0, first - distinct);
    const double again =
        std::min(touches_again(shared_lines(figure, otherwise)), touches_again(l1_lines()));
    // Where all fits nothing is lost; a stream of twice the size leaves nothing for the next pass.
    const double too_large = std::clamp((distinct - size) / size, 0.0, 1.0);
    return distinct + (shared + 128 * again) * too_large;
  }

  double far_share() const {
    const double asked = 128 * missed_lines();
    return asked > 0 ? std::min(1.0, beyond("l2_bytes", kUnknownL2) / asked) : 0;
  }

  void add_memory() {
    add("l2", on_busiest_core(128 * missed_lines()) / gpu_.at("l2_bytes_per_cycle") / clock_);
    add("slc", beyond("l2_bytes", kUnknownL2) / (gpu_.at("slc_bytes_per_cycle") * cores_) / clock_);
    add("dram", beyond("slc_bytes", kUnknownSlc) /
                    (gpu_.at("dram_bytes_per_second") * gpu_.at("dram_efficiency")));
  }

  const GpuProfile& gpu_;
  const GpuLaunch& launch_;
  const Json& trace_;
  double cores_ = 1, clock_ = 1, simdgroups_ = 1, groups_a_core_ = 1, resident_ = 1;
  double shared_end_ = 1, lone_end_ = 1;
  double registers_ = 0;  ///< of 16 bits that a thread has
  std::vector<BufferTraffic> buffers_;
  ModelledLaunch result_;
};

}  // namespace

double issue_cycles(const GpuProfile& gpu, std::string_view kind) {
  if (kind.ends_with(".fusable")) return 0;
  const auto find = [&](const std::string& name) -> std::optional<double> {
    const auto found = gpu.issue_cycles.find(name);
    if (found == gpu.issue_cycles.end()) return std::nullopt;
    return found->second.value;
  };
  const std::string text(kind), family = family_of(kind);
  for (const std::string& name : {text, family, std::string(kind.substr(0, kind.find('.')))})
    if (const auto cycles = find(name)) return *cycles;
  if (kind.starts_with("matrix")) return find("matrix.float").value_or(18);
  if (family.starts_with("float.")) return find("float.function").value_or(16);
  if (kind.starts_with("private.")) return find("load").value_or(1);
  if (kind.starts_with("long.")) return 2 * find("int." + text.substr(5)).value_or(1);
  return 1;
}

base::Result<ModelledLaunch> model_launch(const GpuProfile& gpu, const GpuLaunch& launch,
                                          const Json& trace) {
  if (!trace.is_object() || !trace.contains("operations") || !trace.contains("chain"))
    return base::internal_error(launch.kernel, "its trace has no counts");
  try {
    return LaunchModel(gpu, launch, trace).run();
  } catch (const Json::exception& error) {
    return base::internal_error(launch.kernel + ": trace", error.what());
  }
}

ModelledProgram model_program(const GpuProfile& gpu, std::vector<ModelledLaunch> launches,
                              const std::vector<double>& times, double a_buffer) {
  // The last letter of "applegpu_g13s": phone, base, Max, Ultra (mlx issue 4521).
  if (a_buffer <= 0)
    a_buffer = gpu.architecture.ends_with('p') ? 20 : gpu.architecture.ends_with('g') ? 40 : 50;
  ModelledProgram program;
  double count = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    program.seconds += launches[i].seconds * times[i];
    program.launching_seconds += (launches[i].seconds - launches[i].kernel_seconds) * times[i];
    count += times[i];
  }
  // The first command buffer is always under way; each further one is a boundary.
  const double buffers = std::floor((count - 1) / a_buffer) * gpu.at("command_buffer_seconds");
  program.seconds += buffers;
  program.launching_seconds += buffers;
  program.launches = std::move(launches);
  return program;
}

}  // namespace ksearch::target
