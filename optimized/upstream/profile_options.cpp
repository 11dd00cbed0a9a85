#include "optimized/upstream/profile_options.h"

#include <algorithm>
#include <span>

namespace graphgate::optimized {
namespace {

// What one value of one choice does.
struct Setting {
  std::string_view choice;
  std::string_view value;
  void (*set)(CompileOptions& options);
};

constexpr Setting kSettings[] = {
    {"split_graph", "own",
     [](CompileOptions& o) { o.partition.split_generation = SplitGeneration::kOlder; }},
    {"split_graph", "adjacent",
     [](CompileOptions& o) { o.partition.split_generation = SplitGeneration::kAdjacent; }},
    {"split_graph", "adjacent_and_empty",
     [](CompileOptions& o) { o.partition.split_generation = SplitGeneration::kNewer; }},
    {"heavy_ops", "exp,sigmoid", [](CompileOptions& o) { o.compiler.realize.heavy_newer = false; }},
    {"heavy_ops", "exp,log,log10,log1p,log2,sigmoid,tanh",
     [](CompileOptions& o) { o.compiler.realize.heavy_newer = true; }},
    {"realize_cpu", "30",
     [](CompileOptions& o) {
       o.compiler.realize.cpu_opcount_threshold = 30;
       o.compiler.realize.opusers_threshold = 0;
     }},
    {"realize_cpu", "50",
     [](CompileOptions& o) {
       o.compiler.realize.cpu_opcount_threshold = 50;
       o.compiler.realize.opusers_threshold = 0;
     }},
    {"realize_cpu", "50,users",
     [](CompileOptions& o) {
       o.compiler.realize.cpu_opcount_threshold = 50;
       o.compiler.realize.opusers_threshold = 5;
     }},
    {"realize", "reads",
     [](CompileOptions& o) { o.compiler.realize.rule = RealizeRule::kReadCount; }},
    {"realize", "bytes",
     [](CompileOptions& o) { o.compiler.realize.rule = RealizeRule::kByteCost; }},
    {"memory", "pack", [](CompileOptions& o) { o.memory.strategy = MemoryStrategy::kPack; }},
    {"memory", "lines", [](CompileOptions& o) { o.memory.strategy = MemoryStrategy::kLines; }},
    {"memory", "pools", [](CompileOptions& o) { o.memory.strategy = MemoryStrategy::kPools; }},
};

}  // namespace

Result<void> apply_profile(const Profile& profile, Options& options) {
  options.compile.deviations = profile.deviations;
  for (const auto& choice : profile.choices) {
    const auto* found =
        std::find_if(std::begin(kSettings), std::end(kSettings), [&](const Setting& setting) {
          return setting.choice == choice.first && setting.value == choice.second;
        });
    if (found == std::end(kSettings)) {
      std::string line = "profile " + profile.name + ": there is no choice ";
      line.append(choice.first).append(" = ").append(choice.second);
      return bad_input(std::move(line));
    }
    found->set(options.compile);
  }
  return {};
}

}  // namespace graphgate::optimized
