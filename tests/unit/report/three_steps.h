// A small search that ended, for tests of what is said of it.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "search/recorder.h"
#include "store/run.h"
#include "unit/search/scripted.h"

namespace ksearch::report {

/// Three steps in a row: predicted 2, 2 and 1.5 times, measured 5, 1.2 and 1.5 times.
inline search::Engine three_steps(search::Recorder* recorder = nullptr,
                                  const std::vector<evaluate::Certificate>& certificates = {
                                      search::certificate(true)}) {
  using namespace std::chrono_literals;
  using search::Answered;
  using search::Engine;
  using search::idea;
  using search::measured;
  using search::program;
  search::Config config = search::config();
  config.limits.evaluations = 4;
  Engine engine = Engine::make(config).value();
  std::chrono::nanoseconds at = 0ns;
  const auto tell = [&](decltype(search::Told::what) what) {
    const search::Told told{at += 1s, std::move(what)};
    if (recorder) EXPECT_TRUE(recorder->told(told).has_value());
    const auto events = engine.tell(told);
    if (recorder) EXPECT_TRUE(recorder->events(events, engine).has_value());
  };
  const auto answer = [&](auto reply) { tell(Answered{engine.requests().front().id, reply}); };
  const auto step = [&](const std::string& parent, const std::string& id, double expected,
                        kernel::Outcome outcome) {
    answer(search::edits({idea(parent, id, 0.5, 2, expected)}));
    answer(engineer::CodeReply{program(id)});
    answer(kernel::EvaluateReply{outcome});
    answer(engineer::CodeReply{engineer::Exhausted{}});
    answer(engineer::PlanReply{engineer::Nothing{}});
  };
  search::Started started;
  started.root_program = program("naive");
  started.root_outcome = measured(0.1);
  tell(started);
  step("root", "tile", 0.2, measured(0.5, 5.0));
  step("tile", "fold", 1.0, measured(0.6, 1.2));
  step("fold", "wide", 0.9, measured(0.9, 1.5, 0.64));
  answer(search::edits({idea("wide", "bad", 0.5, 2, 3.0)}));
  answer(engineer::CodeReply{program("bad")});
  answer(kernel::EvaluateReply{search::wrong()});
  for (const evaluate::Certificate& certificate : certificates)
    answer(search::CertifyReply{certificate});
  EXPECT_TRUE(engine.ended());
  return engine;
}

inline store::RunInfo info() {
  store::RunInfo i;
  i.run = "copy-1";
  i.task = "copy";
  i.target = "cpu";
  i.device = {{"name", "test"}};
  i.engineer = "scripted";
  search::Config config = search::config();
  config.limits.evaluations = 4;
  i.search = search::to_json(config);
  return i;
}

}  // namespace ksearch::report
