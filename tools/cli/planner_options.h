// The flags of the optimized executor's planner, as check, plan, fuzz, golden check, serve, reduce
// and replay share them.
//
// A profile comes first, overrides change it, deviations by name are added; then every other flag
// decides for itself, over what the profile chose.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimized/optimized.h"
#include "tools/cli/device_options.h"
#include "tools/cli/fine_options.h"

namespace graphgate::tools {

// As typed. What is absent is the profile's choice, or the executor's default.
struct PlannerFlags {
  std::string profile = "fixed";
  std::string overrides;  // "vllm", or a path
  std::vector<std::string> deviations;
  std::vector<std::string> no_deviations;  // of the profile, not to be made

  std::vector<std::string> passes;     // to be run besides
  std::vector<std::string> no_passes;  // not to be run
  std::string partition;
  std::vector<std::string> split_ops;  // besides those that are built in
  std::vector<std::string> cut_after;  // nodes
  std::uint32_t max_partition = 0;
  std::uint32_t min_partition = 0;
  std::string reorder;
  std::string memory;
  std::string memory_pool;
  bool reuse = true;
  bool in_place = true;
  bool outputs_apart = false;
  bool capture = true;
  std::string compiler;
  std::string arithmetic = "strict";
  std::string realize;
  std::uint32_t streams = 1;
  std::uint64_t interleaving_seed = 0;
  std::string mode;
  std::vector<std::int64_t> capture_sizes;
  std::int64_t max_capture_size = 0;
  std::vector<std::int64_t> compile_sizes;
  std::string padded_symbol;
  std::vector<std::string> static_inputs;
  bool weak_outputs = false;
  bool share_pools = false;
  std::string poison;  // a byte, 0xFF
  std::string pad_fill;
  std::string instrument;  // what watches the runs
  bool allow_zero_and_one = false;
  std::string cache;  // a folder
  DeviceFlags device;
  FineFlags fine;
};

// Declares the flags, in a group of their own in --help.
void add_planner_flags(CLI::App& app, PlannerFlags& flags);

// What came of the profile and its overrides, in words, one line each.
struct PlannerChoice {
  optimized::Options options;
  std::vector<std::string> remarks;
};

// kBadInput for a profile, an override file, a deviation, a pass, an op or a combination that there
// is not; kInfrastructure where the device is not there. `ops` outlives the options.
[[nodiscard]] Result<PlannerChoice> choose_planner(const PlannerFlags& flags,
                                                   const spec::OpTable& ops);

// The same of a profile, an override file, deviations and a cache folder alone, before any work:
// ops that other flags name may be those of a case or of a request.
[[nodiscard]] Result<void> check_named(const PlannerFlags& flags);

// kBadInput where flags contradict each other, whatever ops they name. Opens no device, and no
// cache.
[[nodiscard]] Result<void> check_together(PlannerFlags flags);

}  // namespace graphgate::tools
