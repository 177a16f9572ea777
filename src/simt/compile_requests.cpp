#include "simt/compile_requests.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "simt/device_text.h"
#include "simt/ir/stack.h"
#include "simt/msl/body.h"
#include "simt/msl/swizzle.h"
#include "simt/tools.h"

namespace ksearch::simt {
namespace {
using toolchain::CompileRequest;

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

/// The text of one of our headers.
std::string device_header(std::string_view name) {
  for (const auto& [known, text] : kDeviceHeaders)
    if (name == known) return text;
  return {};
}

bool of_cuda(std::string_view header) { return header.starts_with("ks_cuda"); }

std::string main_header(Dialect dialect) {
  return dialect == Dialect::cuda ? "ks_cuda.h" : "ks_kernel.h";
}

constexpr const char* kLibrary = "library.o";

}  // namespace

CompileRequest preprocessing_cuda(const Case& all, const cuda::EmptyHeaders& empty) {
  CompileRequest request;
  // One file that two folders lead to is one file for #pragma once.
  std::map<std::string_view, std::string_view> known;
  for (const auto& [path, text] : all.headers) {
    if (path == all.file) continue;
    const auto [first, fresh] = known.try_emplace(text, path);
    request.files.emplace_back(
        path, fresh || text.empty() ? text : fmt::format("#include \"{}\"\n", first->second));
  }
  for (const auto& header : empty.files) request.files.push_back(header);
  request.files.emplace_back("ks_cuda_macros.h", device_header("ks_cuda_macros.h"));
  request.files.emplace_back(all.file, all.source);
  request.main = all.file;
  request.flags = {"-E",        "-x",          "c++", "-std=c++20",
                   "-nostdinc", "-nostdinc++", "-I.", "-fno-color-diagnostics"};
  for (const auto& [name, text] : all.defines)
    request.flags.push_back(fmt::format("-D{}={}", name, text));
  request.flags.insert(request.flags.end(), {"-include", "ks_cuda_macros.h"});
  request.output = "kernel.ii";
  return request;
}

CompileRequest preprocessing(const Case& all, const std::string& source) {
  CompileRequest request;
  for (const auto& header : all.headers)
    if (header.first != all.file) request.files.push_back(header);
  request.files.emplace_back(all.file, source);
  for (const char* header : kStandardHeaders)
    request.files.emplace_back(header, device_header("metal_stdlib"));
  if (all.body) request.files.emplace_back(msl::kBodyUtilities, device_header(msl::kBodyUtilities));
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
  for (const auto& [name, text] : all.defines)
    request.flags.push_back(fmt::format("-D{}={}", name, text));
  request.output = "kernel.ii";
  return request;
}

std::vector<std::string> compile_flags(const BuildOptions& options, Dialect dialect) {
  std::vector<std::string> flags = {
    "-std=c++20",
    "-nostdinc",
    "-nostdinc++",
    "-fdeclspec",
    "-w",
    fmt::format("-O{}", options.optimize),
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    // C++ lets a loop without end vanish, and the function with it; it is to be found.
    "-fno-finite-loops",
    "-gdwarf-4",
    "-gline-tables-only",
    "-fPIC",
    "-fstack-clash-protection",  // a large frame does not step over the guard page
    "-fsigned-char",             // as GPUs have it; not every CPU does
    "-fvisibility=hidden",
    "-fno-color-diagnostics",
    fmt::format("-DKS_TRACED={}", options.watch ? 1 : 0),
#ifndef __APPLE__
    "-ftls-model=initial-exec",  // a lane asks who it is at every operation of its SIMD-group
#endif
#if defined(__x86_64__)
    "-mf16c",
    "-mfma",
#endif
#if defined(__aarch64__)
    "-mno-outline-atomics",  // the compiler's functions for atomics are not linked
#endif
  };
  if (!kCross.empty()) flags.push_back(fmt::format("--target={}", kCross));
  // In Metal a literal without a suffix is a float.
  if (dialect == Dialect::metal)
    flags.insert(flags.end(), {"-Xclang", "-cl-single-precision-constant"});
  // clang 19's quick instruction selection takes a bfloat that a call returns for a float.
  if (options.optimize == 0)
    flags.insert(flags.end(), {"-mllvm", "-fast-isel=false", "-mllvm", "-global-isel=false"});
  if (options.watch)
    flags.insert(flags.end(), {"-fno-vectorize", "-fno-slp-vectorize",
                               // Loops stay loops whatever a pragma wants: each copy of a body
                               // would be watched, and compiling it is what a check waits for.
                               "-mllvm", "-pragma-unroll-threshold=64",
                               // Every access and the definedness of every value ...
                               // (clang's driver grants that to Linux on few machines; the pass
                               // needs nothing of them when it calls us for each shadow).
                               "-Xclang", "-fsanitize=kernel-memory", "-Xclang",
                               "-fsanitize-recover=kernel-memory", "-Xclang",
                               "-fno-sanitize-memory-param-retval", "-mllvm", "-msan-shadow-base=1",
                               // ... and what those cannot see.
                               "-fsanitize=alignment,array-bounds,local-bounds",
                               "-fsanitize-trap=local-bounds", "-fsanitize-recover=all"});
  return flags;
}

/// Of the code that a trace counts in.
std::vector<std::string> traced_flags(Dialect dialect) {
  std::vector<std::string> flags = compile_flags({.optimize = 2, .watch = false}, dialect);
  flags.insert(flags.end(), {"-fno-vectorize", "-fno-slp-vectorize",
                             // Arithmetic in half is arithmetic in half, one operation each ...
                             "-Xclang", "-ffloat16-excess-precision=none", "-Xclang",
                             "-fbfloat16-excess-precision=none",
                             // ... indices keep their 32 bits ...
                             "-mllvm", "-indvars-widen-indvars=false",
                             // ... and loops over a thread's arrays become straight code.
                             "-mllvm", "-unroll-threshold=3000"});
  return flags;
}

/// With our headers beside it.
CompileRequest with_headers(std::vector<std::string> flags, Dialect dialect) {
  CompileRequest request;
  for (const auto& [name, text] : kDeviceHeaders)
    if (std::string_view(name).starts_with("ks_") && (dialect == Dialect::cuda || !of_cuda(name)))
      request.files.emplace_back(name, text);
  request.files.emplace_back("ks_swizzle.h", msl::swizzle_header());
  request.flags = std::move(flags);
  return request;
}

CompileRequest prelude(std::vector<std::string> flags, Dialect dialect) {
  CompileRequest request = with_headers(std::move(flags), dialect);
  request.main = main_header(dialect);
  // The headers stand in a folder that is gone when the prelude is used: it carries them.
  request.flags.insert(request.flags.end(),
                       {"-Xclang", "-fmodules-embed-all-files", "-x", "c++-header"});
  request.output = "prelude.pch";
  return request;
}

CompileRequest device_library(std::vector<std::string> flags, Dialect dialect) {
  CompileRequest request = with_headers(std::move(flags), dialect);
  request.main = "library.cpp";
  request.files.emplace_back(request.main, fmt::format("#define KS_LIBRARY\n#include \"{}\"\n"
                                                       "#include \"ks_library.h\"\n",
                                                       main_header(dialect)));
  request.flags.insert(request.flags.end(), {"-c", "-ffunction-sections", "-x", "c++"});
  request.output = kLibrary;
  return request;
}

CompileRequest compilation(const std::string& source, std::vector<std::string> flags,
                           const std::string& prelude) {
  CompileRequest request;
  request.files.emplace_back("kernel.cpp", source);
  request.main = "kernel.cpp";
  request.flags = std::move(flags);
  // Its name is the hash of all that went into it: nothing to validate.
  request.flags.insert(request.flags.end(), {"-c", "-include-pch", prelude, "-Xclang",
                                             "-fno-validate-pch", "-x", "c++"});
  request.read = {prelude};
  request.output = "kernel.o";
  return request;
}

/// The linker itself: clang, to link too, would start itself a second time. What the object lacks
/// (the C library's functions of numbers, the compiler's of half) the worker has.
CompileRequest linking(const toolchain::Built& object, const toolchain::Built& library) {
  CompileRequest request;
  request.built.emplace_back("kernel.o", object);
  request.built.emplace_back(kLibrary, library);
  request.libraries = {kLibrary};
  request.main = "kernel.o";
  request.flags = {"-shared"};
#ifdef __APPLE__
  request.flags.insert(request.flags.end(), {"-undefined", "dynamic_lookup", "-Wl,-dead_strip"});
#else
  request.flags.emplace_back("--gc-sections");  // of the library, what the kernel calls
  request.program = tool("ld");
#endif
  return request;
}

CompileRequest lowering(std::string text) {
  // It went through the optimizer before. Instructions are chosen without more of that, registers
  // with care: half the time of -O1 for code that is as fast within the noise. Only -O1 gives
  // variables of scopes that are never alive together one place.
  constexpr std::size_t kMuchStack = std::size_t{32} << 10;
  const bool much = ir::stack_bytes(text) > kMuchStack;
  CompileRequest request;
  request.files.emplace_back("kernel.ll", std::move(text));
  request.main = "kernel.ll";
  if (much)
    request.flags = {"-O1"};
  else
    request.flags = {"-O0",
                     "-mllvm",
                     "-fast-isel=false",
                     "-mllvm",
                     "-global-isel=false",
                     "-mllvm",
                     "-optimize-regalloc",
                     "-mllvm",
                     "-regalloc=basic"};
  request.flags.insert(request.flags.end(), {
    "-c", "-Xclang", "-disable-llvm-passes", "-fPIC", "-w",
#if defined(__x86_64__)
        "-mf16c", "-mfma",
#endif
        "-x", "ir"
  });
  if (!kCross.empty()) request.flags.push_back(fmt::format("--target={}", kCross));
  request.output = "kernel.o";
  return request;
}

}  // namespace ksearch::simt
