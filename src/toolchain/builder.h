// Compiles hostile sources: in the sandbox, with limits, once for each distinct input.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "os/sandbox.h"
#include "toolchain/compiler.h"

namespace ksearch::toolchain {

struct Built {
  std::filesystem::path file;
  std::string key;  ///< SHA-256 of all that went in
  bool cached = false;
  double seconds = 0;  ///< of this call
};

/// One translation unit to one file.
struct CompileRequest {
  std::vector<std::pair<std::string, std::string>> files = {};  ///< relative path, text; no ".."
  std::vector<std::pair<std::string, Built>> built = {};        ///< the same, made by another build
  std::string main;                                             ///< the one of them to compile
  std::vector<std::string> flags;                ///< as given to the compiler, before `main`
  std::vector<std::string> libraries = {};       ///< after `main`: -l..., -Wl,...
  std::vector<std::filesystem::path> read = {};  ///< further folders it may see
  std::string output = "kernel.so";
  std::filesystem::path program = {};  ///< to run on `main` instead of the compiler: a linker
};

struct CompileLimits {
  std::chrono::seconds time{60};                          ///< of CPU
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;    ///< address space of each process
  std::uint64_t output_bytes = std::uint64_t{256} << 20;  ///< of a file it writes
};

struct CompileFault {
  enum class Kind { errors, time, memory };
  Kind kind = Kind::errors;
  std::string log;   ///< trimmed, at most 4 KiB
  double limit = 0;  ///< seconds or bytes
};

class Builder {
 public:
  /// Results live under `cache`; several processes may share it.
  Builder(Compiler compiler, os::Sandbox sandbox, std::filesystem::path cache,
          CompileLimits limits = {});

  /// Thread-safe. An Error is the environment's fault: disk full, compiler gone.
  base::Result<std::variant<Built, CompileFault>> build(const CompileRequest& request) const;

  /// SHA-256 of sources, flags, compiler version, CPU.
  std::string key(const CompileRequest& request) const;
  const Compiler& compiler() const { return compiler_; }
  const os::Sandbox& sandbox() const { return sandbox_; }
  const std::filesystem::path& cache() const { return cache_; }

 private:
  Compiler compiler_;
  os::Sandbox sandbox_;
  std::filesystem::path cache_;
  CompileLimits limits_;
  std::string machine_;
  std::shared_ptr<std::once_flag> pruned_;
};

}  // namespace ksearch::toolchain
