// Where captured partitions run, as every verb is told: --device and --device-memory.
//
// check, plan, fuzz, golden check, serve, reduce and replay have them among the planner's flags
// (planner_options.h); run, gate and bench have them alone. Here they are declared, and here a
// device comes from what was typed.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "conformance/run/executor_source.h"
#include "optimized/runtime/device/device.h"

namespace graphgate::tools {

// As typed.
struct DeviceFlags {
  std::string device = "host";
  std::string memory = "plain";
  [[nodiscard]] bool is_host() const { return device == "host"; }
  // Programs become cubins, which may be kept.
  [[nodiscard]] bool makes_cubins() const { return device == "cuda" || device == "compiled"; }
};

// Declares both, in a group of --help.
void add_device_flags(CLI::App& app, DeviceFlags& flags, const std::string& group = "Options");

// kBadInput for a kind of memory that the host does not have.
[[nodiscard]] Result<void> validate(const DeviceFlags& flags);

// Those that differ from what they are by themselves, as options of the optimized executor.
[[nodiscard]] conformance::Configuration configuration_of(const DeviceFlags& flags);

// The device, null for the host. Cubins are kept in the folder of --cache, unless that is empty.
// kBadInput as above; kInfrastructure where it is not there.
[[nodiscard]] Result<std::shared_ptr<optimized::Device>> make_device(const DeviceFlags& flags,
                                                                     const std::string& cache = {});

}  // namespace graphgate::tools
