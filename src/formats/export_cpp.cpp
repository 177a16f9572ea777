#include "formats/export_cpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "formats/cpp_function.h"
#include "formats/cpp_sources.h"
#include "formats/cpp_variants.h"
#include "formats/embedded_text.h"

namespace ksearch::formats {
namespace {

using kernel::DType;

constexpr std::string_view kFlags =
    "-std=c++20 -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=fast";

std::string suffix(DType type) {
  switch (type) {
    case DType::float64:
      return "f64";
    case DType::float32:
      return "f32";
    case DType::float16:
      return "f16";
    case DType::bfloat16:
      return "bf16";
    case DType::float8_e4m3fn:
      return "f8e4m3";
    case DType::float8_e5m2:
      return "f8e5m2";
    case DType::boolean:
      return "bool";
    default: {
      std::string short_name(kernel::name(type));
      const std::size_t digits = short_name.find_first_of("0123456789");
      return short_name.substr(0, 1) + short_name.substr(digits);
    }
  }
}

/// How macros that stand for the compiler's target are had (gcc and clang).
std::string device_macro_text(const std::string& macro, const kernel::HardwareProfile& device) {
  static constexpr std::pair<std::string_view, std::string_view> kFeatures[] = {
      {"KS_HAS_AVX2", "__AVX2__"},
      {"KS_HAS_FMA", "__FMA__"},
      {"KS_HAS_F16C", "__F16C__"},
      {"KS_HAS_AVX512F", "__AVX512F__"},
      {"KS_HAS_AVX512BW", "__AVX512BW__"},
      {"KS_HAS_AVX512_BF16", "__AVX512BF16__"},
      {"KS_HAS_AVX512_FP16", "__AVX512FP16__"},
      {"KS_HAS_AMX_BF16", "__AMX_BF16__"},
      {"KS_HAS_NEON", "__ARM_NEON"}};
  for (const auto& [name, predefined] : kFeatures)
    if (macro == name)
      return fmt::format("#ifdef {1}\n#define {0} 1\n#else\n#define {0} 0\n#endif\n", name,
                         predefined);
  if (macro == "KS_SIMD_WIDTH")
    return "#if defined(__AVX512F__)\n#define KS_SIMD_WIDTH 16\n#elif defined(__AVX__)\n"
           "#define KS_SIMD_WIDTH 8\n#else\n#define KS_SIMD_WIDTH 4\n#endif\n";
  std::int64_t value = 0;
  if (macro == "KS_L1_BYTES") value = device.l1_bytes;
  if (macro == "KS_L2_BYTES") value = device.l2_bytes;
  if (macro == "KS_GROUP_MEMORY") value = device.group_memory;
  if (macro == "KS_MAX_GROUP_SIZE") value = device.max_group_size;
  return fmt::format("#define {} {}  // of {}\n", macro, value, device.name);
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string comment(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line.empty() ? "//\n" : "// " + line + "\n";
  return out;
}

std::string header_text(const CppExportRequest& request, const std::string& name,
                        const std::vector<CppFunction*>& functions) {
  std::vector<std::string> head{request.definition->description};
  head.insert(head.end(), request.credit.begin(), request.credit.end());
  std::string out = comment(head);
  out += fmt::format(
      "#ifndef {0}_H\n#define {0}_H\n\n#include <stdbool.h>\n#include <stddef.h>\n"
      "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      upper(name));
  out += fmt::format(
      "enum {{\n  {0}_OK = 0,\n  {0}_UNSUPPORTED = 1,   /* no plan for these sizes: nothing was "
      "written */\n"
      "  {0}_NULL_POINTER = 2,\n  {0}_OUT_OF_MEMORY = 3\n}};\n\n",
      upper(name));
  out += "/* Tensors are row-major and contiguous:\n";
  const auto describe = [&](const kernel::TensorSpec& t, const char* what) {
    std::string shape;
    for (const auto& size : t.shape) shape += (shape.empty() ? "" : ", ") + size.text();
    out +=
        fmt::format("     {} {} [{}]{}\n", what, t.name, shape, t.optional ? ", may be null" : "");
  };
  for (const auto& t : request.definition->inputs)
    describe(t, t.access == kernel::Access::inout ? "inout" : "in   ");
  for (const auto& t : request.definition->outputs) describe(t, "out  ");
  out +=
      "   float16 and bfloat16 are their 16 bits in a uint16_t. Outputs must not overlap inputs.\n"
      "   Checked on finite inputs; infinities and NaNs may give anything finite or not.\n"
      "   threads: how many to use; 0 takes all the machine has. workspace: NAME_workspace(...) "
      "bytes\n"
      "   that no other call uses meanwhile, or null: then they are allocated for the call. */\n";
  for (CppFunction* function : functions)
    out += function->declaration() + ";\n" + function->workspace_declaration() + ";\n\n";
  return out + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

constexpr std::string_view kRuntimeIncludes[] = {
    "<algorithm>", "<atomic>",   "<barrier>",      "<cstddef>", "<cstdint>", "<cstdlib>",
    "<cstring>",   "<optional>", "<system_error>", "<thread>",  "<vector>"};

/// The AMX unit's state must be asked for once a process on Linux (arch_prctl
/// ARCH_REQ_XCOMP_PERM, XTILEDATA; Linux 5.16).
constexpr std::string_view kAmx =
    "#if defined(__AMX_BF16__) && defined(__linux__)\n"
    "const bool kAmxAsked = syscall(SYS_arch_prctl, 0x1023, 18) == 0;\n#endif\n";

std::string source_text(const CppExportRequest& request, const std::string& name,
                        const CppVariants& variants, const std::set<std::string>& device_macros,
                        const std::vector<CppFunction*>& functions,
                        const std::vector<std::string>& bodies) {
  const HoistedSource source = hoist(*request.program);
  std::set<std::string> includes = source.includes;
  for (const std::string_view include : kRuntimeIncludes) includes.insert(std::string(include));
  const bool amx = source.body.find("_tile_") != source.body.npos;
  std::vector<std::string> head{fmt::format("Compile: g++ {} -pthread -c {}.cpp", kFlags, name)};
  head.insert(head.end(), request.credit.begin(), request.credit.end());
  std::string out = comment(head) + fmt::format("#include \"{}.h\"\n\n", name);
  for (const std::string& include : includes) out += include_line(include);
  if (amx)
    out +=
        "#if defined(__AMX_BF16__) && defined(__linux__)\n#include <sys/syscall.h>\n"
        "#include <unistd.h>\n#endif\n";
  out += "\n";
  for (const std::string& macro : device_macros) out += device_macro_text(macro, request.device);
  out += "\nnamespace {\n\n" + without_head(kKernelHeader) + "\n" + without_head(kCppRuntime);
  out +=
      "\n/// 0 and less: as many as the machine has.\ninline int64_t worker_count(int threads) {\n"
      "  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());\n}\n\n";
  if (amx) out += kAmx;
  out +=
      "}  // namespace\n\n"
      "// The kernels, once for each set of macros that the plan compiles them with.\n"
      "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
      "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
      "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC push_options\n"
      "#pragma GCC diagnostic ignored \"-Wpsabi\"\n#endif\nnamespace {\n";
  for (const CppVariant& variant : variants.all())
    out += "\n" + source_copy(source, variant.name, variant.defines);
  out +=
      "\n}  // namespace\n#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC pop_options\n"
      "#endif\n#pragma GCC diagnostic pop\n\n";
  for (std::size_t i = 0; i < functions.size(); ++i) out += bodies[i];
  return out;
}

const std::string& name_of(const CppExportRequest& request) {
  return request.name.empty() ? request.definition->name : request.name;
}

base::Result<void> check_request(const CppExportRequest& request) {
  const kernel::Program& program = *request.program;
  if (program.dialect != kernel::Dialect::cpp)
    return base::usage_error(
        "--as cpp", fmt::format("the program is of dialect {}", name(program.dialect)),
        program.dialect == kernel::Dialect::mlx
            ? "one of dialect mlx is exported with --as mlx-python or --as mlx-cpp"
            : "cpp exports programs of dialect cpp");
  if (!request.definition->derived.empty())
    return base::usage_error("--as cpp", "the task has sizes that depend on data (derived)",
                             "these cannot be exported to C++ yet");
  if (request.workloads.empty()) return base::usage_error("--as cpp", "no workload to export for");
  const std::string& name = name_of(request);
  if (const std::string_view why = cpp_function_refuses(name); !why.empty())
    return base::usage_error(name, std::string(why), "give another with --name");
  for (const auto& launch : program.launches)
    for (const auto& arg : launch.args)
      if (std::holds_alternative<kernel::StructArg>(arg))
        return base::usage_error(launch.kernel, "struct arguments cannot be exported to C++ yet");
  return {};
}

}  // namespace

base::Result<CppExport> export_cpp(const CppExportRequest& request) {
  KS_RETURN_IF_ERROR(check_request(request));
  std::set<std::string> device_macros;
  CppVariants variants(request, device_macros);
  for (const kernel::Workload& workload : request.workloads)
    KS_RETURN_IF_ERROR(variants.add(workload));

  CppExport result;
  result.name = name_of(request);
  result.compile_command = fmt::format("g++ {} -pthread", kFlags);
  std::vector<std::unique_ptr<CppFunction>> functions;
  std::vector<CppFunction*> borrowed;
  std::vector<std::string> bodies;
  for (const auto& group : variants.groups()) {
    CppFunctionInput input{request.program,    request.definition, group.types,   result.name,
                           upper(result.name), group.choices,      group.variants};
    for (const auto& [variable, type] : group.types) input.name += "_" + suffix(type);
    result.functions.push_back(input.name);
    functions.push_back(std::make_unique<CppFunction>(input));
    borrowed.push_back(functions.back().get());
    bodies.push_back(borrowed.back()->definition_text());
    device_macros.insert(borrowed.back()->device_macros().begin(),
                         borrowed.back()->device_macros().end());
  }
  result.header = header_text(request, result.name, borrowed);
  result.source = source_text(request, result.name, variants, device_macros, borrowed, bodies);
  return result;
}

}  // namespace ksearch::formats
