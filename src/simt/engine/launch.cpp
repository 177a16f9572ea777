#include "simt/engine/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ksearch::simt {
namespace {
using base::Json;

void pad(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

/// A struct: {"bytes": [...], "align": n} and {"buffer": i}, one after the other.
std::string struct_bytes(const Json& fields, const SharedState& shared) {
  std::string bytes;
  std::size_t widest = 1;
  for (const Json& field : fields) {
    const std::size_t alignment = field.value("align", std::size_t{8});
    widest = std::max(widest, alignment);
    pad(bytes, alignment);
    if (field.contains("buffer")) {
      const void* at =
          shared.device.data() + shared.buffers[field.at("buffer").get<std::size_t>()].offset;
      bytes.append(reinterpret_cast<const char*>(&at), sizeof(at));
      continue;
    }
    for (const Json& byte : field.at("bytes")) bytes += static_cast<char>(byte.get<int>());
  }
  pad(bytes, widest);
  return bytes;
}

}  // namespace

void read_values(const Json& launch, const SharedState& shared, GroupPlan& plan) {
  for (const Json& value : launch.at("values")) {
    ks::Value one{};
    if (value.contains("integer")) {
      one.is_integer = true;
      one.integer = value.at("integer").get<std::int64_t>();
    } else if (value.contains("number")) {
      one.number = value.at("number");
    } else {
      plan.value_bytes.push_back(
          std::make_shared<std::string>(struct_bytes(value.at("fields"), shared)));
      one.bytes = plan.value_bytes.back()->data();
      one.size = plan.value_bytes.back()->size();
    }
    plan.values.push_back(one);
  }
}

base::Result<void> fit_cuda(const Json& launch, GroupPlan& plan) {
  const std::string kernel = plan.kernel->name;
  std::size_t pointers = 0, numbers = 0, bound = 0;
  for (int i = 0; i < plan.kernel->count; ++i)
    ++(plan.kernel->parameters[i].kind == ks::ArgumentKind::buffer ? pointers : numbers);
  for (const Json& one : launch.at("bind"))
    bound = std::max(bound, one.at(0).get<std::size_t>() + 1);
  if (bound != pointers || numbers != plan.values.size())
    return base::usage_error(
        kernel,
        fmt::format("it takes {} pointers and {} values; {} buffers and {} values are given",
                    pointers, numbers, bound, plan.values.size()),
        "one --buffer for each pointer and one --param for each value, in the order of the "
        "parameters");
  for (int i = 0; i < plan.kernel->count; ++i) {
    const ks::Parameter& parameter = plan.kernel->parameters[i];
    if (parameter.kind == ks::ArgumentKind::buffer) continue;
    const ks::Value& value = plan.values[static_cast<std::size_t>(parameter.index)];
    const auto fault = [&](std::string what) {
      return base::usage_error(kernel, fmt::format("parameter {}: {}", i + 1, what));
    };
    if (value.size == 0 && !parameter.is_number)
      return fault(fmt::format("it is a struct of {} bytes, a number is given", parameter.bytes));
    if (value.size != 0 && value.size != parameter.bytes)
      return fault(fmt::format("it has {} bytes, {} are given", parameter.bytes, value.size));
  }
  if (plan.group_memory.empty()) plan.group_memory.push_back(0);
  return {};
}

base::Result<std::vector<PlacedBuffer>> place_symbols(const ks::Attachment& object,
                                                      const Json& buffers, SharedState& shared) {
  std::vector<PlacedBuffer> placed;
  std::size_t next = shared.device.size() - kSymbolRoom;
  for (int i = 0; i < object.symbol_count; ++i) {
    const ks::Symbol& symbol = object.symbols[i];
    std::size_t given = buffers.size();
    for (std::size_t k = 0; k < buffers.size(); ++k)
      if (buffers[k].value("symbol", false) && shared.buffers[k].name == symbol.name) given = k;
    if (given < buffers.size()) {
      if (shared.buffers[given].bytes != symbol.bytes)
        return base::usage_error(
            symbol.name,
            fmt::format("it has {} bytes, {} are given", symbol.bytes, shared.buffers[given].bytes),
            "give --symbol its dtype and length in the source");
      *symbol.at = shared.device.data() + shared.buffers[given].offset;
      continue;
    }
    // Pages of its own: what lies between two belongs to nobody.
    next = (next / Cells::kPage + 1) * Cells::kPage;
    const std::size_t end = next + symbol.bytes + Cells::kPage;
    if (end > shared.device.size())
      return base::usage_error(
          symbol.name,
          fmt::format("variables of device memory take over {} MiB", kSymbolRoom >> 20));
    std::memcpy(shared.device.data() + next, symbol.initial, symbol.bytes);
    *symbol.at = shared.device.data() + next;
    placed.push_back(
        {.name = symbol.name, .role = Role::inout, .offset = next, .bytes = symbol.bytes});
    shared.add(placed.back());
    next = end;
  }
  return placed;
}

}  // namespace ksearch::simt
