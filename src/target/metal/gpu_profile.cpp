#include "target/metal/gpu_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/check.h"
#include "os/files.h"

namespace ksearch::target {
namespace {
namespace fs = std::filesystem;
using base::Json;
using base::ObjectReader;

constexpr std::string_view kGpuFormat = "ksearch.gpu/1";
constexpr int kDeepest = 6;  // files that extend each other
constexpr std::string_view kThreadLimits = "thread_limits";

const FigureInfo* find_figure(std::string_view name) {
  const auto& all = gpu_figures();
  const auto found = std::ranges::find(all, name, &FigureInfo::name);
  return found == all.end() ? nullptr : &*found;
}

base::Result<Json> read_json(const fs::path& file) {
  KS_TRY(const std::string text, os::read_file(file, 1 << 20));
  return base::parse_json(text, file.string());
}

/// One file over what it extends.
class Reader {
 public:
  Reader(GpuProfile& profile, const std::map<std::string, std::string>& sources)
      : profile_(profile), sources_(sources) {}

  base::Result<void> read(const Json& json, const std::string& where) {
    ObjectReader r(json, where);
    if (r.text("format") != kGpuFormat) r.fault("format", fmt::format("is not {}", kGpuFormat));
    profile_.name = r.text("name");
    r.ignore("extends");
    if (r.has("kind") && r.text("kind") != "metal") r.fault("kind", "is not metal");
    profile_.family = r.text_or("family", profile_.family);
    profile_.architecture = r.text_or("architecture", profile_.architecture);
    for (const auto& [name, figure] : r.object("figures").items())
      if (r.ok()) read_figure(r, name, figure);
    if (const Json* issue = r.optional_object("issue_cycles"))
      for (const auto& [name, figure] : issue->items()) {
        ObjectReader f(figure, r.place("issue_cycles." + name));
        profile_.issue_cycles[name] = number(f);
        r.keep(f);
      }
    return r.finish();
  }

 private:
  void read_figure(ObjectReader& r, const std::string& name, const Json& json) {
    ObjectReader f(json, r.place("figures." + name));
    if (name == kThreadLimits) {
      profile_.thread_limits.clear();
      for (const Json& pair : f.array("value")) {
        const bool good = pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
                          pair[1].is_number_integer();
        if (!good) {
          f.fault("value", "pairs of registers and threads are wanted");
          break;
        }
        profile_.thread_limits.push_back({pair[0].get<int>(), pair[1].get<int>()});
      }
      origin(f);
    } else if (!find_figure(name)) {
      r.fault("figures", fmt::format("\"{}\" is no figure of a GPU", name));
    } else {
      profile_.figures[name] = number(f);
    }
    r.keep(f);
  }

  Figure number(ObjectReader& f) {
    Figure figure = origin(f);
    figure.value = f.number("value");
    if (f.ok() && figure.value < 0) f.fault("value", "is below 0");
    return figure;
  }

  Figure origin(ObjectReader& f) {
    Figure figure;
    figure.source = f.text("source");
    const std::string confidence = f.text("confidence");
    if (!f.ok()) return figure;
    if (confidence.size() != 1 || std::string_view("ABKDE").find(confidence) == std::string::npos)
      f.fault("confidence", "A, B, K, D or E is wanted");
    const auto source = sources_.find(figure.source);
    if (source == sources_.end())
      f.fault("source", fmt::format("\"{}\" is not in sources.json", figure.source));
    else
      profile_.sources.insert(*source);
    figure.confidence = confidence.empty() ? ' ' : confidence[0];
    return figure;
  }

  GpuProfile& profile_;
  const std::map<std::string, std::string>& sources_;
};

base::Result<std::map<std::string, std::string>> read_sources(const fs::path& folder) {
  const fs::path file = folder / "sources.json";
  KS_TRY(const Json json, read_json(file));
  std::map<std::string, std::string> sources;
  ObjectReader r(json, file.string());
  for (const auto& [tag, text] : json.items()) sources[tag] = r.text(tag);
  KS_RETURN_IF_ERROR(r.finish());
  return sources;
}

base::Result<void> check_whole(const GpuProfile& profile, const std::string& where) {
  std::vector<std::string_view> missing;
  for (const FigureInfo& info : gpu_figures())
    if (info.required && !profile.figures.contains(std::string(info.name)))
      missing.push_back(info.name);
  if (profile.thread_limits.empty()) missing.push_back(kThreadLimits);
  if (profile.architecture.empty()) missing.push_back("architecture");
  if (missing.empty()) return {};
  return base::usage_error(
      where, fmt::format("neither it nor what it extends has {}", fmt::join(missing, ", ")));
}

}  // namespace

const std::vector<FigureInfo>& gpu_figures() {
  static const std::vector<FigureInfo> all = {
      {"cores", "", "GPU cores of the largest variant"},
      {"clock_hz", "Hz", "highest clock"},
      {"simd_width", "lanes", "of a SIMD-group"},
      {"schedulers_per_core", "", "each issues one instruction of one SIMD-group a cycle"},
      {"max_group_size", "threads", "of a threadgroup"},
      {"group_memory_limit_bytes", "B", "of a threadgroup"},
      {"group_memory_core_bytes", "B", "of a core, for all groups that run on it"},
      {"group_memory_banks", "", "of threadgroup memory"},
      {"bank_bytes", "B", "that a bank gives a cycle"},
      {"register_file_bytes", "B", "of a core"},
      {"max_simdgroups_per_core", "", "that can be resident"},
      {"saturating_simdgroups", "", "resident on a core, from which on its ALUs are full"},
      {"instruction_cache_bytes", "B", "of a core"},
      {"l1_bytes", "B", "data cache of a core"},
      {"line_bytes", "B", "of a cache"},
      {"l2_bytes", "B", "GPU's second cache", false},
      {"slc_bytes", "B", "system level cache"},
      {"core_bytes_per_cycle", "B", "a core's path to L1 and threadgroup memory"},
      {"l2_bytes_per_cycle", "B", "a core's path to L2"},
      {"slc_bytes_per_cycle", "B", "a core's share of the path to the system level cache"},
      {"shuffle_bytes_per_cycle", "B", "SIMD shuffles of a core"},
      {"dram_bytes_per_second", "B/s", "peak of the memory"},
      {"dram_efficiency", "", "share of the peak that copies reach"},
      {"dram_latency_seconds", "s", "load from memory"},
      {"slc_latency_seconds", "s", "load from the system level cache"},
      {"dispatch_seconds", "s", "of a dispatch that depends on the one before"},
      {"command_buffer_seconds", "s", "between command buffers"},
      {"dependent_latency_cycles", "cycles", "from an addition to one that needs it"},
      {"group_memory_latency_cycles", "cycles", "load from threadgroup memory"},
      {"half_rate", "", "float16 operations issued for one of float32"},
      {"matrix_unit_flops_per_cycle", "flop", "of a core's neural accelerator; 0: none"},
      {"dynamic_caching", "", "1: registers and group memory share one pool"},
      {"dual_issue", "", "1: float and integer pipes work side by side"},
  };
  return all;
}

double GpuProfile::at(std::string_view figure) const {
  const auto found = figures.find(std::string(figure));
  KS_CHECK(found != figures.end(), "a figure that every profile has");
  return found->second.value;
}

double GpuProfile::flops() const {
  return at("cores") * at("schedulers_per_core") * at("simd_width") * 2 * at("clock_hz");
}

base::Result<GpuProfile> load_gpu_profile(const fs::path& folder, std::string_view name) {
  KS_TRY(const auto sources, read_sources(folder));
  std::vector<std::pair<Json, std::string>> chain;
  std::string next(name);
  while (!next.empty()) {
    const fs::path file = folder / (next + ".json");
    std::error_code error;
    if (chain.empty() && !fs::exists(file, error))
      return base::usage_error(
          std::string(name), "is no GPU that is known",
          fmt::format("known: {}", fmt::join(list_gpu_profiles(folder), ", ")));
    if (chain.size() == kDeepest)
      return base::usage_error(file.string(), "files extend each other without end");
    KS_TRY(Json json, read_json(file));
    const Json* extends = json.is_object() && json.contains("extends") ? &json["extends"] : nullptr;
    if (extends && !extends->is_string())
      return base::usage_error(file.string() + ": extends", "is no text");
    next = extends ? extends->get<std::string>() : "";
    chain.emplace_back(std::move(json), file.string());
  }
  GpuProfile profile;
  Reader reader(profile, sources);
  for (const auto& [json, where] : chain | std::views::reverse)
    KS_RETURN_IF_ERROR(reader.read(json, where));
  KS_RETURN_IF_ERROR(check_whole(profile, chain.front().second));
  return profile;
}

std::vector<std::string> list_gpu_profiles(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    if (name.starts_with("apple-") && entry.path().extension() == ".json") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

kernel::HardwareProfile as_hardware(const GpuProfile& p) {
  const auto whole = [&](std::string_view figure) {
    return static_cast<std::int64_t>(p.at(figure));
  };
  kernel::HardwareProfile h;
  h.name = p.name;
  h.kind = "metal";
  h.cores = whole("cores");
  h.simd_width = whole("simd_width");
  h.group_memory = whole("group_memory_limit_bytes");
  h.max_group_size = whole("max_group_size");
  h.l1_bytes = whole("l1_bytes");
  if (p.figures.contains("l2_bytes")) h.l2_bytes = whole("l2_bytes");
  h.features.insert(p.family);
  if (p.at("dynamic_caching") > 0) h.features.insert("dynamic_caching");
  if (p.at("matrix_unit_flops_per_cycle") > 0) h.features.insert("matrix_unit");
  h.float32_flops = p.flops();
  if (const auto exp2 = p.issue_cycles.find("float.exp2"); exp2 != p.issue_cycles.end())
    h.special_function_cost = exp2->second.value;
  h.bandwidth = {{1e9, p.at("dram_bytes_per_second") * p.at("dram_efficiency")}};
  h.source = "knowledge/hardware/" + p.name + ".json";
  return h;
}

}  // namespace ksearch::target
