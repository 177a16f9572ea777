// Every function that the device headers define in Metal's namespace, and every type and attribute
// of the list below, is used by a kernel of the conformance set; tests/golden/msl_builtins.md says
// by which.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "golden.h"
#include "os/files.h"
#include "os/sandbox.h"
#include "simt/msl/rewrite.h"
#include "simt/msl/swizzle.h"
#include "simt/object.h"
#include "unit/simt/test_machine.h"

namespace ksearch::tests {
namespace {
namespace fs = std::filesystem;
using simt::msl::Source;

/// Types, qualifiers, attributes, traits and macros: not functions of the headers.
constexpr const char* kNames[] = {"device",
                                  "constant",
                                  "threadgroup",
                                  "thread",
                                  "bool",
                                  "char",
                                  "uchar",
                                  "short",
                                  "ushort",
                                  "int",
                                  "uint",
                                  "long",
                                  "ulong",
                                  "int64_t",
                                  "float",
                                  "half",
                                  "bfloat",
                                  "size_t",
                                  "float2",
                                  "float3",
                                  "float4",
                                  "half2",
                                  "half4",
                                  "bfloat4",
                                  "int2",
                                  "int4",
                                  "uint2",
                                  "uint3",
                                  "short4",
                                  "ushort3",
                                  "bool4",
                                  "vec",
                                  "packed_float3",
                                  "packed_half4",
                                  "packed_half3",
                                  "packed_uchar3",
                                  "packed_int3",
                                  "float2x2",
                                  "float3x3",
                                  "float4x4",
                                  "float2x4",
                                  "half2x4",
                                  "half4x4",
                                  "half3x2",
                                  "matrix",
                                  "simdgroup_matrix",
                                  "simdgroup_float8x8",
                                  "simdgroup_half8x8",
                                  "simdgroup_bfloat8x8",
                                  "atomic_int",
                                  "atomic_uint",
                                  "atomic_float",
                                  "atomic_bool",
                                  "atomic_ulong",
                                  "simd_vote",
                                  "quad_vote",
                                  "array",
                                  "mem_none",
                                  "mem_device",
                                  "mem_threadgroup",
                                  "memory_order_relaxed",
                                  "memory_order_seq_cst",
                                  "thread_scope_device",
                                  "numeric_limits",
                                  "INFINITY",
                                  "NAN",
                                  "M_PI_F",
                                  "buffer",
                                  "host_name",
                                  "kernel",
                                  "function_constant",
                                  "is_function_constant_defined",
                                  "max_total_threads_per_threadgroup",
                                  "thread_position_in_grid",
                                  "thread_position_in_threadgroup",
                                  "threadgroup_position_in_grid",
                                  "threads_per_threadgroup",
                                  "dispatch_threads_per_threadgroup",
                                  "threadgroups_per_grid",
                                  "threads_per_grid",
                                  "grid_size",
                                  "grid_origin",
                                  "thread_index_in_threadgroup",
                                  "thread_index_in_simdgroup",
                                  "simdgroup_index_in_threadgroup",
                                  "simdgroups_per_threadgroup",
                                  "dispatch_simdgroups_per_threadgroup",
                                  "threads_per_simdgroup",
                                  "thread_execution_width",
                                  "thread_index_in_quadgroup",
                                  "quadgroup_index_in_threadgroup",
                                  "quadgroups_per_threadgroup",
                                  "dispatch_quadgroups_per_threadgroup",
                                  "fast",
                                  "precise",
                                  "is_same",
                                  "is_same_v",
                                  "enable_if_t",
                                  "conditional_t",
                                  "is_integral_v",
                                  "is_floating_point",
                                  "is_signed_v",
                                  "is_unsigned_v",
                                  "is_arithmetic_v",
                                  "is_scalar_v",
                                  "is_pointer_v",
                                  "is_const_v",
                                  "is_void_v",
                                  "is_convertible_v",
                                  "is_trivially_copyable_v",
                                  "is_enum_v",
                                  "is_class_v",
                                  "remove_cv_t",
                                  "remove_reference_t",
                                  "remove_pointer_t",
                                  "remove_addrspace_t",
                                  "make_unsigned_t",
                                  "make_signed_t",
                                  "disjunction_v",
                                  "conjunction_v",
                                  "negation",
                                  "bool_constant",
                                  "true_type",
                                  "false_type",
                                  "as_type"};

/// Names of functions that the headers define for kernels.
std::set<std::string> defined_functions(const toolchain::Builder& builder) {
  toolchain::CompileRequest request;
  for (const auto& entry : fs::directory_iterator(fs::path(KSEARCH_SOURCE_DIR) / "src/simt/device"))
    request.files.emplace_back(entry.path().filename(), os::read_file(entry.path()).value());
  request.files.emplace_back("ks_swizzle.h", simt::msl::swizzle_header());
  std::sort(request.files.begin(), request.files.end());
  request.main = "ks_kernel.h";
  request.flags = {"-E", "-x", "c++", "-std=c++20", "-nostdinc", "-nostdinc++"};
  request.output = "headers.ii";
  const auto built = builder.build(request);
  if (!built || !std::holds_alternative<toolchain::Built>(*built)) {
    ADD_FAILURE() << "the headers do not preprocess";
    return {};
  }
  const Source source =
      simt::source::tokenize(os::read_file(std::get<toolchain::Built>(*built).file).value());
  std::set<std::string> names;
  for (const simt::msl::Function& function : simt::source::find_scopes(source).functions) {
    const bool metal = function.space.empty() || function.space.starts_with("metal::");
    const bool ours = function.name.starts_with("ks_") || function.name.starts_with("_") ||
                      function.name.starts_with("KS_");
    const bool word = std::isalpha(static_cast<unsigned char>(function.name[0])) != 0;
    if (metal && !ours && word && function.name != "operator") names.insert(function.name);
  }
  // Constructors of storage types that kernels never name.
  for (const char* name : {"vec_storage", "packed_vec", "cast", "append"}) names.erase(name);
  return names;
}

/// The source without comments, directives of the set included.
std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size() - 2) + 2;
    } else {
      code += text[i++];
    }
  }
  return code;
}

/// name -> "file: function, function" for every identifier of the set.
std::map<std::string, std::set<std::string>> uses() {
  std::map<std::string, std::set<std::string>> uses;
  const fs::path root = fs::path(KSEARCH_SOURCE_DIR) / "tests/conformance/msl";
  for (const char* folder : {"clean", "bodies"})
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (entry.path().extension() != ".metal") continue;
      Source source = simt::source::tokenize(without_comments(os::read_file(entry.path()).value()));
      const auto scopes = simt::source::find_scopes(source);
      const std::string stem = entry.path().stem();
      // A function's own head (attributes, parameters) is its use too.
      std::vector<std::string> owner(source.tokens.size(), stem);
      for (const auto& function : scopes.functions)
        for (std::size_t i = function.head; i <= function.close && i < owner.size(); ++i)
          owner[i] = stem + "." + function.name;
      for (std::size_t i = 0; i < source.tokens.size(); ++i)
        if (source.tokens[i].is_identifier()) uses[source.tokens[i].spelling].insert(owner[i]);
    }
  return uses;
}

TEST(MslBuiltins, EachIsUsedByAKernelOfTheConformanceSet) {
  const auto clang = simt::find_clang(os::current_environment());
  if (!clang) GTEST_SKIP() << clang.error().text();
  const auto sandbox = ksearch::simt::test_sandbox();
  if (!sandbox) GTEST_SKIP() << sandbox.error().text();
  const toolchain::Builder builder(*clang, *sandbox, os::cache_folder(os::current_environment()));
  std::set<std::string> names = defined_functions(builder);
  ASSERT_GT(names.size(), 150u);
  names.insert(std::begin(kNames), std::end(kNames));
  const auto used = uses();
  std::string table = "| builtin | kernels that test it |\n|---|---|\n";
  for (const std::string& name : names) {
    const auto found = used.find(name);
    EXPECT_NE(found, used.end()) << name << " is tested by no kernel";
    if (found == used.end()) continue;
    table += "| `" + name + "` | ";
    std::size_t told = 0;
    for (const std::string& place : found->second) {
      if (told == 3) break;
      table += (told++ ? ", " : "") + place;
    }
    if (found->second.size() > told)
      table += ", and " + std::to_string(found->second.size() - told) + " more";
    table += " |\n";
  }
  expect_golden("msl_builtins.md", table);
}

}  // namespace
}  // namespace ksearch::tests
