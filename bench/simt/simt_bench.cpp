// What the SIMT engine costs, as ratios to a plain loop on one thread: an attention kernel untraced
// and traced, on one OS thread and on two; a switch between lanes; from source to a running kernel.
// Measured alternately, medians.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <vector>

#include "attention_loop.h"
#include "os/sandbox.h"
#include "simt/check.h"
#include "simt/engine/fiber.h"
#include "simt/object.h"

namespace ksearch::bench {
namespace {
using Clock = std::chrono::steady_clock;

constexpr int kHeads = 4, kLength = 256, kDim = 64;
constexpr int kRounds = 7;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}
/// Of the CPU: what else the machine does matters less.
double cpu_seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void* g_main = nullptr;
void* g_fiber = nullptr;
void turn_around() {
  for (;;) simt::switch_fiber(&g_fiber, g_main);
}

/// Nanoseconds of one switch between two stacks.
double switch_ns() {
  std::vector<std::byte> stack(64 << 10);
  auto* end = stack.data() + stack.size();
  end -= reinterpret_cast<std::uintptr_t>(end) % 64;
  g_fiber = simt::prepare_fiber(end, turn_around);
  constexpr int kTurns = 1'000'000;
  const double seconds = cpu_seconds_of([] {
    for (int i = 0; i < kTurns; ++i) simt::switch_fiber(&g_main, g_fiber);
  });
  return seconds / (2.0 * kTurns) * 1e9;
}

struct Way {
  const char* name;
  simt::CheckOptions options;
  std::vector<double> kernel{}, wall{}, ratio{};  ///< of a round: to the loop just before
};

int fail(const base::Error& error) {
  fmt::print(stderr, "{}\n", error.text());
  return 1;
}

/// What a kernel costs that is new: compiled, loaded, run; and again, from the cache.
base::Result<void> measure_start(const toolchain::Compiler& clang, const os::Sandbox& sandbox,
                                 const std::filesystem::path& cache, simt::Case all) {
  all.launches[0].groups = {1, 1, 1};
  std::vector<double> cold, cached;
  for (int i = 0; i < 5; ++i) {
    simt::CheckOptions options;
    options.worker = {KSEARCH_SIMT_WORKER, "worker", "simt"};
    options.watch = false;
    // Of no other round or run: what is left after the preprocessor is what a build is known by.
    all.source += fmt::format("\nconstant long unused_{} = {};\n", i,
                              Clock::now().time_since_epoch().count());
    for (std::vector<double>* times : {&cold, &cached}) {
      base::Result<simt::Report> report = base::internal_error("", "");
      times->push_back(seconds_of([&] {
        const toolchain::Builder builder(clang, sandbox, cache);
        report = simt::check(builder, all, options);
      }));
      if (!report) return std::unexpected(report.error());
    }
  }
  fmt::print("source to the end of a small launch: new {:.0f} ms, cached {:.1f} ms\n",
             1e3 * median(cold), 1e3 * median(cached));
  return {};
}

int run(const std::string& only) {
  const auto clang = simt::find_clang(os::current_environment());
  if (!clang) return fail(clang.error());
  const auto sandbox =
      os::Sandbox::find({.remember = os::cache_folder(os::current_environment()) / "sandbox"});
  if (!sandbox) return fail(sandbox.error());
  const auto cache = os::cache_folder(os::current_environment());
  const toolchain::Builder builder(*clang, *sandbox, cache);
  auto all = simt::load_case(KSEARCH_SOURCE_DIR "/bench/simt/attention/case.json");
  if (!all) return fail(all.error());

  std::vector<Way> ways = {{"untraced", {.watch = false, .jobs = 1}},
                           {"untraced, 2 threads", {.watch = false, .jobs = 2}},
                           {"traced", {.watch = true, .jobs = 1}},
                           {"traced, 2 threads", {.watch = true, .jobs = 2}}};
  // At different places of a page each: a store waits for a load from the same place of another.
  constexpr std::size_t kCount = kHeads * kLength * kDim, kApart = kCount + 272;
  std::vector<float> all_four(4 * kApart);
  float *const q = all_four.data(), *const k = q + kApart, *const v = k + kApart,
        *const o = v + kApart;
  for (std::size_t i = 0; i < kCount; ++i) {
    q[i] = std::sin(static_cast<float>(i));
    k[i] = std::cos(static_cast<float>(3 * i));
    v[i] = std::sin(static_cast<float>(7 * i));
  }
  std::vector<double> loop, switches;
  for (int round = 0; round < kRounds; ++round) {
    loop.push_back(cpu_seconds_of([&] { attention_loop(q, k, v, o, kHeads, kLength); }));
    switches.push_back(switch_ns());
    for (Way& way : ways) {
      if (!std::string_view(way.name).starts_with(only)) continue;
      way.options.worker = {KSEARCH_SIMT_WORKER, "worker", "simt"};
      const auto report = simt::check(builder, *all, way.options);
      if (!report) return fail(report.error());
      if (!report->clean()) fmt::print("{} findings, {}\n", report->findings.size(), way.name);
      way.kernel.push_back(report->kernel_cpu_seconds);
      way.ratio.push_back(report->kernel_cpu_seconds / loop.back());
      way.wall.push_back(report->kernel_seconds);
    }
  }
  if (!only.empty()) return 0;
  const double base = median(loop);
  fmt::print("scalar loop {:.1f} ms, switch of stacks {:.1f} ns\n", 1e3 * base, median(switches));
  for (const Way& way : ways)
    fmt::print("{:<22}{:8.1f} ms {:6.2f} x the loop\n", way.name, 1e3 * median(way.kernel),
               median(way.ratio));
  fmt::print("2 threads over 1: untraced {:.2f}, traced {:.2f}\n",
             median(ways[0].wall) / median(ways[1].wall),
             median(ways[2].wall) / median(ways[3].wall));
  const auto started = measure_start(*clang, *sandbox, cache, *all);
  return started ? 0 : fail(started.error());
}

}  // namespace
}  // namespace ksearch::bench

/// An argument names the ways to measure: part of "untraced", "traced, 2 threads".
int main(int argc, char** argv) { return ksearch::bench::run(argc > 1 ? argv[1] : ""); }
