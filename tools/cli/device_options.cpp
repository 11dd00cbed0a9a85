#include "tools/cli/device_options.h"

#include <filesystem>

#include "optimized/runtime/cuda/compiling_device.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/emulated/emulated_device.h"

namespace graphgate::tools {

void add_device_flags(CLI::App& app, DeviceFlags& flags, const std::string& group) {
  app.add_option("--device", flags.device,
                 "where captured partitions run: the host, a GPU, or a GPU's kernels on the "
                 "processor, thread by thread; compiled: they run on the host, and their kernels "
                 "become cubins for a GPU (docs/gpu.md)")
      ->check(CLI::IsMember({"host", "cuda", "emulated", "compiled"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--device-memory", flags.memory,
                 "guarded: what a device touches behind an arena faults, and so do writes to "
                 "weights; guarded-front: before an arena")
      ->check(CLI::IsMember({"plain", "guarded", "guarded-front"}))
      ->capture_default_str()
      ->group(group);
}

Result<void> validate(const DeviceFlags& flags) {
  const bool has_memory = flags.device == "cuda" || flags.device == "emulated";
  if (has_memory || flags.memory == "plain") return {};
  return bad_input("--device-memory " + flags.memory + " goes with --device cuda or emulated");
}

conformance::Configuration configuration_of(const DeviceFlags& flags) {
  const DeviceFlags usual;
  conformance::Configuration out;
  if (flags.device != usual.device) out["device"] = flags.device;
  if (flags.memory != usual.memory) out["device-memory"] = flags.memory;
  return out;
}

Result<std::shared_ptr<optimized::Device>> make_device(const DeviceFlags& flags,
                                                       const std::string& cache) {
  using Mode = optimized::DeviceMemoryMode;
  GRAPHGATE_TRY_VOID(validate(flags));
  Mode mode = Mode::kPlain;
  if (flags.memory == "guarded") mode = Mode::kGuarded;
  if (flags.memory == "guarded-front") mode = Mode::kGuardedFront;
  const auto cubins =
      cache.empty() ? std::filesystem::path() : std::filesystem::path(cache) / "cubins";
  if (flags.device == "cuda") return optimized::cuda::make_cuda_device(mode, cubins);
  if (flags.device == "compiled") return optimized::cuda::make_compiling_device("sm_90a", cubins);
  if (flags.device == "emulated") return optimized::emulated::make_emulated_device(mode);
  return std::shared_ptr<optimized::Device>();
}

}  // namespace graphgate::tools
