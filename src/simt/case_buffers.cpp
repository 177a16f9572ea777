#include "simt/case_buffers.h"

#include <fmt/format.h>

#include <charconv>

namespace ksearch::simt {
namespace {
using base::Json;
using base::ObjectReader;

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    const auto end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

void read_parameters(const Json& json, const std::string& where, Init& init, ObjectReader& keeper) {
  ObjectReader reader(json, where);
  switch (init.kind) {
    case Init::Kind::constant:
      init.value = reader.number("value");
      break;
    case Init::Kind::iota:
      init.start = reader.number_or("start", 0);
      init.step = reader.number_or("step", 1);
      init.modulo = reader.integer_or("mod", 0);
      break;
    case Init::Kind::ints:
      if (const Json* values = reader.optional_array("values")) {
        init.values.emplace();
        for (const Json& value : *values)
          if (value.is_number() || value.is_boolean())
            init.values->push_back(value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0)
                                                      : value.get<double>());
          else
            reader.fault("values", "numbers are meant");
        break;
      }
      [[fallthrough]];
    case Init::Kind::uniform:
      init.low = reader.number("lo");
      init.high = reader.number("hi");
      break;
    case Init::Kind::normal:
      init.mean = reader.number_or("mean", 0);
      init.deviation = reader.number_or("std", 1);
      break;
    case Init::Kind::bytes:
      if (auto bytes = from_hex(reader.text("hex")))
        init.bytes = std::move(*bytes);
      else
        reader.fault("hex", "pairs of hexadecimal digits are meant");
      break;
    case Init::Kind::file:
      init.path = reader.text("path");
      break;
    case Init::Kind::none:
      break;
  }
  keeper.keep(reader);
}

Init read_init(const Json& json, const std::string& where, ObjectReader& keeper) {
  static const Json kEmpty = Json::object();
  ObjectReader reader(json, where);
  Init init;
  const std::string kind = reader.text("kind");
  if (const auto known = init_kind(kind))
    init.kind = *known;
  else
    reader.fault("kind", fmt::format("\"{}\" is unknown", kind),
                 "const, iota, ints, uniform, normal, bytes, file");
  init.seed = static_cast<std::uint64_t>(reader.integer_or("seed", 0));
  const Json* parameters = reader.optional_object("params");
  read_parameters(parameters ? *parameters : kEmpty, reader.place("params"), init, reader);
  keeper.keep(reader);
  return init;
}

/// "struct": [{"i32": 4}, {"f32": 0.5}]
void read_struct(ObjectReader& reader, Buffer& buffer) {
  std::vector<Field> fields;
  for (const Json& entry : reader.array("struct")) {
    const auto kind = entry.is_object() && entry.size() == 1
                          ? parse_scalar_kind(entry.begin().key())
                          : std::nullopt;
    const auto text = kind ? literal(entry.begin().value()) : std::nullopt;
    const auto field = text ? parse_field(*kind, *text) : std::nullopt;
    if (!field)
      reader.fault("struct", "fields are meant: {\"i32\": 4}, {\"f32\": 0.5}, u32, i64, bool");
    else
      fields.push_back(*field);
  }
  if (fields.empty()) reader.fault("struct", "a struct has a field at least");
  make_struct(fields, buffer);
}

std::vector<std::int64_t> read_sizes(ObjectReader& reader, std::string_view key) {
  std::vector<std::int64_t> sizes;
  for (const Json& size : reader.array(key)) {
    if (!size.is_number_integer() || size.get<std::int64_t>() < 0 ||
        size.get<std::int64_t>() > kLargestDimension)
      reader.fault(key, "whole numbers are meant");
    else
      sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

}  // namespace

std::optional<Init::Kind> init_kind(const std::string& text) {
  static const std::map<std::string, Init::Kind, std::less<>> kKinds = {
      {"const", Init::Kind::constant}, {"iota", Init::Kind::iota},
      {"ints", Init::Kind::ints},      {"uniform", Init::Kind::uniform},
      {"normal", Init::Kind::normal},  {"bytes", Init::Kind::bytes},
      {"file", Init::Kind::file}};
  const auto found = kKinds.find(text);
  return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> literal(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{:.17g}", value.get<double>());
  return std::nullopt;
}

void make_struct(const std::vector<Field>& fields, Buffer& buffer) {
  buffer.dtype = kernel::DType::uint8;
  buffer.init.kind = Init::Kind::bytes;
  buffer.init.bytes = struct_bytes(fields);
  buffer.shape = {static_cast<std::int64_t>(buffer.init.bytes.size())};
}

Buffer read_buffer(const Json& json, const std::string& where, int position, ObjectReader& keeper) {
  ObjectReader reader(json, where);
  Buffer buffer;
  buffer.name = reader.text("name");
  // --dump makes a file of this name.
  if (buffer.name.find('/') != std::string::npos || buffer.name.find('\0') != std::string::npos)
    reader.fault("name", "a name without / is meant");
  const std::int64_t index = reader.integer_or("index", position);
  if (index < 0 || index > 30) reader.fault("index", "Metal has indices 0 to 30");
  buffer.index = static_cast<int>(index);
  if (reader.has("struct")) {
    read_struct(reader, buffer);
    keeper.keep(reader);
    return buffer;
  }
  const std::string dtype = reader.text("dtype");
  if (const auto parsed = kernel::parse_dtype(dtype))
    buffer.dtype = *parsed;
  else
    reader.fault("dtype", fmt::format("\"{}\" is unknown", dtype), "float32, int32, ...");
  buffer.shape = read_sizes(reader, "shape");
  if (reader.has("strides")) {
    buffer.strides = read_sizes(reader, "strides");
    if (buffer.strides->size() != buffer.shape.size())
      reader.fault("strides", "one for each dimension is meant");
  }
  buffer.symbol = reader.boolean_or("symbol", false);
  const std::string role = reader.text_or("role", "in");
  buffer.role = role == "out" ? Role::out : role == "inout" ? Role::inout : Role::in;
  if (role != name(buffer.role)) reader.fault("role", "in, out or inout");
  if (const Json* init = reader.optional_object("init"))
    buffer.init = read_init(*init, reader.place("init"), reader);
  else if (buffer.role != Role::out)
    reader.fault("init", "an input has start contents");
  keeper.keep(reader);
  return buffer;
}

}  // namespace ksearch::simt
