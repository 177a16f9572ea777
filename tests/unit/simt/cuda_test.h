// Runs CUDA kernels for tests: files of tests/cuda, or text; what they give against doubles.
#pragma once

#include <cmath>
#include <map>

#include "kernel_test.h"
#include "os/files.h"
#include "simt/fill.h"

namespace ksearch::simt {

/// A launch with its arguments, as the command line has them.
struct CudaLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> groups{1, 1, 1}, group_size{1, 1, 1};
  std::vector<std::string> buffers, values{}, symbols{};
  std::uint32_t dynamic = 0;
};

class CudaTest : public KernelTest {
 protected:
  using Outputs = std::map<std::string, std::vector<double>>;

  static Case cuda_case(const std::string& source, const CudaLaunch& what) {
    Case all;
    all.dialect = Dialect::cuda;
    all.file = "kernel.cu";
    all.source = source;
    Launch launch;
    launch.kernel = what.kernel;
    launch.groups = what.groups;
    launch.group_size = what.group_size;
    // {6} leaves zeros after it.
    for (auto* size : {&launch.groups, &launch.group_size})
      for (std::uint32_t& n : *size) n = std::max(n, 1u);
    if (what.dynamic > 0) launch.group_memory = {what.dynamic};
    for (const std::string& text : what.values) {
      const auto value = parse_value(text);
      EXPECT_TRUE(value) << value.error().text();
      if (value) launch.values.push_back(*value);
    }
    all.launches.push_back(launch);
    for (const auto* list : {&what.buffers, &what.symbols})
      for (const std::string& text : *list) {
        auto buffer = parse_buffer(text);
        EXPECT_TRUE(buffer) << buffer.error().text();
        if (!buffer) continue;
        buffer->index = static_cast<int>(all.buffers.size());
        buffer->symbol = list == &what.symbols;
        all.buffers.push_back(*buffer);
      }
    return all;
  }
  static Case from_file(const std::string& file, const CudaLaunch& what) {
    const auto source = os::read_file(std::string(KSEARCH_SOURCE_DIR) + "/tests/cuda/" + file);
    EXPECT_TRUE(source) << source.error().text();
    return cuda_case(source ? *source : "", what);
  }

  static double decode(kernel::DType type, const char* at) {
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, at, sizeof(T));
      return value;
    };
    using kernel::DType;
    switch (type) {
      case DType::float64:
        return as(double());
      case DType::float32:
        return as(float());
      case DType::float16:
        return kernel::float_from_half(as(std::uint16_t()));
      case DType::bfloat16:
        return kernel::float_from_bfloat16(as(std::uint16_t()));
      case DType::int32:
        return as(std::int32_t());
      case DType::uint32:
        return as(std::uint32_t());
      case DType::uint64:
        return static_cast<double>(as(std::uint64_t()));
      case DType::int8:
        return as(std::int8_t());
      default:
        return as(std::uint8_t());
    }
  }
  static std::vector<double> decode(const Buffer& buffer, const std::string& bytes) {
    std::vector<double> all;
    for (std::size_t i = 0; i < bytes.size(); i += kernel::size_bytes(buffer.dtype))
      all.push_back(decode(buffer.dtype, bytes.data() + i));
    return all;
  }
  /// What a buffer starts with.
  static std::vector<double> start(const Case& all, const std::string& name) {
    for (const Buffer& buffer : all.buffers) {
      if (buffer.name != name) continue;
      std::string bytes(buffer.bytes(), '\0');
      EXPECT_TRUE(fill(buffer, std::as_writable_bytes(std::span(bytes))));
      return decode(buffer, bytes);
    }
    return {};
  }

  static std::string told(const Report& report) {
    std::string all;
    for (const Finding& finding : report.findings) {
      all += finding.kind + " " + finding.buffer;
      for (const SourceLine& line : finding.where)
        all += " " + line.file + ":" + std::to_string(line.line);
      all += ": " + finding.message + "\n";
    }
    return all;
  }

  /// No finding in any order of warps, a trace, and these outputs:
  /// |got - want| <= tolerance * (1 + |want|).
  void expect_clean(const Case& all, const Outputs& want, double tolerance) {
    for (const char* schedule : {"default", "reversed", "random:1"}) {
      CheckOptions options;
      options.schedule = *parse_schedule(schedule);
      options.trace_groups = options.schedule.name == "default" ? 4 : 0;
      const Report report = run(all, options);
      EXPECT_EQ(told(report), "") << schedule;
      EXPECT_EQ(report.trace.value("not_traced", ""), "") << schedule;
      EXPECT_EQ(report.trace.contains("operations"), options.trace_groups > 0);
      for (const auto& [name, values] : want) {
        const Buffer* buffer = nullptr;
        for (const Buffer& one : all.buffers)
          if (one.name == name) buffer = &one;
        ASSERT_TRUE(buffer) << name;
        const auto found = report.outputs.find(name);
        ASSERT_NE(found, report.outputs.end()) << name;
        const std::vector<double> got = decode(*buffer, found->second);
        ASSERT_EQ(got.size(), values.size()) << name;
        int wrong = 0;
        for (std::size_t i = 0; i < got.size() && wrong < 5; ++i)
          if (!(std::abs(got[i] - values[i]) <= tolerance * (1 + std::abs(values[i])))) {
            ADD_FAILURE() << name << "[" << i << "] is " << got[i] << ", not " << values[i] << " ("
                          << schedule << ")";
            ++wrong;
          }
      }
    }
  }

  /// The source with `from` replaced by `to` has a finding of this kind.
  void expect_defect(Case all, const std::string& from, const std::string& to,
                     const std::string& kind) {
    const std::size_t at = all.source.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    all.source.replace(at, from.size(), to);
    const Report report = run(all);
    bool found = false;
    for (const Finding& finding : report.findings) found |= finding.kind == kind;
    EXPECT_TRUE(found) << kind << " is not among:\n" << told(report);
  }
};

}  // namespace ksearch::simt
