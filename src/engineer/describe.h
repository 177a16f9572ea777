// Values of a search as text for whoever plans and writes programs: the sections of prompts.
#pragma once

#include <string>
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
