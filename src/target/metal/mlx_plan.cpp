#include "target/metal/mlx_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace ksearch::target {
namespace {
using kernel::BoundLaunch;
using kernel::BoundScalar;
using kernel::BoundTensor;
using kernel::DType;
using kernel::ScalarKind;

constexpr std::int64_t kMostThreadsOfAGroup = 1024;  // of any Apple GPU

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

MlxTensor number_of(const BoundScalar& scalar) {
  const auto as = [&]<class T>(T, DType type) {
    const T value = std::visit([](auto v) { return static_cast<T>(v); }, scalar.value);
    return MlxTensor{scalar.name, type, {}, bytes_of(value)};
  };
  switch (scalar.kind) {
    case ScalarKind::i32:
      return as(std::int32_t{}, DType::int32);
    case ScalarKind::u32:
      return as(std::uint32_t{}, DType::uint32);
    case ScalarKind::i64:
      return as(std::int64_t{}, DType::int64);
    case ScalarKind::f32:
      return as(float{}, DType::float32);
    case ScalarKind::boolean:
      break;
  }
  return as(std::uint8_t{}, DType::boolean);
}

/// "float", "half", "bfloat16_t", "int32_t": a type by its name in dialect mlx.
std::optional<DType> type_named(std::string_view text) {
  if (text == "half") return DType::float16;
  if (text == "bfloat16_t") return DType::bfloat16;
  for (const DType type :
       {DType::float32, DType::int64, DType::int32, DType::int16, DType::int8, DType::uint64,
        DType::uint32, DType::uint16, DType::uint8, DType::boolean})
    if (kernel::cpp_name(type) == text) return type;
  return std::nullopt;
}

std::optional<MlxLaunch::Argument> argument_of(const std::string& text) {
  if (const auto type = type_named(text)) return *type;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

class Converter {
 public:
  Converter(const kernel::Program& program, const kernel::BoundProgram& plan,
            const std::vector<kernel::TensorShape>& tensors)
      : program_(program), plan_(plan), tensors_(tensors) {}

  base::Result<MlxWork> run() {
    for (const kernel::TensorShape& t : tensors_)
      if (t.access == kernel::Access::out)
        work_.outputs.push_back(t.name);
      else
        work_.inputs.push_back({t.name, t.dtype, t.shape});
    std::vector<MlxLaunch> launches;
    for (const BoundLaunch& bound : plan_.launches) {
      KS_TRY(MlxLaunch launch, launch_of(bound));
      launches.push_back(std::move(launch));
    }
    work_.what = std::move(launches);
    return std::move(work_);
  }

 private:
  const std::string* text(const std::string& path) const {
    const auto found = std::ranges::find(program_.sources, path, &kernel::Source::path);
    return found == program_.sources.end() ? nullptr : &found->text;
  }

  /// MLX makes all of a kernel's outputs atomic, or none.
  bool atomic(const std::string& kernel) const {
    return std::ranges::any_of(program_.launches, [&](const kernel::Launch& launch) {
      return launch.kernel == kernel &&
             std::ranges::any_of(launch.args, [](const kernel::Arg& arg) {
               const auto* tensor = std::get_if<kernel::TensorArg>(&arg);
               return tensor && tensor->access == kernel::ArgAccess::atomic;
             });
    });
  }

  base::Result<std::size_t> kernel_of(const BoundLaunch& bound) {
    std::string macros;
    for (const auto& [name, value] : bound.defines)
      macros += fmt::format("#define {} {}\n", name, value);
    const auto [at, fresh] = known_.try_emplace({bound.kernel, macros}, work_.kernels.size());
    if (!fresh) return at->second;
    const std::string* body = text(bound.kernel + ".metal");
    if (!body)
      return base::usage_error("kernel " + bound.kernel, "no source has it",
                               bound.kernel + ".metal is its body");
    const std::string* header = text(bound.kernel + ".h");
    work_.kernels.push_back({.name = bound.kernel,
                             .source = *body,
                             .header = macros + (header ? *header : ""),
                             .atomic_outputs = atomic(bound.kernel)});
    return at->second;
  }

  base::Result<MlxLaunch> launch_of(const BoundLaunch& bound) {
    const std::string where = "kernel " + bound.kernel;
    MlxLaunch launch;
    KS_TRY(launch.kernel, kernel_of(bound));
    launch.group_size = bound.group_size;
    std::int64_t group = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      launch.threads[d] =
          bound.threads[0] > 0 ? bound.threads[d] : bound.groups[d] * bound.group_size[d];
      group *= bound.group_size[d];
    }
    if (group > kMostThreadsOfAGroup)
      return base::usage_error(where, fmt::format("{} threads in a group", group),
                               fmt::format("{} at most", kMostThreadsOfAGroup));
    for (const auto& [name, value] : bound.instantiate) {
      const auto argument = argument_of(value);
      if (!argument)
        return base::usage_error(where, fmt::format("template argument {} is {}", name, value),
                                 "MLX takes whole numbers, truth values and types");
      launch.arguments.emplace_back(name, *argument);
    }
    for (const kernel::BoundArg& arg : bound.args) {
      if (std::holds_alternative<kernel::BoundStruct>(arg))
        return base::usage_error(where, "MLX takes no parameter structs");
      if (const auto* number = std::get_if<BoundScalar>(&arg))
        launch.numbers.push_back(number_of(*number));
      else
        KS_RETURN_IF_ERROR(add_tensor(where, std::get<BoundTensor>(arg), launch));
    }
    return launch;
  }

  base::Result<void> add_tensor(const std::string& where, const BoundTensor& tensor,
                                MlxLaunch& launch) {
    if (tensor.tensor.empty())
      return base::usage_error(where, "an input is absent; MLX takes no null pointers",
                               "two launches with when: has(...)");
    if (tensor.offset != 0)
      return base::usage_error(where, tensor.tensor + " has an offset; MLX takes none",
                               "pass the offset as a number");
    if (!tensor.writes) {
      if (std::ranges::find(launch.inputs, tensor.tensor) == launch.inputs.end())
        launch.inputs.push_back(tensor.tensor);
      return {};
    }
    MlxTensor output{tensor.tensor, tensor.dtype, {}};
    std::optional<double> init = tensor.init;
    const auto own = std::ranges::find(plan_.scratch, tensor.tensor, &kernel::BoundScratch::name);
    const auto given = std::ranges::find(tensors_, tensor.tensor, &kernel::TensorShape::name);
    if (own != plan_.scratch.end()) {
      output.shape = {own->elements};
      if (!init) init = own->init;
    } else if (given != tensors_.end() && given->access == kernel::Access::out) {
      output.shape = given->shape;
    } else {
      return base::usage_error(where, tensor.tensor + " is an input; MLX writes none in place");
    }
    const auto start = init ? std::optional(static_cast<float>(*init)) : std::nullopt;
    if (!launch.outputs.empty() && start != launch.init)
      return base::usage_error(where,
                               tensor.tensor + " starts otherwise than the launch's other outputs",
                               "MLX has one init_value for all");
    launch.init = start;
    launch.outputs.push_back(std::move(output));
    return {};
  }

  const kernel::Program& program_;
  const kernel::BoundProgram& plan_;
  const std::vector<kernel::TensorShape>& tensors_;
  MlxWork work_;
  std::map<std::pair<std::string, std::string>, std::size_t> known_;  ///< by name and macros
};

}  // namespace

base::Result<MlxWork> mlx_work_of(const kernel::Program& program, const kernel::BoundProgram& plan,
                                  const std::vector<kernel::TensorShape>& tensors) {
  return Converter(program, plan, tensors).run();
}

}  // namespace ksearch::target
