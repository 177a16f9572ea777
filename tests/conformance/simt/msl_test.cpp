// The conformance set of Metal: every file of tests/conformance/msl, run under three schedules and
// at both optimisation levels. Clean kernels give their outputs and no finding; defective ones give
// the finding that stands on their line.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "conformance/simt/sheet.h"
#include "os/sandbox.h"
#include "simt/check.h"
#include "simt/fill.h"
#include "simt/object.h"
#include "unit/simt/test_machine.h"

namespace ksearch::tests {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(fs::path(KSEARCH_SOURCE_DIR) / "tests/conformance/msl" / folder))
    if (entry.path().extension() == ".metal") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class Msl : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto clang = simt::find_clang(os::current_environment());
    if (!clang) GTEST_SKIP() << clang.error().text();
    const auto sandbox = ksearch::simt::test_sandbox();
    if (!sandbox) GTEST_SKIP() << sandbox.error().text();
    builder_.emplace(*clang, *sandbox, os::cache_folder(os::current_environment()));
  }

  Sheet sheet(const std::string& folder) const {
    return read_sheet(fs::path(KSEARCH_SOURCE_DIR) / "tests/conformance/msl" / folder /
                      (GetParam() + ".metal"));
  }

  std::optional<simt::Report> run(const Sheet& sheet, const std::string& schedule, int optimize) {
    simt::CheckOptions options;
    options.worker = ksearch::simt::test_worker();
    options.schedule = *simt::parse_schedule(schedule);
    options.optimize = optimize;
    options.trace_groups = 0;  // outputs and findings are looked at
    auto report = simt::check(*builder_, sheet.all, options);
    EXPECT_TRUE(report) << report.error().text();
    return report ? std::optional(std::move(*report)) : std::nullopt;
  }

  std::optional<toolchain::Builder> builder_;
};

std::string text_of(const simt::Finding& finding) {
  std::string text = finding.kind + " " + finding.buffer + " launch " +
                     std::to_string(finding.launch) + ": " + finding.message;
  for (const simt::SourceLine& line : finding.where)
    text += "\n  " + line.file + ":" + std::to_string(line.line);
  return text;
}

const simt::Buffer& buffer_of(const Sheet& sheet, const std::string& name) {
  return *std::find_if(sheet.all.buffers.begin(), sheet.all.buffers.end(),
                       [&](const simt::Buffer& b) { return b.name == name; });
}

/// Start contents of a launch's buffers, under the names that its formulas use.
Arrays arrays_of(const Sheet& sheet, const LaunchSheet& launch) {
  Arrays arrays;
  for (const auto& [name, full] : launch.names) {
    const simt::Buffer& buffer = buffer_of(sheet, full);
    if (buffer.role == simt::Role::out) continue;
    std::string bytes(buffer.bytes(), '\0');
    EXPECT_TRUE(simt::fill(buffer, std::as_writable_bytes(std::span(bytes))));
    arrays[name] = decode(buffer.dtype, bytes);
  }
  return arrays;
}

void compare(const Sheet& sheet, const LaunchSheet& launch, const simt::Report& report) {
  const Arrays arrays = arrays_of(sheet, launch);
  for (const Expectation& expectation : launch.expectations) {
    const simt::Buffer& buffer = buffer_of(sheet, expectation.buffer);
    const auto bytes = report.outputs.find(expectation.buffer);
    ASSERT_NE(bytes, report.outputs.end()) << expectation.buffer << " is no output";
    const auto got = decode(buffer.dtype, bytes->second);
    if (!expectation.each) {
      ASSERT_EQ(got.size(), expectation.values.size()) << expectation.buffer;
    }
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const long double exact = expectation.each
                                    ? expectation.each->at(static_cast<long double>(i), arrays)
                                    : expectation.values[i];
      const long double want = rounded(buffer.dtype, exact);
      const bool same =
          got[i] == want || (std::isnan(got[i]) && std::isnan(want)) ||
          std::fabs(got[i] - exact) <= expectation.within * std::fmax(1.0L, std::fabs(exact));
      if (!same && ++wrong <= 3)
        ADD_FAILURE() << expectation.buffer << "[" << i << "] is " << static_cast<double>(got[i])
                      << ", not " << static_cast<double>(want);
    }
    EXPECT_EQ(wrong, 0) << expectation.buffer;
  }
}

void expect_clean(const Sheet& sheet, const simt::Report& report) {
  for (const simt::Finding& finding : report.findings)
    ADD_FAILURE() << sheet.launches[static_cast<std::size_t>(finding.launch)].label << " "
                  << text_of(finding);
  for (const LaunchSheet& launch : sheet.launches) compare(sheet, launch, report);
}

/// Every launch: findings of its kind alone, one of them on a marked line (where any is marked).
void expect_defects(const Sheet& sheet, const simt::Report& report) {
  for (std::size_t i = 0; i < sheet.launches.size(); ++i) {
    const LaunchSheet& launch = sheet.launches[i];
    bool found = false;
    for (const simt::Finding& finding : report.findings) {
      const bool mine =
          finding.launch == static_cast<int>(i) && (finding.buffer.find('.') == std::string::npos ||
                                                    finding.buffer.starts_with(launch.label + "."));
      // What nobody wrote is seen after the last launch, and named by its buffer.
      const bool by_name = finding.buffer.starts_with(launch.label + ".");
      if (!mine && !by_name) continue;
      EXPECT_EQ(finding.kind, launch.finds) << launch.label << " " << text_of(finding);
      const auto marked = sheet.marked.find(launch.finds);
      if (marked == sheet.marked.end()) found = true;
      for (const simt::SourceLine& line : finding.where)
        found = found || marked->second.contains(line.line);
      if (!launch.finds_buffer.empty()) {
        EXPECT_TRUE(finding.buffer == launch.finds_buffer ||
                    finding.buffer == launch.label + "." + launch.finds_buffer)
            << text_of(finding);
      }
    }
    EXPECT_TRUE(found) << launch.label << ": no " << launch.finds << " on its line";
  }
}

class MslClean : public Msl {};
TEST_P(MslClean, GivesItsOutputsAndNoFinding) {
  const Sheet sheet = this->sheet("clean");
  for (const int optimize : {0, 2})
    for (const char* schedule : {"default", "reversed", "random:7"}) {
      SCOPED_TRACE(std::string(schedule) + " -O" + std::to_string(optimize));
      if (const auto report = run(sheet, schedule, optimize)) expect_clean(sheet, *report);
    }
}
INSTANTIATE_TEST_SUITE_P(Conformance, MslClean, testing::ValuesIn(files_of("clean")),
                         [](const auto& file) { return file.param; });

class MslDefects : public Msl {};
TEST_P(MslDefects, GivesItsFindingOnItsLine) {
  const Sheet sheet = this->sheet("defects");
  for (const int optimize : {0, 2}) {
    SCOPED_TRACE("-O" + std::to_string(optimize));
    if (const auto report = run(sheet, "default", optimize)) expect_defects(sheet, *report);
  }
}
INSTANTIATE_TEST_SUITE_P(Conformance, MslDefects, testing::ValuesIn(files_of("defects")),
                         [](const auto& file) { return file.param; });

class MslBodies : public Msl {};
TEST_P(MslBodies, GivesItsOutputsAndNoFinding) {
  const Sheet sheet = this->sheet("bodies");
  for (const int optimize : {0, 2})
    for (const char* schedule : {"default", "reversed"}) {
      SCOPED_TRACE(std::string(schedule) + " -O" + std::to_string(optimize));
      const auto report = run(sheet, schedule, optimize);
      if (!report) continue;
      if (sheet.launches.front().finds.empty())
        expect_clean(sheet, *report);
      else
        expect_defects(sheet, *report);
    }
}
INSTANTIATE_TEST_SUITE_P(Conformance, MslBodies, testing::ValuesIn(files_of("bodies")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace ksearch::tests
