#include "simt/object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "os/files.h"
#include "simt/compile_requests.h"
#include "simt/cuda/rewrite.h"
#include "simt/msl/body.h"
#include "simt/msl/lints.h"
#include "simt/msl/rewrite.h"
#include "simt/object_cache.h"

namespace ksearch::simt {
namespace {
using toolchain::Built;
using toolchain::CompileFault;
using toolchain::CompileRequest;

constexpr int kOldestClang = 17;

base::Result<toolchain::Built> build(const toolchain::Builder& builder,
                                     const CompileRequest& request, const std::string& what) {
  KS_TRY(const auto result, builder.build(request));
  if (const auto* built = std::get_if<toolchain::Built>(&result)) return *built;
  const auto& fault = std::get<CompileFault>(result);
  if (fault.kind == CompileFault::Kind::time)
    return base::usage_error(what,
                             fmt::format("compiling took over {} s of CPU time", fault.limit));
  if (fault.kind == CompileFault::Kind::memory)
    return base::environment_error(what, "the compiler ran out of memory");
  return base::usage_error(what, "it does not compile\n" + fault.log);
}

base::Result<Prepared> prepare_cuda(const toolchain::Builder& builder, const Case& all) {
  std::set<std::string> wanted;
  for (const Launch& launch : all.launches) wanted.insert(launch.kernel);
  const cuda::EmptyHeaders empty = cuda::empty_headers(all);
  KS_TRY(const Built file, build(builder, preprocessing_cuda(all, empty), all.file));
  KS_TRY(const std::string preprocessed, os::read_file(file.file));
  KS_TRY(cuda::Rewritten rewritten, cuda::rewrite(preprocessed, wanted));
  return Prepared{all.file, std::move(rewritten.source), std::move(rewritten.warnings),
                  Dialect::cuda, empty.unknown};
}

/// Where it does not compile: what of its headers was not there.
base::Error with_unknown(base::Error error, const Prepared& prepared) {
  if (!prepared.unknown_headers.empty())
    error.todo += fmt::format("read as empty, as they are not given: {} (--include)",
                              fmt::join(prepared.unknown_headers, ", "));
  return error;
}

enum class Form { object, text };

base::Result<Built> compile(const toolchain::Builder& builder, const Prepared& prepared,
                            const std::vector<std::string>& flags, Form form) {
  KS_TRY(const Built headers, build(builder, prelude(flags, prepared.dialect), "simt/device"));
  CompileRequest request = compilation(prepared.source, flags, headers.file.string());
  if (form == Form::text) {
    request.flags.insert(request.flags.end(), {"-S", "-emit-llvm"});
    request.output = "kernel.ll";
  }
  const auto compiled = build(builder, request, prepared.file);
  if (!compiled) return std::unexpected(with_unknown(compiled.error(), prepared));
  return *compiled;
}

/// With what all kernels compiled with `flags` share.
base::Result<Built> link(const toolchain::Builder& builder, const Prepared& prepared,
                         const std::vector<std::string>& flags, const Built& object) {
  KS_TRY(const Built library,
         build(builder, device_library(flags, prepared.dialect), "simt/device"));
  return build(builder, linking(object, library), prepared.file);
}

}  // namespace

base::Result<toolchain::Compiler> find_clang(const os::Environment& environment) {
  std::vector<std::string> names;
  if (const auto named = environment.find("KSEARCH_CLANG"); named != environment.end())
    names.push_back(named->second);
  for (const char* name : {"clang++-19", "clang++-18", "clang++-17", "clang++"})
    names.emplace_back(name);
  for (const std::string& name : names) {
    os::Environment asked = environment;
    asked["KSEARCH_CXX"] = name;
    const auto compiler = toolchain::find_compiler(asked);
    if (!compiler || !compiler->clang) continue;
    const std::size_t at = compiler->version.find("version ");
    if (at != std::string::npos && std::atoi(compiler->version.c_str() + at + 8) >= kOldestClang)
      return *compiler;
  }
  return base::environment_error(
      "clang",
      fmt::format("none from version {} on is here; Metal kernels are compiled with it",
                  kOldestClang),
      "install it (Debian: apt install clang-19), or name one in KSEARCH_CLANG");
}

base::Result<Prepared> prepare(const toolchain::Builder& builder, const Case& all) {
  if (all.dialect == Dialect::cuda) return prepare_cuda(builder, all);
  std::string source = all.source;
  msl::Wanted wanted{{}, all.launches.front().constants};
  for (const Launch& launch : all.launches) wanted.kernels.insert(launch.kernel);
  if (all.body) {
    KS_TRY(source, msl::source_of_body(all));
    wanted.kernels = {std::string(msl::kBodyKernel)};
  }
  KS_TRY(const Built file, build(builder, preprocessing(all, source), all.file));
  KS_TRY(const std::string preprocessed, os::read_file(file.file));
  KS_TRY(msl::Rewritten rewritten, msl::rewrite(preprocessed, wanted));
  return Prepared{
      all.file, std::move(rewritten.source), msl::lint(all, preprocessed), Dialect::metal, {}};
}

base::Result<std::filesystem::path> build_object(const toolchain::Builder& builder,
                                                 const Prepared& prepared,
                                                 const BuildOptions& options) {
  const std::vector<std::string> flags = compile_flags(options, prepared.dialect);
  // Choosing instructions for all that watches a kernel, with -O2's care, is half of compiling it.
  if (!options.watch || options.optimize == 0) {
    KS_TRY(const Built object, compile(builder, prepared, flags, Form::object));
    KS_TRY(const Built linked, link(builder, prepared, flags, object));
    return linked.file;
  }
  KS_TRY(const Built text, compile(builder, prepared, flags, Form::text));
  const ObjectCache cache(text);
  if (const auto known = cache.find()) return known->file;
  KS_TRY(std::string program, os::read_file(text.file));
  KS_TRY(const Built object, build(builder, lowering(std::move(program)), prepared.file));
  KS_TRY(const Built linked, link(builder, prepared, flags, object));
  cache.keep({linked.file, {}});
  return linked.file;
}

base::Result<TracedObject> build_traced(const toolchain::Builder& builder,
                                        const Prepared& prepared) {
  const std::vector<std::string> flags = traced_flags(prepared.dialect);
  KS_TRY(const Built text, compile(builder, prepared, flags, Form::text));
  const ObjectCache cache(text);
  if (auto known = cache.find()) return std::move(*known);
  KS_TRY(const std::string program, os::read_file(text.file));
  KS_TRY(ir::Instrumented instrumented, ir::instrument(program));
  KS_TRY(const Built object, build(builder, lowering(std::move(instrumented.text)), prepared.file));
  KS_TRY(const Built linked, link(builder, prepared, flags, object));
  TracedObject traced{linked.file, std::move(instrumented)};
  cache.keep(traced);
  return traced;
}

}  // namespace ksearch::simt
