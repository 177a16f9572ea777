// A buffer as the command line has it: NAME=DTYPE:SHAPE:KIND:A:B.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "simt/case_buffers.h"

namespace ksearch::simt {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find(at);
    parts.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return parts;
    rest.remove_prefix(end + 1);
  }
}

/// struct:i32:4:f32:0.5
base::Result<std::vector<Field>> fields_of(const std::vector<std::string>& parts,
                                           const auto& fault) {
  std::vector<Field> fields;
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    const auto kind = parse_scalar_kind(parts[i]);
    const auto field = kind ? parse_field(*kind, parts[i + 1]) : std::nullopt;
    if (!field) return fault(fmt::format("\"{}:{}\" is no field", parts[i], parts[i + 1]));
    fields.push_back(*field);
  }
  if (parts.size() % 2 == 0 || fields.empty()) return fault("a struct has pairs i32:4, f32:0.5");
  return fields;
}

/// 64x128
std::optional<std::vector<std::int64_t>> shape_of(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (const std::string& one : split(text, 'x')) {
    std::int64_t dimension = 0;
    const auto end = one.data() + one.size();
    if (one.empty() || std::from_chars(one.data(), end, dimension).ptr != end || dimension < 0 ||
        dimension > kLargestDimension)
      return std::nullopt;
    shape.push_back(dimension);
  }
  return shape;
}

void give_numbers(const std::vector<double>& numbers, Init& init) {
  const auto number = [&](std::size_t i, double otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  init.seed = 1;
  init.value = number(0, 0);
  init.start = number(0, 0);
  init.step = number(1, 1);
  init.low = number(0, 0);
  init.high = number(1, 1);
  init.mean = number(0, 0);
  init.deviation = number(1, 1);
  if (init.kind == Init::Kind::ints) init.values = numbers;
}

}  // namespace

base::Result<Buffer> parse_buffer(std::string_view text) {
  const std::string where = fmt::format("--buffer {}", text);
  const auto fault = [&](std::string what) {
    return base::usage_error(where, std::move(what), "NAME=DTYPE:DIM[xDIM][:KIND[:A[:B]]][:inout]");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return fault("there is no NAME=");
  Buffer buffer;
  buffer.name = text.substr(0, equals);
  if (text.substr(equals + 1) == "null") {
    buffer.null = true;
    return buffer;
  }
  std::vector<std::string> parts = split(text.substr(equals + 1), ':');
  if (parts[0] == "struct") {
    KS_TRY(const auto fields, fields_of(parts, fault));
    make_struct(fields, buffer);
    return buffer;
  }
  const auto dtype = dtype_named(parts[0]);
  if (!dtype) return fault(fmt::format("\"{}\" is no dtype", parts[0]));
  buffer.dtype = *dtype;
  if (parts.size() < 2) return fault("there is no shape");
  const auto shape = shape_of(parts[1]);
  if (!shape) return fault(fmt::format("\"{}\" is no shape", parts[1]));
  buffer.shape = *shape;
  if (parts.size() > 3 && parts.back() == "inout") {
    buffer.role = Role::inout;
    parts.pop_back();
  }
  if (parts.size() == 2) {
    buffer.role = Role::out;
    return buffer;
  }
  const auto kind = init_kind(parts[2]);
  if (!kind || kind == Init::Kind::bytes || kind == Init::Kind::file)
    return fault(fmt::format("\"{}\" is no kind of contents", parts[2]));
  buffer.init.kind = *kind;
  std::vector<double> numbers;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    char* end = nullptr;
    numbers.push_back(std::strtod(parts[i].c_str(), &end));
    if (parts[i].empty() || *end) return fault(fmt::format("\"{}\" is no number", parts[i]));
  }
  give_numbers(numbers, buffer.init);
  return buffer;
}

}  // namespace ksearch::simt
