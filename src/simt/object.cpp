#include "simt/object.h"

#include <fmt/format.h>

#include <cstdlib>

#include "os/files.h"
#include "simt/device_text.h"
#include "simt/msl/body.h"
#include "simt/msl/lints.h"
#include "simt/msl/rewrite.h"
#include "simt/msl/swizzle.h"

namespace ksearch::simt {
namespace {
using toolchain::CompileFault;
using toolchain::CompileRequest;

constexpr int kOldestClang = 17;

/// Every name that Metal's headers have; each is the same file of macros here.
constexpr const char* kStandardHeaders[] = {"metal_stdlib",
                                            "metal_array",
                                            "metal_atomic",
                                            "metal_common",
                                            "metal_compute",
                                            "metal_geometric",
                                            "metal_graphics",
                                            "metal_integer",
                                            "metal_limits",
                                            "metal_math",
                                            "metal_matrix",
                                            "metal_numeric",
                                            "metal_pack",
                                            "metal_relational",
                                            "metal_simdgroup",
                                            "metal_simdgroup_matrix",
                                            "metal_texture",
                                            "metal_type_traits",
                                            "metal_types",
                                            "metal_logging",
                                            "metal_uniform",
                                            "metal_utility",
                                            "metal_integer_sequence",
                                            "simd/simd.h"};

base::Result<std::string> run(const toolchain::Builder& builder, const CompileRequest& request,
                              const std::string& what) {
  KS_TRY(const auto result, builder.build(request));
  if (const auto* built = std::get_if<toolchain::Built>(&result)) return built->file.string();
  const auto& fault = std::get<CompileFault>(result);
  if (fault.kind == CompileFault::Kind::time)
    return base::usage_error(what, fmt::format("compiling took over {} s", fault.limit));
  if (fault.kind == CompileFault::Kind::memory)
    return base::environment_error(what, "the compiler ran out of memory");
  return base::usage_error(what, "it does not compile\n" + fault.log);
}

CompileRequest preprocessing(const Case& all, const std::string& source) {
  CompileRequest request;
  for (const auto& header : all.headers)
    if (header.first != all.file) request.files.push_back(header);
  request.files.emplace_back(all.file, source);
  for (const auto& [name, text] : kDeviceHeaders)
    if (std::string_view(name) == "metal_stdlib")
      for (const char* header : kStandardHeaders) request.files.emplace_back(header, text);
  request.main = all.file;
  request.flags = {"-E",
                   "-x",
                   "c++",
                   "-std=c++20",
                   "-nostdinc",
                   "-nostdinc++",
                   "-I.",
                   "-D__METAL__=1",
                   "-D__METAL_VERSION__=310",
                   "-D__METAL_MACOS__=1",
                   "-D__HAVE_BFLOAT__=1",
                   "-fno-color-diagnostics"};
  request.output = "kernel.ii";
  return request;
}

std::vector<std::string> compile_flags(int optimize) {
  std::vector<std::string> flags = {
    "-std=c++20",
    "-nostdinc",
    "-nostdinc++",
    "-fdeclspec",
    "-w",
    fmt::format("-O{}", optimize),
    "-Xclang",
    "-cl-single-precision-constant",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-gline-tables-only",
    "-gdwarf-4",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-color-diagnostics",
    // Every access and the definedness of every value ...
    "-fsanitize=kernel-memory",
    "-fno-sanitize-memory-param-retval",
    // ... and what those cannot see.
    "-fsanitize=alignment,array-bounds,local-bounds", "-fsanitize-trap=local-bounds",
    "-fsanitize-recover=all",
#if defined(__x86_64__)
    "-mf16c",
    "-mfma",
#endif
  };
  // clang 19's quick instruction selection takes a bfloat that a call returns for a float.
  if (optimize == 0) flags.insert(flags.end(), {"-mllvm", "-fast-isel=false"});
  return flags;
}

/// Our headers, parsed once for all kernels.
CompileRequest prelude(int optimize) {
  CompileRequest request;
  for (const auto& [name, text] : kDeviceHeaders)
    if (std::string_view(name) != "metal_stdlib") request.files.emplace_back(name, text);
  request.files.emplace_back("ks_swizzle.h", msl::swizzle_header());
  request.main = "ks_kernel.h";
  request.flags = compile_flags(optimize);
  // The headers stand in a folder that is gone when the prelude is used: it carries them.
  request.flags.insert(request.flags.end(),
                       {"-Xclang", "-fmodules-embed-all-files", "-x", "c++-header"});
  request.output = "prelude.pch";
  return request;
}

CompileRequest compilation(const std::string& source, int optimize, const std::string& prelude) {
  CompileRequest request;
  request.files.emplace_back("kernel.cpp", source);
  request.main = "kernel.cpp";
  request.flags = compile_flags(optimize);
  // Its name is the hash of all that went into it: nothing to validate.
  request.flags.insert(request.flags.end(), {"-shared", "-include-pch", prelude, "-Xclang",
                                             "-fno-validate-pch", "-x", "c++"});
  request.read = {prelude};
  request.libraries = {"-x", "none", "-lm"};
  return request;
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

base::Result<Object> build_object(const toolchain::Builder& builder, const Case& all,
                                  int optimize) {
  std::string source = all.source;
  msl::Wanted wanted{{}, all.launches.front().constants};
  for (const Launch& launch : all.launches) wanted.kernels.insert(launch.kernel);
  if (all.body) {
    KS_TRY(source, msl::source_of_body(all));
    wanted.kernels = {std::string(msl::kBodyKernel)};
  }
  KS_TRY(const std::string preprocessed_file, run(builder, preprocessing(all, source), all.file));
  KS_TRY(const std::string preprocessed, os::read_file(preprocessed_file));
  KS_TRY(const msl::Rewritten rewritten, msl::rewrite(preprocessed, wanted));
  KS_TRY(const std::string headers, run(builder, prelude(optimize), "simt/device"));
  KS_TRY(const std::string object,
         run(builder, compilation(rewritten.source, optimize, headers), all.file));
  return Object{object, msl::lint(all, preprocessed)};
}

}  // namespace ksearch::simt
