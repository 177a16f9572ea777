#include "cli/engineer_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::cli {

std::string EngineerChoice::text() const {
  std::string text = catalog ? "catalog" : "";
  if (writer == Writer::none) return text;
  if (catalog) text += "+";
  const char* kinds[] = {"", "dir:", "exec:", "llm:", "agent"};
  return text + kinds[static_cast<int>(writer)] + value;
}

base::Result<EngineerChoice> parse_engineer(std::string_view text) {
  EngineerChoice choice;
  const std::string whole(text);
  if (text == "catalog" || text.starts_with("catalog+")) {
    choice.catalog = true;
    text.remove_prefix(std::min<std::size_t>(text.size(), 8));
    if (text.empty() && whole == "catalog") return choice;
  }
  if (text.starts_with("dir:")) {
    choice.writer = EngineerChoice::Writer::folder;
    choice.value = text.substr(4);
  } else if (text.starts_with("exec:")) {
    choice.writer = EngineerChoice::Writer::program;
    choice.value = text.substr(5);
  } else if (text.starts_with("llm:")) {
    choice.writer = EngineerChoice::Writer::model;
    choice.value = text.substr(4);
  }
  if (choice.writer == EngineerChoice::Writer::none || choice.value.empty())
    return base::usage_error("--engineer", fmt::format("\"{}\" names no engineer", whole),
                             "catalog, llm:MODEL, dir:FOLDER, exec:COMMAND, or catalog+ one of "
                             "the last three");
  return choice;
}

base::Result<EngineerChoice> recorded_engineer(const store::RunInfo& info) {
  const bool catalog = info.engineer == "catalog+agent";
  if (catalog || info.engineer == "agent")
    return EngineerChoice{catalog, EngineerChoice::Writer::agent, {}};
  return parse_engineer(info.engineer);
}

base::Result<engineer::Prompts> load_prompts(const Home& home, const task::Task& task,
                                             const kernel::HardwareProfile& device,
                                             const EngineerChoice& choice,
                                             const engineer::Catalog& catalog,
                                             kernel::Dialect dialect) {
  engineer::Brief brief;
  brief.dialect = dialect;
  brief.definition = task.definition;
  brief.workloads = task.with_role(kernel::Role::feedback);
  brief.device = device;
  brief.reference = task.reference_cpp.empty() ? task.reference_py : task.reference_cpp;
  if (const auto naive = task.naive.find(brief.dialect); naive != task.naive.end())
    brief.example = naive->second;
  if (choice.catalog) {
    const auto first = std::ranges::find_if(catalog.steps, [](const engineer::Step& step) {
      return std::ranges::find(step.parents, "naive") != step.parents.end();
    });
    if (first != catalog.steps.end()) brief.example = first->program;
  }
  return engineer::Prompts::load(home.prompts_folder(), brief);
}

}  // namespace ksearch::cli
