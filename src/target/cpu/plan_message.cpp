#include "target/cpu/plan_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace ksearch::target {
namespace {
using base::Json;

constexpr double kMostGroups = 0x1p48;

std::string to_hex(const std::byte* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  return text;
}

template <class T>
std::string hex_of(T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return to_hex(bytes, sizeof(T));
}

void put_scalar(const kernel::BoundScalar& scalar, std::byte* at) {
  const auto integer = [&] {
    const auto* i = std::get_if<std::int64_t>(&scalar.value);
    return i ? *i : static_cast<std::int64_t>(std::get<double>(scalar.value));
  };
  const auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  switch (scalar.kind) {
    case kernel::ScalarKind::i32:
      return put(static_cast<std::int32_t>(integer()));
    case kernel::ScalarKind::u32:
      return put(static_cast<std::uint32_t>(integer()));
    case kernel::ScalarKind::i64:
      return put(integer());
    case kernel::ScalarKind::boolean:
      return put(integer() != 0);
    case kernel::ScalarKind::f32: {
      const auto* d = std::get_if<double>(&scalar.value);
      return put(static_cast<float>(d ? *d : static_cast<double>(integer())));
    }
  }
}

std::string scalar_hex(const kernel::BoundScalar& scalar) {
  std::byte bytes[8] = {};
  put_scalar(scalar, bytes);
  return to_hex(bytes, size_bytes(scalar.kind));
}

std::string struct_hex(const kernel::BoundStruct& s) {
  const StructLayout layout = layout_of(s);
  std::vector<std::byte> bytes(layout.bytes);
  for (std::size_t i = 0; i < s.fields.size(); ++i)
    put_scalar(s.fields[i], &bytes[layout.offsets[i]]);
  return to_hex(bytes.data(), bytes.size());
}

/// One element of `type` that holds `value`.
std::string element_hex(kernel::DType type, double value) {
  using kernel::DType;
  switch (type) {
    case DType::float64:
      return hex_of(value);
    case DType::float32:
      return hex_of(static_cast<float>(value));
    case DType::float16:
      return hex_of(kernel::half_from_float(static_cast<float>(value)));
    case DType::bfloat16:
      return hex_of(kernel::bfloat16_from_float(static_cast<float>(value)));
    default:
      break;
  }
  switch (kernel::size_bytes(type)) {
    case 8:
      return hex_of(static_cast<std::int64_t>(value));
    case 4:
      return hex_of(static_cast<std::int32_t>(value));  // wraps for uint32 as C does
    case 2:
      return hex_of(static_cast<std::int16_t>(value));
    default:
      return hex_of(static_cast<std::int8_t>(value));
  }
}

Json fill_json(bool shared, const Buffer& buffer, std::string element) {
  return {{"shared", shared},
          {"offset", buffer.offset},
          {"elements", buffer.bytes / (element.size() / 2)},
          {"element", std::move(element)}};
}

/// Turns one bound plan into JSON.
class Message {
 public:
  Message(const Job& job, const Arena& set, const std::vector<ObjectPlan>& objects, int workers)
      : job_(job), set_(set), objects_(objects), workers_(workers) {}

  std::variant<Preparation, kernel::Verdict> make() {
    lay_out_own();
    Json launches = Json::array();
    for (const kernel::BoundLaunch& launch : job_.plan->launches) {
      auto json = launch_json(launch);
      if (auto* verdict = std::get_if<kernel::Verdict>(&json)) return std::move(*verdict);
      launches.push_back(std::move(std::get<Json>(json)));
    }
    Json fills = Json::array(), poison = Json::array();
    for (const kernel::BoundScratch& s : job_.plan->scratch) {
      const Buffer& buffer = *own_.find(s.name);
      if (s.init) fills.push_back(fill_json(false, buffer, element_hex(s.dtype, *s.init)));
      // All ones are a NaN in every float format.
      else
        poison.push_back(
            fill_json(false, buffer, std::string(2 * kernel::size_bytes(s.dtype), 'f')));
    }
    Json message = {{"op", "prepare"},
                    {"shared", mapping_json(set_, job_.sets)},
                    {"own", mapping_json(own_, 1)},
                    {"stride", set_.bytes()},
                    {"launches", std::move(launches)},
                    {"scratch_fills", std::move(fills)},
                    {"poison", std::move(poison)}};
    return Preparation{std::move(message), std::move(own_)};
  }

 private:
  void lay_out_own() {
    for (const kernel::BoundScratch& s : job_.plan->scratch)
      own_.add(s.name, static_cast<std::size_t>(s.elements) * kernel::size_bytes(s.dtype),
               job_.guard);
    // Launches run one after another, so one block a worker serves all of them, as long as each
    // finds its end at the guard: blocks of different sizes are different buffers.
    for (const kernel::BoundLaunch& launch : job_.plan->launches)
      if (!launch.group_memory.empty() && launch.group_memory[0] > 0 &&
          !own_.find(memory_name(launch, 0)))
        for (int worker = 0; worker < workers_; ++worker)
          own_.add(memory_name(launch, worker), static_cast<std::size_t>(launch.group_memory[0]),
                   job_.guard);
    own_.close();
  }

  static std::string memory_name(const kernel::BoundLaunch& launch, int worker) {
    return fmt::format("group_memory of {} bytes, worker {}", launch.group_memory[0], worker);
  }

  std::variant<Json, kernel::Verdict> launch_json(const kernel::BoundLaunch& launch) const {
    if (launch.args.size() > kMostArguments)
      return kernel::Verdict(kernel::Unsupported{
          fmt::format("{} takes more than {} arguments", launch.kernel, kMostArguments)});
    double groups = 1;
    for (const std::int64_t n : launch.groups) groups *= static_cast<double>(n);
    if (groups > kMostGroups)
      return kernel::Verdict(kernel::LimitExceeded{"groups of a launch", groups, kMostGroups});
    const auto object = std::find_if(objects_.begin(), objects_.end(), [&](const ObjectPlan& o) {
      return o.defines == launch.defines;
    });
    if (object == objects_.end())
      return kernel::Verdict(kernel::Unsupported{"the plan uses defines that were not built"});
    const auto kernel =
        std::find(object->kernels.begin(), object->kernels.end(), signature_of(launch));
    if (kernel == object->kernels.end())
      return kernel::Verdict(kernel::Unsupported{"the plan uses a kernel that was not built"});
    Json json = {{"object", object - objects_.begin()},
                 {"kernel", kernel - object->kernels.begin()},
                 {"groups", launch.groups},
                 {"arguments", Json::array()},
                 {"fills", Json::array()}};
    if (!launch.group_memory.empty() && launch.group_memory[0] > 0) {
      const std::size_t first = own_.find(memory_name(launch, 0))->offset;
      const Buffer* second = own_.find(memory_name(launch, 1));
      json["group_memory"] = {{"offset", first}, {"stride", second ? second->offset - first : 0}};
    }
    for (const kernel::BoundArg& arg : launch.args) add_argument(arg, json);
    return json;
  }

  void add_argument(const kernel::BoundArg& arg, Json& json) const {
    if (const auto* scalar = std::get_if<kernel::BoundScalar>(&arg)) {
      json["arguments"].push_back({{"value", scalar_hex(*scalar)}});
    } else if (const auto* s = std::get_if<kernel::BoundStruct>(&arg)) {
      json["arguments"].push_back({{"value", struct_hex(*s)}});
    } else {
      const auto& tensor = std::get<kernel::BoundTensor>(arg);
      if (tensor.tensor.empty()) {
        json["arguments"].push_back(Json::object());
        return;
      }
      const Buffer* shared = set_.find(tensor.tensor);
      const Buffer* buffer = shared ? shared : own_.find(tensor.tensor);
      KS_CHECK(buffer, "a bound plan names tensors of the task or scratch");
      const std::size_t offset = buffer->offset + static_cast<std::size_t>(tensor.offset) *
                                                      kernel::size_bytes(tensor.dtype);
      json["arguments"].push_back({{shared ? "shared" : "own", offset}});
      if (tensor.init)
        json["fills"].push_back(
            fill_json(shared != nullptr, *buffer, element_hex(tensor.dtype, *tensor.init)));
    }
  }

  const Job& job_;
  const Arena& set_;
  const std::vector<ObjectPlan>& objects_;
  int workers_;
  Arena own_;
};

}  // namespace

Json mapping_json(const Arena& arena, int copies) {
  Json guards = Json::array(), touch = Json::array();
  for (int copy = 0; copy < copies; ++copy) {
    const std::size_t base = arena.bytes() * static_cast<std::size_t>(copy);
    for (const Range& g : arena.guards()) guards.push_back({base + g.offset, g.bytes});
    for (const Buffer& b : arena.buffers()) touch.push_back({base + b.region, b.region_bytes});
  }
  return {{"bytes", arena.bytes() * static_cast<std::size_t>(copies)},
          {"guards", std::move(guards)},
          {"touch", std::move(touch)}};
}

std::variant<Preparation, kernel::Verdict> plan_message(const Job& job, const Arena& set,
                                                        const std::vector<ObjectPlan>& objects,
                                                        int workers) {
  return Message(job, set, objects, workers).make();
}

}  // namespace ksearch::target
