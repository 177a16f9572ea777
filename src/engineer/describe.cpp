#include "engineer/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counted.h"
#include "base/match.h"

namespace ksearch::engineer {
namespace {

using base::Json;

std::string texts_of(const std::vector<kernel::Expr>& list) {
  std::string text;
  for (const kernel::Expr& expr : list) text += (text.empty() ? "" : ", ") + expr.text();
  return "[" + text + "]";
}

std::string tensor_line(const kernel::TensorSpec& tensor) {
  std::string text =
      fmt::format("- {}: {} {}", tensor.name, tensor.dtype.text(), texts_of(tensor.shape));
  if (tensor.optional) text += ", may be absent";
  if (tensor.access == kernel::Access::inout) text += ", updated in place";
  if (!tensor.description.empty()) text += ". " + tensor.description;
  return text + "\n";
}

/// 1.6e9 -> "1.6 G": two digits.
std::string scaled(double value, std::string_view unit) {
  constexpr std::pair<double, const char*> kScales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
  for (const auto& [scale, letter] : kScales) {
    if (value < scale) continue;
    const double in_scale = value / scale;
    const double step = std::pow(10.0, std::floor(std::log10(in_scale)) - 1);
    return fmt::format("{:g} {}{}", std::round(in_scale / step) * step, letter, unit);
  }
  return fmt::format("{:.2g} {}", value, unit);
}

std::string bytes(double value) {
  if (value >= 1 << 20) return fmt::format("{:.3g} MiB", value / (1 << 20));
  if (value >= 1 << 10) return fmt::format("{:.3g} KiB", value / (1 << 10));
  return fmt::format("{:g} B", value);
}

std::string label_of(std::string_view path) {
  const auto dot = path.rfind('.');
  const std::string_view extension = dot == path.npos ? "" : path.substr(dot + 1);
  if (extension == "cu" || extension == "cuh") return "cuda";
  if (extension == "metal") return "metal";
  return "cpp";
}

std::string ratio_text(const kernel::Ratio& ratio) {
  if (ratio.low == ratio.high) return fmt::format("{:.4g}x", ratio.value);  // modelled
  return fmt::format("{:.4g}x ({:.4g} to {:.4g})", ratio.value, ratio.low, ratio.high);
}

std::string timing_lines(const std::vector<kernel::WorkloadTiming>& timings) {
  std::string text;
  for (const kernel::WorkloadTiming& timing : timings) {
    text += fmt::format("- {}: {:.4g} us a call", timing.workload, timing.median_ns / 1000);
    for (const auto& [baseline, ratio] : timing.ratios)
      text += fmt::format(
          "; {} / this {:.4g}x",
          baseline == "expert" && !timing.expert.empty() ? "expert " + timing.expert : baseline,
          ratio.value);
    if (timing.roofline_fraction > 0)
      text += fmt::format("; {:.0f}% of the {} ceiling", 100 * timing.roofline_fraction,
                          timing.bound_by);
    for (const auto& [name, value] : timing.tunables) text += fmt::format("; {}={}", name, value);
    text += "\n";
  }
  return text;
}

template <class Timed>
std::string timed_text(const Timed& timed) {
  std::string text =
      fmt::format("Score {}, against \"{}\".", ratio_text(timed.score), timed.baseline);
  if (const auto parent = timed.ratios.find("parent"); parent != timed.ratios.end())
    text += fmt::format(" Against the parent's program {}.", ratio_text(parent->second));
  return text + "\n" + timing_lines(timed.workloads);
}

void tree_lines(const tree::Tree& tree, const tree::Node& node, std::size_t depth,
                std::string& text) {
  text += std::string(2 * depth, ' ') + "- " + node.id + ": ";
  const tree::Action& action = node.action;
  if (node.is_root())
    text += "root";
  else
    text += action.title.empty() ? "(no title)" : action.title;
  if (node.closed()) {
    text += " [has a program";
    if (node.ours.score) text += fmt::format(", score {:.4g}", *node.ours.score);
    if (node.ours.predicted_gain)
      text += fmt::format(", predicted gain {:.3g}x", *node.ours.predicted_gain);
    if (node.ours.measured_gain)
      text += fmt::format(", measured gain {:.4g}x", *node.ours.measured_gain);
  } else {
    text += fmt::format(" [open, promise {:.2g}, difficulty {}, rating {:.2g}, confidence {:.2g}",
                        action.score, action.difficulty, node.rating, node.confidence);
    if (action.expected) text += fmt::format(", expected factor {:.3g}", *action.expected);
    if (node.ours.failed_cycles > 0)
      text += ", failed " + base::counted(node.ours.failed_cycles, "time");
  }
  text += "]\n";
  if (!node.notes.empty())
    text += std::string(2 * depth + 2, ' ') + "notes: " + node.notes.substr(0, 300) + "\n";
  for (const tree::Node* child : tree.children(node.id)) tree_lines(tree, *child, depth + 1, text);
}

}  // namespace

std::string describe(const kernel::Definition& definition) {
  std::string text = fmt::format("{}: {}\n", definition.name, definition.description);
  for (const kernel::Axis& axis : definition.axes) {
    text += "- axis " + axis.name;
    text += axis.constant ? fmt::format(" = {}", *axis.constant) : ", given by the workload";
    text += (axis.description.empty() ? "" : ". " + axis.description) + "\n";
  }
  for (const auto& [name, types] : definition.types) {
    text += fmt::format("- type {}:", name);
    for (const kernel::DType type : types) text += fmt::format(" {}", kernel::name(type));
    text += "\n";
  }
  for (const kernel::Param& param : definition.params)
    text += fmt::format("- parameter {}: {}{}\n", param.name,
                        param.kind == kernel::ParamKind::integer   ? "integer"
                        : param.kind == kernel::ParamKind::boolean ? "bool"
                                                                   : "float32",
                        param.description.empty() ? "" : ". " + param.description);
  for (const kernel::Constraint& constraint : definition.constraints)
    text += "- constraint: " + constraint.text + "\n";
  for (const kernel::Derived& derived : definition.derived)
    text += fmt::format("- {} = {}({})\n", derived.name, derived.function, derived.tensor);
  text += "Inputs, row-major:\n";
  for (const auto& tensor : definition.inputs) text += tensor_line(tensor);
  text += "Outputs:\n";
  for (const auto& tensor : definition.outputs) text += tensor_line(tensor);
  if (definition.flops) text += fmt::format("Work: {} flop", definition.flops->text());
  if (definition.bytes)
    text += fmt::format("{}{} bytes of least traffic",
                        definition.flops ? ", " : "Traffic: ", definition.bytes->text());
  return text + (definition.flops || definition.bytes ? "\n" : "");
}

std::string describe(const std::vector<kernel::Workload>& workloads) {
  std::string text;
  for (const kernel::Workload& workload : workloads) {
    text += "- " + workload.name + ":";
    const Json json = kernel::to_json(workload);
    for (const char* part : {"axes", "types", "params"}) {
      const auto found = json.find(part);
      if (found == json.end()) continue;
      for (const auto& [name, value] : found->items())
        text += fmt::format(" {}={}", name,
                            value.is_string() ? value.get<std::string>() : value.dump());
    }
    for (const std::string& name : workload.absent) text += " without " + name;
    text += "\n";
  }
  return text;
}

std::string tolerances(const kernel::Definition& definition,
                       const std::vector<kernel::Workload>& workloads) {
  std::set<kernel::DType> types;
  for (const auto& workload : workloads)
    for (const auto& [name, type] : workload.types) types.insert(type);
  if (types.empty()) types.insert(kernel::DType::float32);
  std::string text;
  for (const kernel::TensorSpec& output : definition.outputs) {
    if (output.compare == kernel::Compare::exact) {
      text += fmt::format("- {}: every element equal\n", output.name);
    } else if (output.compare == kernel::Compare::topk_ties) {
      text += fmt::format("- {}: equal, up to ties of the values it selects\n", output.name);
    } else if (const auto& own = output.tolerance; own && own->rtol) {
      text += fmt::format("- {}: |out - ref| <= {:g} + {:g} |ref|\n", output.name,
                          own->atol.value_or(0), *own->rtol);
    } else {
      for (const kernel::DType type : types) {
        const kernel::Tolerance t = own ? *own : kernel::default_tolerance(type);
        text += fmt::format(
            "- {} in {}: relative rms error at most {:g}, no element off by more than {:g} times "
            "that\n",
            output.name, kernel::name(type), t.relative_rms, t.element_factor);
        if (own) break;
      }
    }
  }
  return text;
}

std::string describe(const kernel::HardwareProfile& device) {
  std::string text = fmt::format("{}\n- {} {}; vectors of {} floats\n", device.name, device.cores,
                                 device.kind == "cpu" ? "threads" : "cores", device.simd_width);
  if (!device.features.empty())
    text += fmt::format("- features: {}\n", fmt::join(device.features, " "));
  text += fmt::format("- caches: first level {}, second level {} (a core)\n",
                      bytes(static_cast<double>(device.l1_bytes)),
                      bytes(static_cast<double>(device.l2_bytes)));
  if (device.group_memory > 0)  // a CPU has none of its own
    text += fmt::format("- group memory: {}\n", bytes(static_cast<double>(device.group_memory)));
  if (device.float32_flops > 0)
    text += fmt::format("- float32: {} sustained\n", scaled(device.float32_flops, "flop/s"));
  if (device.bfloat16_flops > 0)
    text += fmt::format("- bfloat16 matrix unit: {} sustained\n",
                        scaled(device.bfloat16_flops, "flop/s"));
  for (const kernel::BandwidthPoint& point : device.bandwidth)
    text += fmt::format("- bandwidth over {}: {}\n", bytes(point.working_set_bytes),
                        scaled(point.bytes_per_second, "B/s"));
  return text;
}

std::string fence_for(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

std::string plan_text(const kernel::Program& program) {
  Json json = kernel::to_json(program);
  for (const char* key : {"format", "task", "dialect", "sources", "select"}) json.erase(key);
  std::string text = "{";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\n  \"{}\": ", first ? "" : ",", key);
    first = false;
    if (key != "launches" || !value.is_array()) {
      text += base::to_line(value);
      continue;
    }
    text += "[";
    for (std::size_t i = 0; i < value.size(); ++i)
      text += fmt::format("{}\n    {}", i == 0 ? "" : ",", base::to_line(value[i]));
    text += "\n  ]";
  }
  return text + "\n}";
}

std::string describe(const kernel::Program& program) {
  std::string text;
  for (const kernel::Source& source : program.sources) {
    const std::string fence = fence_for(source.text);
    text += fmt::format("{}{} {}\n{}{}{}\n\n", fence, label_of(source.path), source.path,
                        source.text, source.text.ends_with('\n') ? "" : "\n", fence);
  }
  return text + "```json\n" + plan_text(program) + "\n```\n";
}

std::string describe(const tree::Action& action) {
  std::string text = action.title + "\n";
  if (!action.description.empty()) text += action.description + "\n";
  if (!action.rationale.empty()) text += "Why: " + action.rationale + "\n";
  if (action.expected)
    text += fmt::format("Expected: {:.3g} times the baseline.\n", *action.expected);
  return text;
}

std::string describe(const kernel::Outcome& outcome) {
  std::string text = kernel::summary(outcome) + "\n";
  using base::Match;
  text += std::visit(
      Match{[](const kernel::CompileFailed& failed) { return "```\n" + failed.log + "\n```\n"; },
            [](const kernel::Unsafe& unsafe) {
              std::string lines;
              for (const kernel::Finding& finding : unsafe.findings)
                lines +=
                    fmt::format("- {} {}: {}\n", finding.kind, finding.buffer, finding.message);
              return lines;
            },
            [](const kernel::Measured& measured) { return timed_text(measured); },
            [](const kernel::Modelled& modelled) {
              return "Modelled, not measured. " + timed_text(modelled);
            },
            [](const auto&) { return std::string(); }},
      outcome.verdict);
  for (const std::string& note : outcome.notes) text += "- note: " + note + "\n";
  return text;
}

std::string describe_briefly(const Tried& tried) {
  return describe(tried.program) +
         "\nWhat became of it: " + (tried.outcome ? kernel::summary(*tried.outcome) : "not known") +
         "\n";
}

std::string describe(const Tried& tried) {
  std::string text = describe(tried.program);
  if (tried.outcome) text += "\nWhat became of it: " + describe(*tried.outcome);
  return text;
}

std::string describe(const tree::Tree& tree) {
  std::string text;
  if (!tree.kernel_summary.empty()) text += "Summary: " + tree.kernel_summary + "\n";
  for (const std::string& question : tree.open_questions)
    text += "Open question: " + question + "\n";
  tree_lines(tree, tree.root(), 0, text);
  return text;
}

std::string describe(const CycleReport& cycle) {
  std::string text =
      fmt::format("Cycle {} on node {} ended: {}.\n", cycle.cycle, cycle.node_id, cycle.how);
  for (std::size_t i = 0; i < cycle.attempts.size(); ++i)
    text += fmt::format("- attempt {}: {}\n", i + 1, cycle.attempts[i].summary);
  if (!cycle.why.empty())
    text += "Its engineer had nothing more to try: " + cycle.why.substr(0, 1000) + "\n";
  if (cycle.best_program.empty()) text += "No program passed.\n";
  if (cycle.score) text += fmt::format("Its best program's score: {:.4g}.\n", *cycle.score);
  if (cycle.predicted_gain)
    text += fmt::format("Predicted gain over the parent: {:.3g}x.\n", *cycle.predicted_gain);
  if (cycle.measured_gain)
    text += fmt::format("Measured gain over the parent: {:.4g}x.\n", *cycle.measured_gain);
  return text;
}

}  // namespace ksearch::engineer
