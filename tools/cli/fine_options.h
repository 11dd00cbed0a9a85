// The planner's flags that few need: what cases of the catalogue of upstream bugs turn, and a
// person who wants an executor to behave as one deployment did.
//
// planner_options.cpp declares and applies them with the others.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optimized/cache/disk_cache.h"
#include "optimized/optimized.h"

namespace graphgate::tools {

// As typed; 0 and empty are the executor's defaults.
struct FineFlags {
  std::uint32_t warm_up_runs = 0;
  std::uint32_t plans_kept = 0;
  std::vector<std::string> compile_ranges;  // "1:5": sizes [1, 5)
  std::int64_t size_multiple = 0;
  std::int64_t alignment_bytes = 0;
  std::vector<std::string> unaligned_ops;
  std::vector<std::string> unsafe_unbacked_ops;
  bool skip_dynamic_graphs = false;
  bool recompute = true;
  std::string plan_mutation;  // NAME or NAME:SEED
  // Of the cache.
  std::vector<std::string> cache_environment;  // "NAME=VALUE"
  int cache_rank = 0;
};

// In the group of --help that the planner's flags have.
void add_fine_flags(CLI::App& app, FineFlags& flags, const std::string& group);

// kBadInput for a range or an assignment that is none.
[[nodiscard]] Result<void> choose_fine(const FineFlags& flags, optimized::Options& options);
[[nodiscard]] Result<void> choose_fine(const FineFlags& flags, optimized::KeyContext& context);

}  // namespace graphgate::tools
