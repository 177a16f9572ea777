// A task small enough to compute by hand, out = x * w, and programs for the fake target.
#pragma once

#include <gtest/gtest.h>

#include "base/random.h"
#include "evaluate/session.h"
#include "fake_target.h"

namespace ksearch::evaluate::testing {

inline kernel::Workload scale_workload(const kernel::Definition& d, const std::string& name,
                                       const std::string& role, int n) {
  const auto w = kernel::parse_workload(
      *base::parse_json("{\"name\": \"" + name + "\", \"role\": \"" + role +
                            "\", \"axes\": {\"n\": " + std::to_string(n) + "}}",
                        "w"),
      d, "w");
  EXPECT_TRUE(w) << w.error().text();
  return *w;
}

/// The source's text is the behaviour's name; `tunables` as JSON.
inline kernel::Program scale_program(const kernel::Definition& d, const std::string& text,
                                     const std::string& tunables = "{}") {
  const std::string defines = tunables == "{}" ? "{}" : R"({"B": "B"})";
  const auto p = kernel::parse_program(
      *base::parse_json(R"({"format": "ksearch.program/1", "task": "scale", "dialect": "cpp",
        "sources": [{"path": "k.cpp", "text": ")" +
                            text + R"("}], "tunables": )" + tunables + R"(, "defines": )" +
                            defines + R"(,
        "launches": [{"kernel": "k", "groups": [1], "args": ["x", "w", "out", {"i64": "n"}]}]})",
                        "p"),
      d, "p", {});
  EXPECT_TRUE(p) << p.error().text();
  return *p;
}

inline task::Task scale_task() {
  task::Task t;
  t.definition = *kernel::parse_definition(
      *base::parse_json(R"({"name": "scale", "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "w": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"out": {"shape": ["n"], "dtype": "float32"}},
    "generate": [{"kind": "normal", "tensors": ["x"], "stress": [{"std": 100}]}, {"kind": "uniform", "tensors": ["w"], "low": 1, "high": 2}],
    "flops": "n", "bytes": "12 * n"})",
                        "d"),
      "d");
  t.workloads = {scale_workload(t.definition, "t1", "tiny", 1),
                 scale_workload(t.definition, "t33", "tiny", 33),
                 scale_workload(t.definition, "f1000", "feedback", 1000),
                 scale_workload(t.definition, "f4096", "feedback", 4096),
                 scale_workload(t.definition, "h777", "heldout", 777)};
  t.reference_cpp = "reference";
  t.naive.emplace(kernel::Dialect::cpp, scale_program(t.definition, "naive"));
  return t;
}

inline void scale(const FakeCall& c) {
  const auto x = c.as("x"), w = c.as("w"), out = c.as("out");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] * w[i];
}

/// A session on the fake target with a reference and a naive program of 10 us an element... of its
/// own.
struct ScaleSession {
  base::ManualClock clock;
  FakeTarget target{clock};
  task::Task task = scale_task();
  std::unique_ptr<Session> session;
  SessionOptions options;

  ScaleSession() {
    target.behaviours["reference"].compute = [](const FakeCall& c) {
      const auto x = c.as<double>("x"), w = c.as<double>("w"), out = c.as<double>("out");
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] * w[i];
    };
    target.behaviours["empty"].compute = [](const FakeCall&) {};
    target.behaviours["empty"].ns = [](const FakeCall&) { return 1e3; };
    add("naive", scale, 4e6);
    options.task = &task;
    options.target = &target;
    options.reference_target = &target;
    options.clock = &clock;
    options.timing = std::chrono::milliseconds(400);
  }

  /// A program that takes `ns` a call, with a little of the host's noise.
  void add(const std::string& name, std::function<void(const FakeCall&)> compute, double ns) {
    target.behaviours[name].compute = std::move(compute);
    target.behaviours[name].ns = [ns, random = std::make_shared<base::Random>(base::fnv1a(name))](
                                     const FakeCall&) { return ns * (1 + 0.02 * random->unit()); };
  }
  void open() {
    auto opened = Session::open(options, [](std::string_view) {});
    ASSERT_TRUE(opened) << opened.error().text();
    session = std::move(*opened);
  }
  /// Evaluates the behaviour of that name.
  kernel::Outcome judge(const std::string& name, const std::string& tunables = "{}",
                        std::optional<kernel::Program> parent = {}) {
    EvaluateRequest request;
    request.program = scale_program(task.definition, name, tunables);
    request.parent = std::move(parent);
    auto reply = session->evaluate(request, [](std::string_view) {});
    EXPECT_TRUE(std::holds_alternative<kernel::Outcome>(reply));
    if (auto* lost = std::get_if<kernel::Lost>(&reply)) ADD_FAILURE() << lost->reason;
    return std::get<kernel::Outcome>(reply);
  }
};

}  // namespace ksearch::evaluate::testing
