#include "simt/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "os/files.h"
#include "simt/case_buffers.h"
#include "simt/headers.h"

namespace ksearch::simt {
namespace {
using base::Json;
using base::ObjectReader;

constexpr std::int64_t kLargestGroupThreads = 4096;

std::array<std::uint32_t, 3> read_triple(ObjectReader& reader, std::string_view key) {
  std::array<std::uint32_t, 3> triple{1, 1, 1};
  const Json& array = reader.array(key);
  if (array.size() > 3) reader.fault(key, "three numbers at most");
  for (std::size_t i = 0; i < array.size() && i < 3; ++i) {
    if (!array[i].is_number_integer() || array[i].get<std::int64_t>() < 1 ||
        array[i].get<std::int64_t>() > std::numeric_limits<std::int32_t>::max())
      reader.fault(key, "whole numbers from 1 on are meant");
    else
      triple[i] = array[i].get<std::uint32_t>();
  }
  return triple;
}

std::optional<int> index_of(const std::string& key) {
  int index = 0;
  const auto end = key.data() + key.size();
  if (std::from_chars(key.data(), end, index).ptr != end || key.empty()) return std::nullopt;
  return index;
}

/// 5, 0.5, true, or "{i32:64,ptr:in}" as on the command line.
Value read_value(const Json& json, ObjectReader& reader) {
  const std::string text = json.is_string() ? json.get<std::string>() : literal(json).value_or("");
  const auto value = parse_value("param=" + text);
  if (value) return *value;
  reader.fault("params", value.error().what, value.error().todo);
  return {};
}

Launch read_launch(const Json& json, const std::string& where, ObjectReader& keeper) {
  ObjectReader reader(json, where);
  Launch launch;
  launch.kernel = reader.text("kernel");
  launch.group_size = read_triple(reader, "group_size");
  if (reader.has("grid_threads")) launch.threads = read_triple(reader, "grid_threads");
  if (reader.has("groups") || !launch.threads) launch.groups = read_triple(reader, "groups");
  const std::uint64_t threads =
      std::uint64_t{launch.group_size[0]} * launch.group_size[1] * launch.group_size[2];
  if (launch.group_size[0] > kLargestGroupThreads || threads > kLargestGroupThreads)
    reader.fault("group_size", fmt::format("at most {} threads are run", kLargestGroupThreads));
  if (const Json* slots = reader.optional_array("group_memory_bytes"))
    for (const Json& slot : *slots) {
      if (slot.is_number_unsigned() && slot.get<std::uint64_t>() <= (1u << 20))
        launch.group_memory.push_back(slot.get<std::uint32_t>());
      else
        reader.fault("group_memory_bytes", "numbers of bytes are meant");
    }
  if (const Json* constants = reader.optional_object("function_constants"))
    for (const auto& [key, value] : constants->items()) {
      const auto index = index_of(key);
      const auto text = literal(value);
      if (index && text)
        launch.constants[*index] = *text;
      else
        reader.fault("function_constants", "a number or true or false for each index is meant");
    }
  if (const Json* values = reader.optional_array("params"))
    for (const Json& value : *values) launch.values.push_back(read_value(value, reader));
  if (const Json* bind = reader.optional_object("bind"))
    for (const auto& [key, value] : bind->items()) {
      const auto index = index_of(key);
      if (index && *index >= 0 && *index <= 30 && value.is_string())
        launch.bind[*index] = value.get<std::string>();
      else
        reader.fault("bind", "a buffer's name for each index is meant");
    }
  keeper.keep(reader);
  return launch;
}

std::string mlx_type(std::string_view dtype) {
  static const std::map<std::string_view, std::string_view> kNames = {
      {"float32", "float"}, {"float16", "half"},    {"bfloat16", "bfloat"}, {"int64", "int64_t"},
      {"int32", "int"},     {"int16", "int16_t"},   {"int8", "int8_t"},     {"uint64", "uint64_t"},
      {"uint32", "uint"},   {"uint16", "uint16_t"}, {"uint8", "uint8_t"},   {"bool", "bool"}};
  const auto found = kNames.find(dtype);
  return found == kNames.end() ? std::string() : std::string(found->second);
}

Body read_body(const Json& json, const std::string& where, ObjectReader& keeper) {
  ObjectReader reader(json, where);
  Body body;
  body.inputs = reader.texts_or_empty("inputs");
  body.outputs = reader.texts_or_empty("outputs");
  body.atomic_outputs = reader.boolean_or("atomic_outputs", false);
  body.header = reader.text_or("header", "");
  const std::string mode = reader.text_or("math_mode", "safe");
  body.fast_math = mode == "fast";
  if (mode != "safe" && mode != "relaxed" && mode != "fast")
    reader.fault("math_mode", "safe, relaxed or fast");
  if (body.outputs.empty()) reader.fault("outputs", "a body has an output at least");
  if (const Json* arguments = reader.optional_object("template"))
    for (const auto& [key, value] : arguments->items()) {
      const std::string type = value.is_string() ? mlx_type(value.get<std::string>()) : "";
      const auto number = value.is_number_float() ? std::nullopt : literal(value);
      if (type.empty() && !number)
        reader.fault("template", fmt::format("\"{}\": a dtype, an integer or a boolean", key));
      else
        body.arguments.emplace_back(key, type.empty() ? *number : type);
    }
  keeper.keep(reader);
  return body;
}

base::Result<void> check_names(const Case& all, std::string_view where) {
  const auto known = [&](const std::string& name) {
    return std::any_of(all.buffers.begin(), all.buffers.end(),
                       [&](const Buffer& b) { return b.name == name; });
  };
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all.buffers[i].name == all.buffers[j].name)
        return base::usage_error(std::string(where),
                                 fmt::format("two buffers are named \"{}\"", all.buffers[i].name));
  for (const Launch& launch : all.launches)
    for (const auto& [index, name] : launch.bind)
      if (!known(name))
        return base::usage_error(std::string(where),
                                 fmt::format("bind names \"{}\", which is no buffer", name));
  if (all.body)
    for (const auto* names : {&all.body->inputs, &all.body->outputs})
      for (const std::string& name : *names)
        if (!known(name))
          return base::usage_error(std::string(where),
                                   fmt::format("body names \"{}\", which is no buffer", name));
  return {};
}

}  // namespace

std::string_view name(Role role) {
  return role == Role::in ? "in" : role == Role::out ? "out" : "inout";
}

std::int64_t Buffer::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) count *= dimension;
  return count;
}

std::size_t Buffer::bytes() const {
  std::int64_t count = elements();
  if (strides && count > 0) {
    count = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) count += (shape[d] - 1) * (*strides)[d];
  }
  return static_cast<std::size_t>(count) * kernel::size_bytes(dtype);
}

std::optional<kernel::DType> dtype_named(std::string_view text) {
  static const std::map<std::string_view, std::string_view> kShort = {
      {"f32", "float32"}, {"f16", "float16"}, {"bf16", "bfloat16"}, {"i64", "int64"},
      {"i32", "int32"},   {"i16", "int16"},   {"i8", "int8"},       {"u64", "uint64"},
      {"u32", "uint32"},  {"u16", "uint16"},  {"u8", "uint8"}};
  const auto short_name = kShort.find(text);
  return kernel::parse_dtype(short_name == kShort.end() ? text : short_name->second);
}

Dialect dialect_of(const std::filesystem::path& file) {
  const std::string ending = file.extension();
  return ending == ".cu" || ending == ".cuh" ? Dialect::cuda : Dialect::metal;
}

base::Result<Case> parse_case(std::string_view text, std::string_view where, std::string source,
                              Dialect dialect) {
  KS_TRY(const Json json, base::parse_json(text, where));
  ObjectReader reader(json, std::string(where));
  Case all;
  all.dialect = dialect;
  all.file = dialect == Dialect::cuda ? "kernel.cu" : "kernel.metal";
  all.source = std::move(source);
  for (const char* key : {"name", "expect", "reference", "tolerance", "fix", "origin"})
    reader.ignore(key);
  const std::string style = reader.text_or("style", "full");
  if (style != "full" && style != "metal_kernel_body")
    reader.fault("style", fmt::format("\"{}\" is unknown", style), "full, metal_kernel_body");
  int position = 0;
  for (const Json& buffer : reader.array("buffers")) {
    all.buffers.push_back(read_buffer(
        buffer, fmt::format("{}[{}]", reader.place("buffers"), position), position, reader));
    ++position;
  }
  int number = 0;
  for (const Json& launch : reader.array("launches"))
    all.launches.push_back(
        read_launch(launch, fmt::format("{}[{}]", reader.place("launches"), number++), reader));
  if (style == "metal_kernel_body")
    all.body = read_body(reader.object("body"), reader.place("body"), reader);
  else
    reader.ignore("body");
  KS_RETURN_IF_ERROR(reader.finish());
  if (all.launches.empty()) return base::usage_error(std::string(where), "there is no launch");
  KS_RETURN_IF_ERROR(check_names(all, where));
  return all;
}

std::optional<std::string> template_argument(std::string_view text) {
  if (std::string type = mlx_type(text); !type.empty()) return type;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool number =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (number || text == "true" || text == "false") return std::string(text);
  return std::nullopt;
}

base::Result<Case> load_case(const std::filesystem::path& path) {
  KS_TRY(const std::string json, os::read_file(path));
  const std::filesystem::path cuda = path.parent_path() / "kernel.cu";
  const bool is_cuda = std::filesystem::exists(cuda);
  KS_TRY(std::string source, os::read_file(is_cuda ? cuda : path.parent_path() / "kernel.metal"));
  KS_TRY(Case all, parse_case(json, path.string(), std::move(source),
                              is_cuda ? Dialect::cuda : Dialect::metal));
  for (Buffer& buffer : all.buffers) {
    if (buffer.init.kind != Init::Kind::file) continue;
    KS_TRY(buffer.init.bytes, os::read_file(path.parent_path() / buffer.init.path));
    buffer.init.kind = Init::Kind::bytes;
  }
  KS_TRY(all.headers, read_headers(path.has_parent_path() ? path.parent_path() : ".", false));
  return all;
}

}  // namespace ksearch::simt
