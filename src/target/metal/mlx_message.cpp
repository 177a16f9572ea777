#include "target/metal/mlx_message.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace ksearch::target {
namespace {
using base::Json;

constexpr std::pair<MlxOperation, std::string_view> kOperations[] = {
    {MlxOperation::attention, "attention"},
    {MlxOperation::matmul, "matmul"},
    {MlxOperation::rms_norm, "rms_norm"},
    {MlxOperation::softmax, "softmax"}};

/// Of a number the bits: JSON has no infinities.
Json tensor_json(const MlxTensor& tensor) {
  Json json{tensor.name, kernel::name(tensor.dtype), tensor.shape};
  if (tensor.bytes.empty()) return json;
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data(), std::min(tensor.bytes.size(), sizeof(bits)));
  json.push_back(bits);
  return json;
}

MlxTensor parse_tensor(const Json& json) {
  MlxTensor tensor{json.at(0), kernel::parse_dtype(json.at(1).get<std::string>()).value(),
                   json.at(2)};
  if (json.size() < 4) return tensor;
  const auto bits = json.at(3).get<std::uint64_t>();
  tensor.bytes.assign(reinterpret_cast<const char*>(&bits), kernel::size_bytes(tensor.dtype));
  return tensor;
}

Json tensors_json(const std::vector<MlxTensor>& tensors) {
  Json list = Json::array();
  for (const MlxTensor& tensor : tensors) list.push_back(tensor_json(tensor));
  return list;
}

std::vector<MlxTensor> parse_tensors(const Json& json) {
  std::vector<MlxTensor> tensors;
  for (const Json& one : json) tensors.push_back(parse_tensor(one));
  return tensors;
}

/// [name, number], [name, truth value], [name, "float32"].
Json arguments_json(const MlxLaunch& launch) {
  Json list = Json::array();
  for (const auto& [name, value] : launch.arguments) {
    Json argument{name};
    if (const auto* type = std::get_if<kernel::DType>(&value))
      argument.push_back(kernel::name(*type));
    else if (const auto* truth = std::get_if<bool>(&value))
      argument.push_back(*truth);
    else
      argument.push_back(std::get<int>(value));
    list.push_back(std::move(argument));
  }
  return list;
}

MlxLaunch::Argument parse_argument(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return kernel::parse_dtype(json.get<std::string>()).value();
  return json.get<int>();
}

Json launch_json(const MlxLaunch& launch) {
  Json json{{"kernel", launch.kernel},
            {"inputs", launch.inputs},
            {"numbers", tensors_json(launch.numbers)},
            {"outputs", tensors_json(launch.outputs)},
            {"threads", launch.threads},
            {"group_size", launch.group_size},
            {"arguments", arguments_json(launch)}};
  if (launch.init)
    json["init"] = tensor_json({"",
                                kernel::DType::float32,
                                {},
                                {reinterpret_cast<const char*>(&*launch.init), sizeof(float)}});
  return json;
}

MlxLaunch parse_launch(const Json& json) {
  MlxLaunch launch;
  launch.kernel = json.at("kernel");
  launch.inputs = json.at("inputs");
  launch.numbers = parse_tensors(json.at("numbers"));
  launch.outputs = parse_tensors(json.at("outputs"));
  launch.threads = json.at("threads");
  launch.group_size = json.at("group_size");
  for (const Json& argument : json.at("arguments"))
    launch.arguments.emplace_back(argument.at(0), parse_argument(argument.at(1)));
  if (json.contains("init")) {
    float value = 0;
    std::memcpy(&value, parse_tensor(json["init"]).bytes.data(), sizeof(value));
    launch.init = value;
  }
  return launch;
}

}  // namespace

std::string_view name(MlxOperation operation) {
  return std::ranges::find(kOperations, operation,
                           &std::pair<MlxOperation, std::string_view>::first)
      ->second;
}

std::optional<MlxOperation> parse_mlx_operation(std::string_view text) {
  for (const auto& [operation, name] : kOperations)
    if (name == text) return operation;
  return std::nullopt;
}

Json to_json(const MlxWork& work) {
  Json json{{"inputs", tensors_json(work.inputs)},
            {"outputs", work.outputs},
            {"place", work.place == MlxPlace::gpu ? "gpu" : "cpu"},
            {"kernels", Json::array()}};
  for (const MlxKernel& kernel : work.kernels)
    json["kernels"].push_back({{"name", kernel.name},
                               {"source", kernel.source},
                               {"header", kernel.header},
                               {"atomic_outputs", kernel.atomic_outputs},
                               {"fast_math", kernel.fast_math}});
  if (const auto* native = std::get_if<MlxNative>(&work.what)) {
    json["native"] = {
        {"what", name(native->what)}, {"number", native->number}, {"causal", native->causal}};
    return json;
  }
  json["launches"] = Json::array();
  for (const MlxLaunch& launch : std::get<std::vector<MlxLaunch>>(work.what))
    json["launches"].push_back(launch_json(launch));
  return json;
}

MlxWork parse_mlx_work(const Json& json) {
  MlxWork work;
  work.inputs = parse_tensors(json.at("inputs"));
  work.outputs = json.at("outputs");
  work.place = json.at("place") == "gpu" ? MlxPlace::gpu : MlxPlace::cpu;
  for (const Json& kernel : json.at("kernels"))
    work.kernels.push_back({kernel.at("name"), kernel.at("source"), kernel.at("header"),
                            kernel.at("atomic_outputs"), kernel.at("fast_math")});
  if (json.contains("native")) {
    const Json& native = json["native"];
    work.what = MlxNative{parse_mlx_operation(native.at("what").get<std::string>()).value(),
                          native.at("number"), native.at("causal")};
    return work;
  }
  std::vector<MlxLaunch> launches;
  for (const Json& launch : json.at("launches")) launches.push_back(parse_launch(launch));
  work.what = std::move(launches);
  return work;
}

}  // namespace ksearch::target
