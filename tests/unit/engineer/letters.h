// The softmax task as prompts tell of it, with a machine made up, and correspondents that answer
// from a list: for tests of prompts and conversations.
#pragma once

#include <algorithm>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "engineer/correspondent.h"
#include "engineer/prompts.h"
#include "os/files.h"

namespace ksearch::engineer {

inline std::filesystem::path source_dir() { return KSEARCH_SOURCE_DIR; }

template <class T>
T must(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}

inline Brief softmax_brief() {
  const std::filesystem::path task = source_dir() / "tasks/softmax";
  const auto text = [&](const char* name) { return must(os::read_file(task / name)); };
  Brief brief;
  brief.definition = must(kernel::parse_definition(
      must(base::parse_json(text("definition.json"), "definition.json")), "definition.json"));
  const std::string lines = text("workloads.jsonl");
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    kernel::Workload workload =
        must(kernel::parse_workload(must(base::parse_json(lines.substr(at, end - at), "workload")),
                                    brief.definition, "workload"));
    if (workload.role == kernel::Role::feedback) brief.workloads.push_back(std::move(workload));
    at = end + 1;
  }
  brief.device.name = "cpu: made up (4 threads)";
  brief.device.kind = "cpu";
  brief.device.cores = 4;
  brief.device.simd_width = 16;
  brief.device.group_memory = 256 << 10;
  brief.device.l1_bytes = 32 << 10;
  brief.device.l2_bytes = 2 << 20;
  brief.device.features = {"avx2", "avx512f"};
  brief.device.float32_flops = 1.234e11;
  brief.device.bandwidth = {{32768, 3.21e11}, {268435456, 2.04e10}};
  brief.reference = text("reference.cpp");
  brief.example = must(kernel::load_program(task / "naive/cpp/program.json", brief.definition));
  return brief;
}

inline const Prompts& softmax_prompts() {
  static const Prompts kPrompts =
      must(Prompts::load(source_dir() / "knowledge/prompts", softmax_brief()));
  return kPrompts;
}

/// Answers in order, and keeps the letters.
class Scripted final : public Correspondent {
 public:
  explicit Scripted(std::vector<std::string> answers) : answers_(answers.begin(), answers.end()) {}
  std::string name() const override { return "scripted"; }
  LetterReply ask(const Letter& letter) override {
    letters.push_back(letter);
    if (answers_.empty()) return {Lost{"nothing more to say"}};
    llm::RawReply reply{std::move(answers_.front())};
    answers_.pop_front();
    return {std::move(reply)};
  }
  std::vector<Letter> letters;

 private:
  std::deque<std::string> answers_;
};

}  // namespace ksearch::engineer
