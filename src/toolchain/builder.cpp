#include "toolchain/builder.h"

#include <fmt/format.h>
#include <signal.h>

#include "base/check.h"
#include "base/hash.h"
#include "os/process.h"
#include "toolchain/diagnostics.h"
#include "toolchain/prune.h"

namespace ksearch::toolchain {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kFormat = "ksearch.build/1";

constexpr std::uintmax_t kCacheLimit = std::uintmax_t{1} << 30;  // about 30,000 kernels

bool plain_relative(const std::string& path) {
  const fs::path p(path);
  if (path.empty() || p.is_absolute()) return false;
  for (const fs::path& part : p)
    if (part == "..") return false;
  return true;
}

/// Time is the compiler's CPU time; on a busy machine it gets that later, up to so many times.
constexpr int kPatience = 5;

/// A driver tells how the compiler ended that it had started, and leaves as if nothing was.
bool out_of_time(const os::Finished& f, double seconds, std::chrono::seconds limit) {
  return f.timed_out || f.status.killed_by() == SIGXCPU ||
         f.output.find("CPU time limit exceeded") != std::string::npos ||
         (seconds >= static_cast<double>(limit.count()) &&
          f.output.find("Killed signal") != std::string::npos);
}

bool out_of_memory(const os::Finished& f) {
  return f.output.find("virtual memory exhausted") != std::string::npos ||
         f.output.find("out of memory") != std::string::npos ||
         f.output.find("bad_alloc") != std::string::npos;
}

}  // namespace

Builder::Builder(Compiler compiler, os::Sandbox sandbox, fs::path cache, CompileLimits limits)
    : compiler_(std::move(compiler)),
      sandbox_(std::move(sandbox)),
      cache_(std::move(cache)),
      limits_(limits),
      machine_(machine_key()),
      pruned_(std::make_shared<std::once_flag>()) {}

std::string Builder::key(const CompileRequest& request) const {
  // Each part with its length, so that no two requests run together.
  std::string all(kFormat);
  const auto add = [&](std::string_view part) { all += fmt::format("\n{}:{}", part.size(), part); };
  add(compiler_.path.string());
  add(compiler_.version);
  add(machine_);
  add(request.main);
  add(request.output);
  for (const auto& [path, text] : request.files) add(path), add(text);
  for (const auto& [path, built] : request.built) add(path), add(built.key);
  add("flags");
  for (const std::string& flag : request.flags) add(flag);
  if (!request.program.empty()) add("program"), add(request.program.string());
  add("libraries");
  for (const std::string& library : request.libraries) add(library);
  return base::sha256(all);
}

base::Result<std::variant<Built, CompileFault>> Builder::build(
    const CompileRequest& request) const {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::string id = key(request);
  const fs::path entry = cache_ / "build" / id.substr(0, 2) / id;
  const fs::path result = entry / request.output;
  std::error_code code;
  if (fs::exists(result, code)) {
    fs::last_write_time(entry, fs::file_time_type::clock::now(), code);  // for prune_builds
    return Built{result, id, true, seconds()};
  }

  std::call_once(*pruned_, [&] { prune_when_due(cache_ / "build", kCacheLimit); });
  KS_TRY(os::TempFolder work, os::TempFolder::create("compile", cache_ / "work"));
  for (const auto& [path, text] : request.files) {
    KS_CHECK(plain_relative(path), "source paths are checked when a program is parsed");
    KS_RETURN_IF_ERROR(os::write_file(work.path() / "src" / path, text));
  }
  for (const auto& [path, built] : request.built) {
    std::error_code copied;
    KS_RETURN_IF_ERROR(os::make_folder((work.path() / "src" / path).parent_path()));
    fs::copy_file(built.file, work.path() / "src" / path, copied);
    if (copied) return base::environment_error(built.file.string(), copied.message());
  }
  const fs::path out = work.path() / "out";
  KS_RETURN_IF_ERROR(os::make_folder(out));

  os::Command command;
  command.argv = {request.program.empty() ? compiler_.path.string() : request.program.string()};
  command.argv.insert(command.argv.end(), request.flags.begin(), request.flags.end());
  command.argv.insert(command.argv.end(), {"-o", (out / request.output).string(), request.main});
  command.argv.insert(command.argv.end(), request.libraries.begin(), request.libraries.end());
  command.environment = {{"LC_ALL", "C"},
                         {"PATH", compiler_.path.parent_path().string() + ":/usr/bin:/bin"},
                         {"TMPDIR", out.string()}};
  command.folder = work.path() / "src";
  command.limits = {.address_space_bytes = limits_.memory_bytes,
                    .file_bytes = limits_.output_bytes,
                    .cpu_seconds = static_cast<std::uint64_t>(limits_.time.count())};
  os::Policy policy{.read = {work.path() / "src"}, .write = {out}, .programs = true};
  policy.read.insert(policy.read.end(), request.read.begin(), request.read.end());
  policy.read.insert(policy.read.end(), compiler_.roots.begin(), compiler_.roots.end());
  KS_TRY(const os::Command confined, sandbox_.confine(command, policy));
  KS_TRY(const os::Finished finished, os::run(confined, kPatience * limits_.time));

  if (out_of_time(finished, seconds(), limits_.time))
    return CompileFault{CompileFault::Kind::time, "", static_cast<double>(limits_.time.count())};
  if (out_of_memory(finished))
    return CompileFault{CompileFault::Kind::memory, "", static_cast<double>(limits_.memory_bytes)};
  if (finished.status.code != 0 || finished.status.signal != 0 ||
      !fs::exists(out / request.output)) {
    std::string log = trim_log(finished.output, {(work.path() / "src").string(), out.string(),
                                                 work.path().string(), cache_.string()});
    if (log.empty()) log = fmt::format("the compiler left with status {}", finished.status.code);
    return CompileFault{CompileFault::Kind::errors, std::move(log), 0};
  }
  // The folder appears whole or not at all; a second builder of the same key finds ours and is
  // done.
  KS_TRY(os::TempFolder ready, os::TempFolder::create("ready", cache_ / "work"));
  fs::rename(out / request.output, ready.path() / request.output, code);
  if (!code) KS_RETURN_IF_ERROR(os::make_folder(entry.parent_path()));
  if (!code) fs::rename(ready.path(), entry, code);
  if (!fs::exists(result))
    return base::environment_error(entry.string(), "cannot keep a build: " + code.message());
  if (!code) ready.release();
  return Built{result, id, false, seconds()};
}

}  // namespace ksearch::toolchain
