// The prompts of a search: knowledge/prompts/*.md, filled from requests. Every prompt begins with
// the specification, then what changes seldom, then what changes each time, so that the longest
// common prefix of two calls is as long as it can be: providers cache it.
//
//   spec             task, workloads, tolerances, dialect, hardware, answer format, example
//   plan_first       analysis and a first tree            -> world model
//   plan_propose     more nodes                           -> edit script
//   plan_revise      evidence of a cycle                  -> edit script
//   code_first       an action, no program to start from  -> program
//   code             an action on the parent's program    -> program
//   debug            the last attempt did not pass        -> program
//   improve          it passed                            -> program
//   again            the last answer could not be used
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engineer/engineer.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"
#include "llm/prompt.h"

namespace ksearch::engineer {

/// What the specification is made of.
struct Brief {
  kernel::Definition definition;
  std::vector<kernel::Workload> workloads;  ///< feedback ones
  kernel::HardwareProfile device;
  kernel::Dialect dialect = kernel::Dialect::cpp;
  std::string reference;                   ///< source of the float64 reference, or empty
  std::optional<kernel::Program> example;  ///< the worked example of an answer
};

/// A prompt ready to be sent.
struct Question {
  std::string kind;  ///< "plan-first", "plan-propose", "plan-revise", "code", "debug", "improve"
  std::string text;
  std::vector<std::string> notes;  ///< sections that were cut
  std::size_t shared = 0;          ///< bytes at the start that every prompt of the run shares
};

class Prompts {
 public:
  /// Reads and checks every file; fills the specification once.
  static base::Result<Prompts> load(const std::filesystem::path& folder, const Brief& brief);

  const std::string& spec() const { return spec_; }
  /// Sections of the specification that were cut.
  const std::vector<std::string>& notes() const { return notes_; }
  Question plan(const PlanRequest& request, const tree::Tree& tree) const;
  Question code(const CodeRequest& request) const;
  /// The same question after an answer that could not be used.
  std::string again(const Question& question, const std::string& answer,
                    const std::string& reason) const;

 private:
  /// The example of the specification is not shown again.
  std::string show(const std::optional<Tried>& tried) const;
  Question fill(const char* file, const char* kind,
                std::map<std::string, std::string> values) const;

  std::map<std::string, llm::Prompt> prompts_;
  std::string spec_;
  std::string example_;  ///< hash of the program that stands whole in it, or empty
  std::vector<std::string> notes_;
};

/// Whether a request is for the first analysis and tree: its answer is a world model.
bool asks_for_tree(const PlanRequest& request, const tree::Tree& tree);

}  // namespace ksearch::engineer
