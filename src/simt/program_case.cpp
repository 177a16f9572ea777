#include "simt/program_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "simt/fields.h"

namespace ksearch::simt {
namespace {
using kernel::BoundLaunch;
using kernel::BoundScalar;
using kernel::BoundTensor;
using kernel::DType;
using kernel::ScalarKind;

Field field_of(const BoundScalar& scalar) {
  return std::visit(
      [&](auto value) {
        return Field{scalar.kind, static_cast<double>(value), static_cast<std::int64_t>(value)};
      },
      scalar.value);
}

DType type_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::i32:
      return DType::int32;
    case ScalarKind::u32:
      return DType::uint32;
    case ScalarKind::i64:
      return DType::int64;
    case ScalarKind::f32:
      return DType::float32;
    case ScalarKind::boolean:
      return DType::boolean;
  }
  return DType::boolean;
}

class Converter {
 public:
  Converter(const kernel::Program& program, const kernel::BoundProgram& bound,
            const std::vector<ProgramTensor>& tensors)
      : program_(program), bound_(bound), tensors_(tensors) {}

  base::Result<ProgramCases> run() {
    if (program_.dialect != kernel::Dialect::metal && program_.dialect != kernel::Dialect::mlx)
      return base::usage_error("program",
                               fmt::format("dialect {} is not checked", name(program_.dialect)),
                               "metal and mlx are");
    for (const kernel::BoundScratch& scratch : bound_.scratch) result_.scratch.insert(scratch.name);
    for (const BoundLaunch& launch : bound_.launches) {
      KS_TRY(Case one, case_of(launch));
      result_.cases.push_back(std::move(one));
    }
    return std::move(result_);
  }

 private:
  bool mlx() const { return program_.dialect == kernel::Dialect::mlx; }

  /// MLX: K.metal; Metal: the file in which the kernel's name stands.
  const kernel::Source* source_of(const std::string& kernel) const {
    for (const kernel::Source& source : program_.sources)
      if (mlx() ? source.path == kernel + ".metal"
                : source.path.ends_with(".metal") && source.text.find(kernel) != std::string::npos)
        return &source;
    return nullptr;
  }

  base::Result<Case> case_of(const BoundLaunch& bound) {
    const kernel::Source* source = source_of(bound.kernel);
    if (!source)
      return base::usage_error("kernel " + bound.kernel, "no source has it",
                               mlx() ? bound.kernel + ".metal is its body" : "a .metal file");
    Case all;
    all.file = source->path;
    for (const auto& [name, value] : bound.defines)
      all.source += fmt::format("#define {} {}\n", name, value);
    if (!all.source.empty()) all.source += fmt::format("#line 1 \"{}\"\n", source->path);
    all.source += source->text;
    for (const kernel::Source& other : program_.sources)
      if (&other != source) all.headers.emplace_back(other.path, other.text);
    KS_TRY(Launch launch, launch_of(bound));
    if (mlx()) all.body = body_of(bound);
    int index = 0;
    for (const kernel::BoundArg& arg : bound.args) {
      KS_TRY(Buffer buffer, buffer_of(bound, arg, index));
      if (all.body)
        (buffer.role == Role::in ? all.body->inputs : all.body->outputs).push_back(buffer.name);
      launch.bind[index++] = buffer.name;
      // A tensor may be given twice.
      if (std::ranges::find(all.buffers, buffer.name, &Buffer::name) == all.buffers.end())
        all.buffers.push_back(std::move(buffer));
    }
    if (!mlx() && !bound.instantiate.empty()) instantiate(bound, launch, all);
    all.launches.push_back(std::move(launch));
    return all;
  }

  static void instantiate(const BoundLaunch& bound, Launch& launch, Case& all) {
    std::vector<std::string> values;
    for (const auto& [name, value] : bound.instantiate) values.push_back(value);
    launch.kernel = fmt::format("{}<{}>", bound.kernel, fmt::join(values, ", "));
    all.source += fmt::format("\ntemplate [[host_name(\"{0}\")]] [[kernel]] decltype({0}) {0};\n",
                              launch.kernel);
  }

  Body body_of(const BoundLaunch& bound) const {
    Body body;
    body.arguments = bound.instantiate;
    for (const kernel::Source& source : program_.sources)
      if (source.path == bound.kernel + ".h") body.header = source.text;
    for (const kernel::Launch& launch : program_.launches)
      for (const kernel::Arg& arg : launch.args)
        if (const auto* tensor = std::get_if<kernel::TensorArg>(&arg);
            tensor && launch.kernel == bound.kernel && tensor->access == kernel::ArgAccess::atomic)
          body.atomic_outputs = true;
    return body;
  }

  base::Result<Launch> launch_of(const BoundLaunch& bound) const {
    Launch launch;
    launch.kernel = bound.kernel;
    const bool in_threads = bound.threads[0] > 0;
    std::array<std::uint32_t, 3> threads{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t count = in_threads ? bound.threads[d] : bound.groups[d];
      const std::int64_t all = in_threads ? count : count * bound.group_size[d];
      if (count < 1 || all > std::numeric_limits<std::int32_t>::max() || bound.group_size[d] < 1 ||
          bound.group_size[d] > 1024)
        return base::usage_error("kernel " + bound.kernel, fmt::format("{} threads in groups of {}",
                                                                       all, bound.group_size[d]));
      launch.group_size[d] = static_cast<std::uint32_t>(bound.group_size[d]);
      launch.groups[d] = static_cast<std::uint32_t>(in_threads ? 1 : count);
      threads[d] = static_cast<std::uint32_t>(all);
    }
    // mx.fast.metal_kernel counts threads.
    if (in_threads || mlx()) launch.threads = threads;
    for (const std::int64_t bytes : bound.group_memory) {
      if (bytes < 0 || bytes > (1 << 20))
        return base::usage_error("kernel " + bound.kernel,
                                 fmt::format("{} bytes of group memory", bytes));
      launch.group_memory.push_back(static_cast<std::uint32_t>(bytes));
    }
    for (const auto& [index, value] : bound.constants) {
      const bool number = !index.empty() && index.size() < 6 &&
                          index.find_first_not_of("0123456789") == std::string::npos;
      if (!number)
        return base::usage_error("kernel " + bound.kernel,
                                 fmt::format("constant \"{}\": its index is meant", index));
      launch.constants[std::stoi(index)] = value;
    }
    return launch;
  }

  base::Result<Buffer> buffer_of(const BoundLaunch& launch, const kernel::BoundArg& arg,
                                 int index) const {
    Buffer buffer;
    buffer.index = index;
    if (const auto* tensor = std::get_if<BoundTensor>(&arg))
      return tensor_of(launch, *tensor, index);
    buffer.init.kind = Init::Kind::bytes;
    if (const auto* scalar = std::get_if<BoundScalar>(&arg)) {
      buffer.name = scalar->name.empty() ? fmt::format("argument {}", index) : scalar->name;
      buffer.dtype = type_of(scalar->kind);
      buffer.init.bytes = struct_bytes({field_of(*scalar)});
      return buffer;
    }
    std::vector<Field> fields;
    for (const BoundScalar& scalar : std::get<kernel::BoundStruct>(arg).fields)
      fields.push_back(field_of(scalar));
    buffer.name = fmt::format("struct {}", index);
    buffer.dtype = DType::uint8;
    buffer.init.bytes = struct_bytes(fields);
    buffer.shape = {static_cast<std::int64_t>(buffer.init.bytes.size())};
    return buffer;
  }

  base::Result<Buffer> tensor_of(const BoundLaunch& launch, const BoundTensor& tensor,
                                 int index) const {
    if (tensor.tensor.empty())
      return base::usage_error(
          "kernel " + launch.kernel,
          fmt::format("argument {} is absent; null pointers are not run", index),
          "two launches with when: has(...)");
    if (tensor.offset != 0)
      return base::usage_error("kernel " + launch.kernel,
                               fmt::format("argument {} has an offset; that is not run", index),
                               "pass the offset as a number");
    Buffer buffer;
    buffer.index = index;
    buffer.name = tensor.tensor;
    buffer.dtype = tensor.dtype;
    const auto found = std::ranges::find(tensors_, tensor.tensor, &ProgramTensor::name);
    const auto scratch =
        std::ranges::find(bound_.scratch, tensor.tensor, &kernel::BoundScratch::name);
    buffer.role = tensor.writes ? Role::out : Role::in;
    std::optional<double> start = tensor.init;
    if (found != tensors_.end()) {
      buffer.shape = found->shape;
      if (!found->bytes.empty() && tensor.writes) buffer.role = Role::inout;
      // Later launches start with what the ones before left.
      if (!found->bytes.empty() && first_use(launch, tensor.tensor)) {
        buffer.init.kind = Init::Kind::bytes;
        buffer.init.bytes = found->bytes;
      }
    } else if (scratch != bound_.scratch.end()) {
      buffer.shape = {scratch->elements};
      if (!start && first_use(launch, tensor.tensor)) start = scratch->init;
    }
    if (start) {
      buffer.role = Role::inout;
      buffer.init = {};
      buffer.init.kind = Init::Kind::constant;
      buffer.init.value = *start;
    }
    return buffer;
  }

  /// Whether no launch before this one has the tensor.
  bool first_use(const BoundLaunch& launch, const std::string& name) const {
    for (const BoundLaunch& before : bound_.launches) {
      if (&before == &launch) return true;
      for (const kernel::BoundArg& arg : before.args)
        if (const auto* tensor = std::get_if<BoundTensor>(&arg); tensor && tensor->tensor == name)
          return false;
    }
    return true;
  }

  const kernel::Program& program_;
  const kernel::BoundProgram& bound_;
  const std::vector<ProgramTensor>& tensors_;
  ProgramCases result_;
};

}  // namespace

base::Result<ProgramCases> cases_of_program(const kernel::Program& program,
                                            const kernel::BoundProgram& bound,
                                            const std::vector<ProgramTensor>& tensors) {
  return Converter(program, bound, tensors).run();
}

}  // namespace ksearch::simt
