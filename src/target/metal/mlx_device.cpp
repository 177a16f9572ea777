// Launches become calls of kernels, on arrays, and are evaluated. With mlx_arrays.cpp and
// mlx_dispatch.cpp all that talks to MLX, through its C++ headers; it throws, we do not.
#include "target/metal/mlx_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>

#include "target/metal/mlx_arrays.h"
#include "target/metal/mlx_dispatch.h"

namespace ksearch::target {
namespace {
using kernel::DType;

using Arrays = std::map<std::string, mx::array>;

const mx::array& array_named(const Arrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end())
    throw std::invalid_argument(name + " is neither an input nor written by a launch before");
  return found->second;
}

/// f(), with what MLX throws as an error.
template <class F>
base::Result<void> told(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& error) {
    return base::usage_error("MLX", error.what());
  }
}

class Runner final : public MlxRunner {
 public:
  Runner(MlxWork work, const MlxDispatch& dispatch)
      : work_(std::move(work)),
        dispatch_(dispatch),
        device_(work_.place == MlxPlace::gpu ? mx::Device::gpu : mx::Device::cpu) {}

  base::Result<void> arm(std::span<const MlxSet> sets, std::span<const int> order) override {
    return told([&] {
      calls_.clear();
      std::map<int, Arrays> inputs;
      for (const int set : order)
        if (!inputs.contains(set)) inputs.emplace(set, inputs_of(sets[at(set)]));
      if (!order.empty() && !std::exchange(compiled_, true))
        mx::eval(outputs_of(inputs.at(order.front())));
      if (work_.place == MlxPlace::gpu) leave_in_memory(sets, order);
      std::optional<mx::array> before;
      for (const int set : order) {
        Arrays held = inputs.at(set);
        if (before) hold(held, *before);
        calls_.push_back({&sets[at(set)], inputs.at(set), outputs_of(held)});
        before = ended(calls_.back().outputs);
      }
    });
  }

  base::Result<void> go() override {
    return told([&] {
      std::vector<mx::array> all;
      for (const Call& call : calls_)
        all.insert(all.end(), call.outputs.begin(), call.outputs.end());
      if (!all.empty()) mx::eval(all);  // waits for the stream
    });
  }

  base::Result<void> collect() override {
    return told([&] {
      for (Call& call : calls_) {
        for (std::size_t i = 0; i < call.outputs.size(); ++i)
          copy(plain(call.outputs[i]), work_.outputs[i], *call.set);
        for (const auto& [name, array] : call.inputs) copy(array, name, *call.set);
      }
    });
  }

  MlxTensor output(std::size_t call, std::size_t i) {
    return tensor_of(work_.outputs[i], plain(calls_[call].outputs[i]));
  }

 private:
  struct Call {
    const MlxSet* set;
    Arrays inputs;
    std::vector<mx::array> outputs;
  };

  static std::size_t at(int set) { return static_cast<std::size_t>(set); }

  Arrays inputs_of(const MlxSet& set) const {
    Arrays arrays;
    for (const MlxTensor& input : work_.inputs)
      arrays.insert_or_assign(input.name, array_of(input, set.at(input.name), device_));
    for (auto& [name, array] : arrays) array.eval();
    return arrays;
  }

  /// Lazily: nothing runs before it is evaluated.
  std::vector<mx::array> outputs_of(Arrays arrays) {
    if (const auto* own = std::get_if<MlxNative>(&work_.what)) {
      std::vector<mx::array> in;
      for (const MlxTensor& input : work_.inputs) in.push_back(arrays.at(input.name));
      return {call_native(*own, in, device_)};
    }
    for (const MlxLaunch& launch : std::get<std::vector<MlxLaunch>>(work_.what))
      add_launch(launch, arrays);
    std::vector<mx::array> outputs;
    for (const std::string& name : work_.outputs) outputs.push_back(array_named(arrays, name));
    return outputs;
  }

  void add_launch(const MlxLaunch& launch, Arrays& arrays) {
    std::vector<mx::array> inputs;
    std::vector<std::string> names = launch.inputs, outputs;
    for (const std::string& name : names) inputs.push_back(array_named(arrays, name));
    for (const MlxTensor& number : launch.numbers) {
      names.push_back(number.name);
      inputs.push_back(number_of(number, device_));
    }
    std::vector<mx::Shape> shapes;
    std::vector<mx::Dtype> dtypes;
    for (const MlxTensor& output : launch.outputs) {
      outputs.push_back(output.name);
      shapes.push_back(shape_of(output.shape));
      dtypes.push_back(dtype_of(output.dtype));
    }
    std::vector<std::pair<std::string, mx::fast::TemplateArg>> arguments;
    for (const auto& [name, value] : launch.arguments)
      arguments.emplace_back(name, argument_of(value));
    auto& kernel = kernels_[{launch.kernel, names, outputs}];
    if (!kernel) kernel = dispatch_.make(work_.kernels.at(launch.kernel), names, outputs);
    const std::vector<mx::array> written =
        kernel(inputs, shapes, dtypes, triple(launch.threads), triple(launch.group_size), arguments,
               launch.init, false, device_);
    for (std::size_t i = 0; i < written.size(); ++i)
      arrays.insert_or_assign(launch.outputs[i].name, written[i]);
  }

  /// MLX hands freed memory to the next array of its size: a kernel that leaves elements unwritten
  /// leaves what the sets' outputs hold, not the answer of a call before.
  void leave_in_memory(std::span<const MlxSet> sets, std::span<const int> order) const {
    mx::clear_cache();
    std::vector<mx::array> left;
    for (const int set : order)
      for (const std::string& name : work_.outputs) {
        const std::span<std::byte> bytes = sets[at(set)].at(name);
        if (bytes.empty()) continue;
        left.push_back(array_of({name, DType::uint8, {static_cast<std::int64_t>(bytes.size())}, {}},
                                bytes, device_));
      }
    mx::eval(left);
  }

  /// An array of a kernel that reads one of the outputs. MLX puts a barrier before such a kernel,
  /// and what is encoded after it waits too.
  std::optional<mx::array> ended(const std::vector<mx::array>& outputs) const {
    const mx::array& any = outputs.front();
    if (any.size() == 0) return std::nullopt;
    const mx::array first =
        mx::slice(any, mx::Shape(any.ndim(), 0), mx::Shape(any.ndim(), 1), device_);
    return mx::equal(first, first, device_);
  }

  static void hold(Arrays& arrays, const mx::array& until) {
    std::vector<mx::array> list;
    for (const auto& [name, array] : arrays) list.push_back(array);
    if (list.empty()) return;
    list = mx::depends(list, {until});
    std::size_t i = 0;
    for (auto& [name, array] : arrays) array = list[i++];
  }

  mx::array plain(const mx::array& array) const {
    if (array.flags().row_contiguous) return array;
    mx::array copied = mx::contiguous(array, false, device_);
    copied.eval();
    return copied;
  }

  static void copy(const mx::array& array, const std::string& name, const MlxSet& set) {
    const std::span<std::byte> bytes = set.at(name);
    if (bytes.size() != array.nbytes())
      throw std::invalid_argument(name + " came back with " + std::to_string(array.nbytes()) +
                                  " bytes, " + std::to_string(bytes.size()) + " are meant");
    std::memcpy(bytes.data(), array.data<std::byte>(), bytes.size());
  }

  MlxWork work_;
  const MlxDispatch& dispatch_;
  mx::Device device_;
  bool compiled_ = false;
  std::vector<Call> calls_;
  using Key = std::tuple<std::size_t, std::vector<std::string>, std::vector<std::string>>;
  std::map<Key, mx::fast::CustomKernelFunction> kernels_;
};

}  // namespace

base::Result<std::unique_ptr<MlxRunner>> make_mlx_runner(MlxWork work,
                                                         const MlxDispatch* dispatch) {
  if (work.place == MlxPlace::gpu && !mx::metal::is_available())
    return base::environment_error(
        "MLX " + std::string(mx::version()), "no Metal device",
        "its kernels run on a Mac's GPU; elsewhere the engine runs them (--target metal)");
  return std::make_unique<Runner>(std::move(work), dispatch ? *dispatch : kMetalDispatch);
}

base::Result<MlxAnswer> run_on_mlx(const MlxWork& asked, const MlxTiming& timing) {
  if (timing.copies < 1) return base::usage_error("copies", "one at least");
  MlxWork work = asked;
  MlxSet set;
  for (MlxTensor& input : work.inputs)
    set[input.name] = std::as_writable_bytes(std::span(input.bytes));
  if (std::holds_alternative<MlxNative>(work.what)) work.outputs = {"out"};
  for (const std::string& output : work.outputs) set.try_emplace(output);
  KS_TRY(const auto made, make_mlx_runner(work));
  auto& runner = static_cast<Runner&>(*made);
  const std::vector<int> once{0}, often(static_cast<std::size_t>(timing.copies), 0);
  MlxAnswer answer;
  KS_RETURN_IF_ERROR(runner.arm({&set, 1}, once));
  KS_RETURN_IF_ERROR(runner.go());
  for (std::size_t i = 0; i < work.outputs.size(); ++i)
    answer.outputs.push_back(runner.output(0, i));
  const int runs = timing.samples > 0 ? timing.warm_up + timing.samples : 0;
  for (int i = 0; i < runs; ++i) {
    using Clock = std::chrono::steady_clock;
    KS_RETURN_IF_ERROR(runner.arm({&set, 1}, often));
    const auto start = Clock::now();
    KS_RETURN_IF_ERROR(runner.go());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i >= timing.warm_up) answer.seconds.push_back(seconds / timing.copies);
  }
  return answer;
}

}  // namespace ksearch::target
