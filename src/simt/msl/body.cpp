#include "simt/msl/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ksearch::simt::msl {
namespace {

constexpr std::int64_t kConstantBelow = 8;  // elements; MLX metal_kernel.cpp
constexpr int kMostBuffers = 31;            // Metal feature tables

/// MLX looks for these in the body as text: in comments and longer names too.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kAttributes{{
    {"dispatch_quadgroups_per_threadgroup", "uint"},
    {"dispatch_simdgroups_per_threadgroup", "uint"},
    {"dispatch_threads_per_threadgroup", "uint3"},
    {"grid_origin", "uint3"},
    {"grid_size", "uint3"},
    {"quadgroup_index_in_threadgroup", "uint"},
    {"quadgroups_per_threadgroup", "uint"},
    {"simdgroup_index_in_threadgroup", "uint"},
    {"simdgroups_per_threadgroup", "uint"},
    {"thread_execution_width", "uint"},
    {"thread_index_in_quadgroup", "uint"},
    {"thread_index_in_simdgroup", "uint"},
    {"thread_index_in_threadgroup", "uint"},
    {"thread_position_in_grid", "uint3"},
    {"thread_position_in_threadgroup", "uint3"},
    {"threadgroup_position_in_grid", "uint3"},
    {"threadgroups_per_grid", "uint3"},
    {"threads_per_grid", "uint3"},
    {"threads_per_simdgroup", "uint"},
    {"threads_per_threadgroup", "uint3"},
}};

const Buffer& buffer_named(const Case& all, std::string_view name) {
  return *std::find_if(all.buffers.begin(), all.buffers.end(),
                       [&](const Buffer& b) { return b.name == name; });
}

std::string_view type_of(kernel::DType type) {
  using kernel::DType;
  switch (type) {
    case DType::float32:
      return "float";
    case DType::float16:
      return "float16_t";
    case DType::bfloat16:
      return "bfloat16_t";
    case DType::int64:
      return "int64_t";
    case DType::int32:
      return "int";
    case DType::int16:
      return "int16_t";
    case DType::int8:
      return "int8_t";
    case DType::uint64:
      return "uint64_t";
    case DType::uint32:
      return "uint32_t";
    case DType::uint16:
      return "uint16_t";
    case DType::uint8:
      return "uint8_t";
    case DType::boolean:
      return "bool";
    default:
      return "";
  }
}

std::string parameter(const Case& all, const BodyArgument& argument) {
  const Buffer& buffer = buffer_named(all, argument.buffer);
  switch (argument.kind) {
    case BodyArgument::Kind::shape:
      return fmt::format("const constant int* {}_shape", buffer.name);
    case BodyArgument::Kind::strides:
      return fmt::format("const constant int64_t* {}_strides", buffer.name);
    case BodyArgument::Kind::ndim:
      return fmt::format("const constant int& {}_ndim", buffer.name);
    case BodyArgument::Kind::input:
      return fmt::format("const {} {}{} {}",
                         buffer.elements() < kConstantBelow ? "constant" : "device",
                         type_of(buffer.dtype), buffer.shape.empty() ? "&" : "*", buffer.name);
    case BodyArgument::Kind::output:
      break;
  }
  return all.body->atomic_outputs
             ? fmt::format("device atomic<{}>* {}", type_of(buffer.dtype), buffer.name)
             : fmt::format("device {}* {}", type_of(buffer.dtype), buffer.name);
}

}  // namespace

std::vector<BodyArgument> body_arguments(const Case& all) {
  using Kind = BodyArgument::Kind;
  std::vector<BodyArgument> arguments;
  const auto named = [&](const std::string& name) {
    return all.source.find(name) != std::string::npos;
  };
  for (const std::string& name : all.body->inputs) {
    arguments.push_back({Kind::input, name});
    if (buffer_named(all, name).shape.empty()) continue;
    if (named(name + "_shape")) arguments.push_back({Kind::shape, name});
    if (named(name + "_strides")) arguments.push_back({Kind::strides, name});
    if (named(name + "_ndim")) arguments.push_back({Kind::ndim, name});
  }
  for (const std::string& name : all.body->outputs) arguments.push_back({Kind::output, name});
  return arguments;
}

std::vector<std::string_view> attribute_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, type] : kAttributes) names.push_back(name);
  return names;
}

base::Result<std::string> source_of_body(const Case& all) {
  const Body& body = *all.body;
  std::string text = fmt::format("{}#include \"{}\"\n",
                                 body.fast_math ? "#define __FAST_MATH__ 1\n" : "", kBodyUtilities);
  if (!body.header.empty()) text += fmt::format("#line 1 \"{}\"\n{}\n", kBodyHeader, body.header);
  std::string parameters, values;
  for (const auto& [name, value] : body.arguments) {
    const bool number = value == "true" || value == "false" ||
                        value.find_first_not_of("-0123456789") == std::string::npos;
    const char* kind = !number ? "typename" : value == "true" || value == "false" ? "bool" : "int";
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", kind, name);
    values += (values.empty() ? "" : ", ") + value;
  }
  if (!parameters.empty()) text += "template <" + parameters + ">\n";
  const std::string function =
      parameters.empty() ? std::string(kBodyKernel) : std::string(kBodyKernel) + "_template";
  text += "[[kernel]] void " + function + "(\n";
  int index = 0;
  std::string separator;
  for (const BodyArgument& argument : body_arguments(all)) {
    if (type_of(buffer_named(all, argument.buffer).dtype).empty())
      return base::usage_error(argument.buffer, "MLX has no such dtype");
    text += fmt::format("{}  {} [[buffer({})]]", separator, parameter(all, argument), index++);
    separator = ",\n";
  }
  if (index > kMostBuffers)
    return base::usage_error("body", fmt::format("it takes {} buffers, Metal has {}; shapes and "
                                                 "strides count too",
                                                 index, kMostBuffers));
  for (const auto& [name, type] : kAttributes)
    if (all.source.find(name) != std::string::npos)
      text += fmt::format("{}  {} {} [[{}]]", separator, type, name, name);
  text += ") {\n#line 1 \"" + all.file + "\"\n" + all.source + "\n}\n";
  if (!parameters.empty())
    text += fmt::format("template [[host_name(\"{0}\")]] [[kernel]] decltype({1}<{2}>) {1}<{2}>;\n",
                        kBodyKernel, function, values);
  return text;
}

base::Result<Case> with_body_buffers(const Case& all) {
  using Kind = BodyArgument::Kind;
  Case whole = all;
  whole.buffers.clear();
  int index = 0;
  for (const BodyArgument& argument : body_arguments(all)) {
    const Buffer& source = buffer_named(all, argument.buffer);
    Buffer buffer = source;
    if (argument.kind == Kind::shape || argument.kind == Kind::strides) {
      const bool strides = argument.kind == Kind::strides;
      buffer = {.name = source.name + (strides ? "_strides" : "_shape"),
                .dtype = strides ? kernel::DType::int64 : kernel::DType::int32,
                .shape = {static_cast<std::int64_t>(source.shape.size())}};
      buffer.init.kind = Init::Kind::ints;
      buffer.init.values.emplace(source.shape.begin(), source.shape.end());
      if (strides && source.strides) {
        buffer.init.values.emplace(source.strides->begin(), source.strides->end());
      } else if (strides) {
        double stride = 1;
        for (std::size_t d = source.shape.size(); d-- > 0;) {
          (*buffer.init.values)[d] = stride;
          stride *= static_cast<double>(source.shape[d]);
        }
      }
    } else if (argument.kind == Kind::ndim) {
      buffer = {.name = source.name + "_ndim", .dtype = kernel::DType::int32, .shape = {1}};
      buffer.init.kind = Init::Kind::constant;
      buffer.init.value = static_cast<double>(source.shape.size());
    }
    buffer.index = index++;
    whole.buffers.push_back(std::move(buffer));
  }
  for (Launch& launch : whole.launches) {
    launch.bind.clear();
    if (!launch.threads) return base::usage_error("grid_threads", "a body's grid is in threads");
    for (std::size_t d = 0; d < 3; ++d) {
      launch.group_size[d] = std::min(launch.group_size[d], (*launch.threads)[d]);
      launch.groups[d] = ((*launch.threads)[d] + launch.group_size[d] - 1) / launch.group_size[d];
    }
    launch.kernel = kBodyKernel;
  }
  return whole;
}

}  // namespace ksearch::simt::msl
