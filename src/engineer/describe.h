// Values of a search as text for whoever plans and writes programs: the sections of prompts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engineer/engineer.h"
#include "kernel/definition.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::engineer {

std::string describe(const kernel::Definition& definition);
/// One line each; tolerances of the outputs for the types that occur after them.
std::string describe(const std::vector<kernel::Workload>& workloads);
std::string tolerances(const kernel::Definition& definition,
                       const std::vector<kernel::Workload>& workloads);
/// Figures to two digits: what was measured twice reads the same.
std::string describe(const kernel::HardwareProfile& device);
/// In the form an answer has: files in fenced blocks, then the plan.
std::string describe(const kernel::Program& program);
/// The launch plan alone: one key a line, one launch a line.
std::string plan_text(const kernel::Program& program);
/// A fence longer than any run of backticks in the text.
std::string fence_for(std::string_view text);
/// `to` as changes to `from`; nothing where that is not clearly shorter than the whole.
std::optional<std::string> describe_change(const kernel::Program& from, const kernel::Program& to);
std::string describe(const tree::Action& action);
/// What became of a program: the verdict, and a line for each workload that was timed.
std::string describe(const kernel::Outcome& outcome);
/// Program and outcome together.
/// The program and one line of what became of it.
std::string describe_briefly(const Tried& tried);
std::string describe(const Tried& tried);
/// A line a node, children indented.
std::string describe(const tree::Tree& tree);
std::string describe(const CycleReport& cycle);

}  // namespace ksearch::engineer
