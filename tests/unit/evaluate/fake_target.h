// A target that runs C++ lambdas in this process on a clock that stands still between them: for the
// evaluator's logic, without a compiler, a sandbox or noise.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "target/target.h"

namespace ksearch::evaluate::testing {

/// One call, as a kernel sees it.
struct FakeCall {
  std::function<std::span<std::byte>(std::string_view)> bytes;
  const kernel::Workload* workload = nullptr;
  const kernel::BoundProgram* plan = nullptr;
  int number = 0;  ///< of the calls of this process
  template <class T = float>
  std::span<T> as(std::string_view tensor) const {
    const auto b = bytes(tensor);
    return {reinterpret_cast<T*>(b.data()), b.size() / sizeof(T)};
  }
  std::int64_t axis(const std::string& name) const { return workload->axes.at(name); }
  /// The value of a define of the first launch.
  std::string define(std::string_view name) const {
    for (const auto& [key, value] : plan->launches[0].defines)
      if (key == name) return value;
    return "";
  }
};

/// What a program does: the text of its first source is its name in `FakeTarget::behaviours`.
struct Behaviour {
  std::function<void(const FakeCall&)> compute;
  std::function<double(const FakeCall&)> ns = [](const FakeCall&) { return 1e6; };
  std::optional<kernel::Verdict> on_build;
  std::function<std::optional<kernel::Verdict>(const FakeCall&)> fails;
  std::vector<kernel::Finding> canaries;
};

class FakeWorker final : public target::Worker {
 public:
  FakeWorker(const Behaviour& behaviour, base::ManualClock& clock)
      : behaviour_(behaviour), clock_(clock) {}

  std::variant<std::monostate, kernel::Verdict, kernel::Lost> prepare(
      const target::Job& job) override {
    workload_ = *job.workload;
    plan_ = job.plan;
    sets_.assign(static_cast<std::size_t>(job.sets), {});
    for (auto& set : sets_)
      for (const auto& t : job.tensors) set[t.name].assign(t.bytes(), std::byte{0xee});
    return {};
  }
  std::span<std::byte> bytes(int set, std::string_view tensor) override {
    return sets_.at(static_cast<std::size_t>(set)).at(std::string(tensor));
  }
  target::RunReply run(std::span<const int> order, bool, std::chrono::milliseconds limit) override {
    target::Done done;
    for (const int set : order) {
      const FakeCall call{[&, set](std::string_view t) { return bytes(set, t); }, &workload_, plan_,
                          calls_++};
      if (behaviour_.fails)
        if (auto verdict = behaviour_.fails(call)) return *verdict;
      behaviour_.compute(call);
      done.call_ns.push_back(behaviour_.ns(call));
      done.bracket_ns += done.call_ns.back();
    }
    clock_.advance(std::chrono::nanoseconds(static_cast<std::int64_t>(done.bracket_ns)));
    if (done.bracket_ns > static_cast<double>(std::chrono::nanoseconds(limit).count()))
      return kernel::Verdict(kernel::TimedOut{std::chrono::duration<double>(limit).count()});
    return done;
  }
  std::vector<kernel::Finding> canaries(int) override { return behaviour_.canaries; }
  const base::Json& about() const override { return about_; }

 private:
  Behaviour behaviour_;
  base::ManualClock& clock_;
  kernel::Workload workload_;
  const kernel::BoundProgram* plan_ = nullptr;
  std::vector<std::map<std::string, std::vector<std::byte>, std::less<>>> sets_;
  int calls_ = 0;
  base::Json about_ = base::Json::object();
};

class FakeTarget final : public target::Target {
 public:
  explicit FakeTarget(base::ManualClock& clock) : clock_(clock) {
    device_.name = "fake";
    device_.kind = "cpu";
    device_.cores = 1;
    device_.float32_flops = 1e12;
  }

  std::string_view name() const override { return "fake"; }
  const kernel::HardwareProfile& device() const override { return device_; }
  std::optional<kernel::Verdict> check(const kernel::Program& program) override {
    if (program.sources[0].text.find("forbidden") != std::string::npos)
      return kernel::Verdict(kernel::Rejected{"static", "forbidden"});
    return std::nullopt;
  }
  std::variant<target::Executable, kernel::Verdict, kernel::Lost> build(
      const target::BuildRequest& request) override {
    ++builds;
    const std::string name = name_of(*request.program);
    if (!behaviours.contains(name))
      return kernel::Verdict(kernel::CompileFailed{"no behaviour " + name});
    if (behaviours.at(name).on_build) return *behaviours.at(name).on_build;
    return target::Executable{name, "", base::Json::object()};
  }
  base::Result<std::unique_ptr<target::Worker>> start(const target::Executable& executable,
                                                      const target::Trust*) override {
    if (lose_next_start) {
      lose_next_start = false;
      return base::environment_error("fake", "no process could be started");
    }
    return std::make_unique<FakeWorker>(behaviours.at(executable.id), clock_);
  }

  /// The reference and empty programs are known by what the evaluator writes in them.
  static std::string name_of(const kernel::Program& program) {
    if (program.launches[0].kernel == "ks_reference_entry") return "reference";
    if (program.sources[0].path == "empty.cpp") return "empty";
    return program.sources[0].text;
  }

  std::map<std::string, Behaviour> behaviours;
  int builds = 0;
  bool lose_next_start = false;
  kernel::HardwareProfile device_;

 private:
  base::ManualClock& clock_;
};

}  // namespace ksearch::evaluate::testing
