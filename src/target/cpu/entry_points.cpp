#include "target/cpu/entry_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/cpu/kernel_header_text.h"

namespace ksearch::target {
namespace {

constexpr std::string_view kMainFile = "ks_program.cpp";
constexpr std::string_view kHeaderFile = "ks_harness/ksearch_kernel.h";

std::string struct_type(const kernel::BoundStruct& s) {
  std::string type = "struct{";
  for (const kernel::BoundScalar& field : s.fields)
    type += fmt::format("{} {};", kernel::cpp_name(field.kind), field.name);
  return type + "}";
}

bool is_struct(std::string_view type) { return type.starts_with("struct{"); }

bool is_source(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx") ||
         path.ends_with(".c");
}

/// A struct of the kernel's own stands in for the plan's: the same size and alignment is all that
/// can be asked of it.
std::string any_struct(std::string_view name, std::string_view type) {
  return fmt::format(
      "struct {0} {{\n  struct wanted {2};\n  const void* bytes;\n"
      "  template <class S> operator S() const {{\n"
      "    static_assert(sizeof(S) == sizeof(wanted) && alignof(S) == alignof(wanted) &&\n"
      "                  __is_trivially_copyable(S), \"the plan passes {1}\");\n"
      "    S s; __builtin_memcpy(&s, bytes, sizeof(s)); return s;\n  }}\n}};\n",
      name, type, type.substr(6));
}

/// How the entry point makes argument `i` of its array.
std::string conversion(const std::string& type, std::size_t entry, std::size_t i) {
  if (is_struct(type)) return fmt::format("ks_struct_{}_{}{{a[{}]}}, ", entry, i, i);
  if (!type.ends_with("*")) return fmt::format("*static_cast<const {}*>(a[{}]), ", type, i);
  if (type.starts_with("const")) return fmt::format("static_cast<{}>(a[{}]), ", type, i);
  return fmt::format("static_cast<{}>(const_cast<void*>(a[{}])), ", type, i);
}

std::string entry_point(const Signature& s, std::size_t index) {
  std::string text, wanted, types, call;
  bool exact = true;  // a struct's type has no name here
  for (std::size_t i = 0; i < s.types.size(); ++i) {
    wanted += fmt::format("{} {}, ", s.types[i], s.names[i]);
    types += s.types[i] + ", ";
    call += conversion(s.types[i], index, i);
    if (!is_struct(s.types[i])) continue;
    exact = false;
    text += any_struct(fmt::format("ks_struct_{}_{}", index, i), s.types[i]);
  }
  if (exact)
    text += fmt::format(
        "static_assert(__is_same(decltype({0}), void({1}const ks_group*)) ||\n"
        "              __is_same(decltype({0}), void({1}const ks_group*) noexcept),\n"
        "              \"the plan calls it as: void {0}({2}const ks_group* group)\");\n",
        s.kernel, types, wanted);
  return text +
         fmt::format(
             "extern \"C\" __attribute__((visibility(\"default\")))\n"
             "void {}(const void* const* a, const ks_group* group) {{ (void)a; {}({}group); }}\n",
             entry_name(index), s.kernel, call);
}

}  // namespace

Signature signature_of(const kernel::BoundLaunch& launch) {
  Signature s;
  s.kernel = launch.kernel;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    if (const auto* tensor = std::get_if<kernel::BoundTensor>(&launch.args[i])) {
      s.types.push_back(
          fmt::format("{}{}*", tensor->writes ? "" : "const ", kernel::cpp_name(tensor->dtype)));
      s.names.push_back(tensor->tensor);
    } else if (const auto* scalar = std::get_if<kernel::BoundScalar>(&launch.args[i])) {
      s.types.emplace_back(kernel::cpp_name(scalar->kind));
      s.names.push_back(scalar->name);
    } else {
      s.types.push_back(struct_type(std::get<kernel::BoundStruct>(launch.args[i])));
      s.names.push_back(fmt::format("argument_{}", i));
    }
  }
  return s;
}

std::size_t size_bytes(kernel::ScalarKind kind) {
  switch (kind) {
    case kernel::ScalarKind::boolean:
      return 1;
    case kernel::ScalarKind::i64:
      return 8;
    default:
      return 4;
  }
}

StructLayout layout_of(const kernel::BoundStruct& fields) {
  StructLayout layout;
  for (const kernel::BoundScalar& field : fields.fields) {
    const std::size_t size = size_bytes(field.kind);  // alignment is size, for all of these
    layout.bytes = (layout.bytes + size - 1) / size * size;
    layout.offsets.push_back(layout.bytes);
    layout.bytes += size;
    layout.alignment = std::max(layout.alignment, size);
  }
  layout.bytes = (layout.bytes + layout.alignment - 1) / layout.alignment * layout.alignment;
  return layout;
}

std::vector<ObjectPlan> objects_of(const std::vector<kernel::BoundProgram>& plans) {
  std::vector<ObjectPlan> objects;
  for (const kernel::BoundProgram& plan : plans)
    for (const kernel::BoundLaunch& launch : plan.launches) {
      auto object = std::find_if(objects.begin(), objects.end(),
                                 [&](const ObjectPlan& o) { return o.defines == launch.defines; });
      if (object == objects.end()) object = objects.insert(objects.end(), {launch.defines, {}});
      Signature s = signature_of(launch);
      if (std::find(object->kernels.begin(), object->kernels.end(), s) == object->kernels.end())
        object->kernels.push_back(std::move(s));
    }
  return objects;
}

std::string entry_name(std::size_t kernel) { return fmt::format("ks_entry_{}", kernel); }

toolchain::CompileRequest compile_request(const kernel::Program& program, const ObjectPlan& object,
                                          bool compiler_is_clang) {
  toolchain::CompileRequest request;
  request.main = kMainFile;
  std::string main;
  for (const kernel::Source& source : program.sources) {
    request.files.emplace_back(source.path, source.text);
    if (is_source(source.path)) main += fmt::format("#include \"{}\"\n", source.path);
  }
  main += "#line 1 \"entry points of the plan\"\n";
  for (std::size_t i = 0; i < object.kernels.size(); ++i) main += entry_point(object.kernels[i], i);
  request.files.emplace_back(kMainFile, std::move(main));
  request.files.emplace_back(kHeaderFile, kKernelHeader);
  // The dialect's flags; no -ffast-math: NaNs and infinities mean something (poison, masks).
  request.flags = {"-std=c++20",
                   "-O3",
                   "-march=native",
                   "-fno-math-errno",
                   "-fno-trapping-math",
                   "-ffp-contract=fast",
                   "-fPIC",
                   "-shared",
                   "-fvisibility=hidden",
                   "-pipe",
                   "-Iks_harness",
                   "-include",
                   std::string(kHeaderFile)};
  // Undefined symbols are found now, not when it is loaded. No warnings: logs are for errors.
  request.flags.insert(request.flags.end(), {"-Wl,-z,defs", "-w", "-fno-diagnostics-color"});
  request.flags.push_back(compiler_is_clang ? "-ferror-limit=5" : "-fmax-errors=5");
  for (const auto& [name, value] : object.defines)
    request.flags.push_back(fmt::format("-D{}={}", name, value));
  return request;
}

}  // namespace ksearch::target
