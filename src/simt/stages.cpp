#include "simt/stages.h"

#include <algorithm>

#include "simt/engine/finding.h"

namespace ksearch::simt {
namespace {

/// Whether a launch binds the buffer; without a `bind`, every buffer is at its own index.
bool binds(const Launch& launch, const Buffer& buffer) {
  return launch.bind.empty() || std::any_of(launch.bind.begin(), launch.bind.end(),
                                            [&](const auto& b) { return b.second == buffer.name; });
}

bool has_buffer(const Case& all, const std::string& name) {
  return std::any_of(all.buffers.begin(), all.buffers.end(),
                     [&](const Buffer& b) { return b.name == name; });
}

/// What the cases so far left: contents, and of outputs which bytes were written.
struct Left {
  std::map<std::string, std::string> bytes, written;

  void add(std::string name, std::string contents, Report& report) {
    const auto map = report.written.find(name);
    if (map != report.written.end())
      written[name] = std::move(map->second);
    else
      written.erase(name);
    bytes[std::move(name)] = std::move(contents);
  }
};

/// What is given to the first case that reads it and to no later one: those see it too.
std::map<std::string, std::string> given_once(const std::vector<Case>& cases) {
  std::map<std::string, std::string> given;
  std::map<std::string, const std::string*> first;
  for (const Case& one : cases)
    for (const Buffer& buffer : one.buffers) {
      if (buffer.role != Role::in) continue;
      if (buffer.init.kind == Init::Kind::bytes)
        first.try_emplace(buffer.name, &buffer.init.bytes);
      else if (const auto found = first.find(buffer.name); found != first.end())
        given.try_emplace(buffer.name, *found->second);
    }
  return given;
}

/// Buffers start with what is left. An output stays one: what no case wrote is not written yet.
void hand_on(const Left& left, Case& next) {
  for (Buffer& buffer : next.buffers) {
    const auto bytes = left.bytes.find(buffer.name);
    if (bytes == left.bytes.end() ||
        (buffer.role == Role::inout && buffer.init.kind != Init::Kind::none) ||
        (buffer.role == Role::in && buffer.init.kind == Init::Kind::bytes))
      continue;
    if (buffer.role != Role::in) {
      const auto written = left.written.find(buffer.name);
      const bool known = written != left.written.end();
      buffer.role = known ? Role::out : Role::inout;
      if (known) buffer.written = written->second;
    }
    buffer.init = {};
    buffer.init.kind = Init::Kind::bytes;
    buffer.init.bytes = bytes->second;
  }
}

/// Whether a later case is asked the same about the buffer.
bool writes(const Case& all, const std::string& name) {
  return std::any_of(all.buffers.begin(), all.buffers.end(),
                     [&](const Buffer& b) { return b.name == name && b.role != Role::in; });
}

}  // namespace

base::Result<Report> check_sequence(const toolchain::Builder& builder,
                                    const std::vector<Case>& cases,
                                    const std::set<std::string>& scratch,
                                    const CheckOptions& options) {
  Report whole;
  whole.trace = {{"stages", base::Json::array()}};
  Left left{given_once(cases), {}};
  int launches = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case next = cases[i];
    next.in_sequence = cases.size() > 1;
    hand_on(left, next);
    KS_TRY(Report stage, check(builder, next, options));
    for (Finding& finding : stage.findings) {
      const bool later =
          std::any_of(cases.begin() + static_cast<std::ptrdiff_t>(i) + 1, cases.end(),
                      [&](const Case& c) { return writes(c, finding.buffer); });
      if (finding.kind == kind::kUncoveredOutput && (later || scratch.contains(finding.buffer)))
        continue;
      finding.launch += launches;
      whole.findings.push_back(std::move(finding));
    }
    for (std::string& warning : stage.warnings)
      if (std::find(whole.warnings.begin(), whole.warnings.end(), warning) == whole.warnings.end())
        whole.warnings.push_back(std::move(warning));
    whole.trace["stages"].push_back(std::move(stage.trace));
    for (auto& [name, bytes] : stage.outputs) {
      whole.outputs.try_emplace(name);
      left.add(name, std::move(bytes), stage);
    }
    whole.compile_seconds += stage.compile_seconds;
    whole.run_seconds += stage.run_seconds;
    launches += static_cast<int>(next.launches.size());
  }
  for (auto& [name, bytes] : whole.outputs) bytes = std::move(left.bytes[name]);
  return whole;
}

base::Result<std::vector<base::Json>> trace_sequence(const toolchain::Builder& builder,
                                                     const std::vector<Case>& cases,
                                                     const std::vector<TracedStage>& stages,
                                                     CheckOptions options) {
  std::vector<base::Json> traces(cases.size());
  Left left{given_once(cases), {}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!stages[i].trace && !stages[i].whole) continue;
    Case next = cases[i];
    hand_on(left, next);
    if (stages[i].trace) {
      options.watch = options.trace_only = true;
      KS_TRY(Report report, check(builder, next, options));
      traces[i] = std::move(report.trace);
    }
    if (!stages[i].whole) continue;
    options.watch = options.trace_only = false;
    KS_TRY(Report report, check(builder, next, options));
    for (auto& [name, bytes] : report.outputs) left.add(name, std::move(bytes), report);
  }
  return traces;
}

base::Result<Report> check_stages(const toolchain::Builder& builder, const Case& all,
                                  const CheckOptions& options) {
  std::vector<Case> cases;
  for (std::size_t from = 0; from < all.launches.size();) {
    std::size_t to = from + 1;
    while (to < all.launches.size() && all.launches[to].constants == all.launches[from].constants)
      ++to;
    Case stage = all;
    stage.launches.assign(all.launches.begin() + static_cast<std::ptrdiff_t>(from),
                          all.launches.begin() + static_cast<std::ptrdiff_t>(to));
    std::erase_if(stage.buffers, [&](const Buffer& buffer) {
      return std::none_of(stage.launches.begin(), stage.launches.end(),
                          [&](const Launch& launch) { return binds(launch, buffer); });
    });
    // What it starts with is for the first stage to say.
    for (Buffer& buffer : stage.buffers)
      for (const Case& before : cases)
        if (buffer.role == Role::inout && has_buffer(before, buffer.name)) buffer.init = {};
    cases.push_back(std::move(stage));
    from = to;
  }
  return check_sequence(builder, cases, {}, options);
}

}  // namespace ksearch::simt
