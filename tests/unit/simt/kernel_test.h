// Runs small Metal kernels for tests: one case in, its report out.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "os/sandbox.h"
#include "simt/check.h"
#include "simt/object.h"
#include "test_machine.h"

namespace ksearch::simt {

class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto clang = find_clang(os::current_environment());
    if (!clang) GTEST_SKIP() << clang.error().text();
    const auto sandbox = test_sandbox();
    if (!sandbox) GTEST_SKIP() << sandbox.error().text();
    builder_.emplace(*clang, *sandbox, os::cache_folder(os::current_environment()));
  }

  /// `buffers` as --buffer has them; the kernel is named `k`.
  static Case make(const std::string& source, std::uint32_t groups, std::uint32_t group_size,
                   const std::vector<std::string>& buffers) {
    Case all;
    all.file = "kernel.metal";
    all.source = "#include <metal_stdlib>\nusing namespace metal;\n" + source;
    Launch launch;
    launch.kernel = "k";
    launch.groups[0] = groups;
    launch.group_size[0] = group_size;
    all.launches.push_back(launch);
    for (const std::string& text : buffers) {
      auto buffer = parse_buffer(text);
      EXPECT_TRUE(buffer) << buffer.error().text();
      if (!buffer) return all;
      buffer->index = static_cast<int>(all.buffers.size());
      all.buffers.push_back(*buffer);
    }
    return all;
  }

  Report run(const Case& all, CheckOptions options = {}) {
    options.worker = test_worker();
    auto report = check(*builder_, all, options);
    EXPECT_TRUE(report) << report.error().text();
    return report ? std::move(*report) : Report{};
  }
  std::string error(const Case& all) {
    CheckOptions options;
    options.worker = test_worker();
    const auto report = check(*builder_, all, options);
    return report ? "" : report.error().text();
  }

  template <class T>
  static std::vector<T> values(const Report& report, const std::string& name) {
    std::vector<T> result;
    const auto found = report.outputs.find(name);
    if (found == report.outputs.end()) return result;
    result.resize(found->second.size() / sizeof(T));
    std::memcpy(result.data(), found->second.data(), result.size() * sizeof(T));
    return result;
  }
  static std::vector<std::string> kinds(const Report& report) {
    std::vector<std::string> kinds;
    for (const Finding& finding : report.findings) kinds.push_back(finding.kind);
    return kinds;
  }
  static std::vector<int> lines(const Report& report) {
    std::vector<int> lines;
    for (const Finding& finding : report.findings)
      for (const SourceLine& line : finding.where) lines.push_back(line.line);
    return lines;
  }

  std::optional<toolchain::Builder> builder_;
};

}  // namespace ksearch::simt
