// The measured Metal target: programs of dialect mlx run by MLX on this machine's GPU, in a process
// of their own. That process is not confined: of a program there is Metal source in it, which
// Apple's compiler takes and the GPU runs, and nothing that the CPU runs.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "base/random.h"
#include "target/metal/mlx_device.h"
#include "target/target.h"

namespace ksearch::target {

struct MlxTargetOptions {
  kernel::HardwareProfile device;   ///< of kind "metal"
  std::vector<std::string> worker;  ///< command: {ksearch_mlx_worker, "serve"}
  MlxPlace place = MlxPlace::gpu;   ///< cpu, in tests: MLX's own operations run there too
  std::uint64_t seed = 0;
};

/// What the program that is linked with MLX says of it; no error where there is no such program.
MlxState ask_mlx(const std::filesystem::path& worker);
/// ksearch_mlx_worker, beside the program that is running.
std::filesystem::path mlx_worker();

/// Builds nothing: MLX compiles a kernel before its first call, and says then that it cannot.
class MlxTarget final : public Target {
 public:
  explicit MlxTarget(MlxTargetOptions options);

  std::string_view name() const override { return "metal"; }
  const kernel::HardwareProfile& device() const override { return options_.device; }
  std::optional<kernel::Verdict> check(const kernel::Program& program) override;
  std::variant<Executable, kernel::Verdict, kernel::Lost> build(
      const BuildRequest& request) override;
  base::Result<std::unique_ptr<Worker>> start(const Executable& executable,
                                              const Trust* trust = nullptr) override;

  /// MLX's own operation on a workload.
  using NativeOf = std::function<base::Result<MlxNative>(const kernel::Workload&)>;
  /// A worker whose jobs have no plan. `inputs`: names in the operation's order.
  base::Result<std::unique_ptr<Worker>> start_native(NativeOf native,
                                                     std::vector<std::string> inputs);

 private:
  using WorkOf = std::function<base::Result<MlxWork>(const Job&)>;
  base::Result<std::unique_ptr<Worker>> start(WorkOf work);

  MlxTargetOptions options_;
  base::Random seeds_;
  std::map<std::string, std::shared_ptr<const kernel::Program>> built_;
};

}  // namespace ksearch::target
