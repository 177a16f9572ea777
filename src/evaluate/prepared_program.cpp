#include "evaluate/prepared_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/check.h"
#include "base/hash.h"

namespace ksearch::evaluate {
namespace {

/// Each is compiled, checked on every shape and timed.
constexpr std::size_t kMostChoices = 16;

Tried<void> bind_one(PreparedProgram& p, const kernel::Definition& definition,
                     const kernel::Workload& w, const kernel::HardwareProfile& device,
                     const kernel::TunableChoice& choice) {
  auto plan = kernel::bind(p.program, definition, w, device, choice);
  if (!plan) return verdict(kernel::Unsupported{plan.error().text()});
  p.plans.emplace(std::pair(w.name, choice), std::move(*plan));
  return {};
}

/// Comments gone, every run of white space one space or, around punctuation, none; literals as they
/// are. Line ends of preprocessor lines stay.
std::string normalised(std::string_view text) {
  std::string out;
  bool space = false, directive = false;
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const auto put = [&](char c) {
    if (space && !out.empty() && (directive || (word(out.back()) && word(c)) || out.back() == c))
      out += ' ';
    space = false;
    out += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '/' && next == '/') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '/' && next == '*') {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 1;
      space = true;
    } else if (c == '"' || (c == '\'' && !(i > 0 && word(text[i - 1])))) {
      put(c);
      for (++i; i < text.size() && text[i] != c; ++i) {
        out += text[i];
        if (text[i] == '\\' && i + 1 < text.size()) out += text[++i];
      }
      out += c;
    } else if (c == '\n' && directive) {
      out += '\n';
      space = directive = false;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      space = true;
    } else {
      if (c == '#') {
        if (!out.empty() && out.back() != '\n') out += '\n';
        space = false;
        directive = true;
      }
      put(c);
    }
  }
  return out;
}

}  // namespace

const kernel::BoundProgram& PreparedProgram::plan(const std::string& workload,
                                                  const kernel::TunableChoice& choice) const {
  const auto found = plans.find({workload, choice});
  KS_CHECK(found != plans.end(), "a plan that was bound");
  return found->second;
}

std::vector<kernel::TunableChoice> PreparedProgram::choices() const {
  std::vector<kernel::TunableChoice> all;
  for (const auto& [workload, some] : legal)
    for (const auto& choice : some)
      if (std::ranges::find(all, choice) == all.end()) all.push_back(choice);
  return all;
}

Tried<PreparedProgram> bind_all_choices(const kernel::Program& program,
                                        const kernel::Definition& definition,
                                        const std::vector<kernel::Workload>& workloads,
                                        const kernel::HardwareProfile& device, std::string& at) {
  PreparedProgram p;
  p.program = program;
  for (const kernel::Workload& w : workloads) {
    at = w.name;
    const auto legal = kernel::legal_choices(program, definition, w, device);
    if (!legal) return verdict(kernel::Unsupported{legal.error().text()});
    if (legal->empty())
      return verdict(kernel::Unsupported{"no choice of tunables meets the constraints"});
    if (legal->size() > kMostChoices)
      return verdict(kernel::LimitExceeded{"choices of tunables",
                                           static_cast<double>(legal->size()),
                                           static_cast<double>(kMostChoices)});
    for (const auto& choice : *legal) KS_TRY_STEP(bind_one(p, definition, w, device, choice));
    p.legal[w.name] = *legal;
  }
  at.clear();
  return p;
}

Tried<PreparedProgram> bind_selected(const kernel::Program& program, const kernel::Select& select,
                                     const kernel::Definition& definition,
                                     const std::vector<kernel::Workload>& workloads,
                                     const kernel::HardwareProfile& device, std::string& at) {
  PreparedProgram p;
  p.program = program;
  for (const kernel::Workload& w : workloads) {
    at = w.name;
    const auto choice = kernel::choose(program, definition, w, device, select);
    if (!choice) return verdict(kernel::Unsupported{choice.error().text()});
    KS_TRY_STEP(bind_one(p, definition, w, device, *choice));
    p.legal[w.name] = {*choice};
  }
  at.clear();
  return p;
}

Tried<void> build(PreparedProgram& prepared, target::Target& target, const target::Trust* trust) {
  std::vector<kernel::BoundProgram> plans;
  for (const auto& [key, plan] : prepared.plans) plans.push_back(plan);
  auto built = target.build({.program = &prepared.program, .plans = &plans, .trust = trust});
  if (auto* v = std::get_if<kernel::Verdict>(&built)) return verdict(std::move(*v));
  if (auto* l = std::get_if<kernel::Lost>(&built)) return lost(std::move(l->reason));
  prepared.executable = std::get<target::Executable>(std::move(built));
  return {};
}

kernel::TunableChoice chosen(const PreparedProgram& prepared, const kernel::Select& select,
                             const kernel::Definition& definition, const kernel::Workload& workload,
                             const kernel::HardwareProfile& device) {
  const auto choice = kernel::choose(prepared.program, definition, workload, device, select);
  KS_CHECK(choice, "it was bound on this workload before");
  return *choice;
}

std::string named(const kernel::TunableChoice& choice) {
  std::string text;
  for (const auto& [name, value] : choice)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string normalised_hash(const kernel::Program& program) {
  kernel::Program plain = program;
  for (kernel::Source& source : plain.sources) source.text = normalised(source.text);
  return plain.hash();
}

}  // namespace ksearch::evaluate
