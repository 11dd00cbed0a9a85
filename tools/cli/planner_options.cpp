#include "tools/cli/planner_options.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/temporary_folder.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/upstream/overrides.h"
#include "optimized/upstream/profile_options.h"
#include "tools/cli/option_types.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

constexpr const char* kGroup = "Planner of the optimized executor";

void add_upstream_flags(CLI::App& app, PlannerFlags& flags) {
  app.add_option("--profile", flags.profile,
                 "decide as an upstream version did: torch-2.9.0, or with vLLM's axis "
                 "torch-2.9.1,vllm-0.11.1 (docs/profiles.md); fixed: nothing known to be wrong")
      ->type_name(takes::kName)
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--overrides", flags.overrides,
                 "workarounds over the profile: vllm, or a JSON file")
      ->type_name(takes::kOverridesFile)
      ->group(kGroup);
  app.add_option("--deviation", flags.deviations,
                 "one wrong decision more, by name (docs/deviations.md; repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--no-deviation", flags.no_deviations,
                 "one wrong decision of the profile less, by name (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
}

void add_stage_flags(CLI::App& app, PlannerFlags& flags) {
  app.add_option("--pass", flags.passes, "run this pass too (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--no-pass", flags.no_passes, "do not run this pass (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--compiler", flags.compiler, "of partitions")
      ->check(CLI::IsMember({"fused", "eager", "standalone"}))
      ->group(kGroup);
  app.add_option("--arithmetic", flags.arithmetic,
                 "strict: the same bits everywhere; fast: a GPU takes tensor cores")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->group(kGroup);
  app.add_option("--realize", flags.realize, "what decides which shared values are stored")
      ->check(CLI::IsMember({"reads", "bytes"}))
      ->group(kGroup);
  app.add_option("--partition", flags.partition, "how partitions are cut")
      ->check(CLI::IsMember({"scheduler", "split-graph", "split-graph-older"}))
      ->group(kGroup);
  app.add_option("--split-op", flags.split_ops,
                 "an op that is never captured, ns.name or ns.name.overload (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--cut-after", flags.cut_after,
                 "a node behind which a partition ends, by name (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--max-partition", flags.max_partition, "at most so many nodes in a partition")
      ->group(kGroup);
  app.add_option("--min-partition", flags.min_partition,
                 "do not capture partitions with fewer launches")
      ->group(kGroup);
  app.add_option("--reorder", flags.reorder, "move nodes so that fewer partitions come out")
      ->check(CLI::IsMember({"none", "simple", "minimize"}))
      ->group(kGroup);
  app.add_option("--streams", flags.streams, "run captured partitions on so many streams")
      ->group(kGroup);
  app.add_option("--interleaving", flags.interleaving_seed,
                 "seed of the order in which streams take turns; 0: program order")
      ->group(kGroup);
}

void add_memory_flags(CLI::App& app, PlannerFlags& flags) {
  app.add_option("--memory", flags.memory, "how places are found")
      ->check(CLI::IsMember({"pack", "lines", "pools"}))
      ->group(kGroup);
  app.add_option("--memory-pool", flags.memory_pool, "who shares a pool, with --memory pools")
      ->check(CLI::IsMember({"none", "intermediates", "outputs", "combined"}))
      ->group(kGroup);
  app.add_flag("!--no-reuse", flags.reuse, "give every buffer bytes of its own")->group(kGroup);
  app.add_flag("!--no-in-place", flags.in_place, "never write a result over an operand")
      ->group(kGroup);
  app.add_flag("--outputs-apart", flags.outputs_apart, "keep outputs in a pool of their own")
      ->group(kGroup);
}

void add_runtime_flags(CLI::App& app, PlannerFlags& flags) {
  app.add_flag("!--no-capture", flags.capture, "capture no partition")->group(kGroup);
  app.add_option("--mode", flags.mode, "which graphs are captured, as vLLM's CUDAGraphMode")
      ->check(
          CLI::IsMember({"none", "piecewise", "full", "full_decode_only", "full_and_piecewise"}))
      ->group(kGroup);
  app.add_option("--capture-sizes", flags.capture_sizes,
                 "sizes to capture, 1,2,4; calls are padded to the next larger one where that is "
                 "legal")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--max-capture-size", flags.max_capture_size,
                 "capture vLLM's default sizes up to this one, or bound those of --capture-sizes")
      ->group(kGroup);
  app.add_option("--compile-sizes", flags.compile_sizes, "sizes with a plan of their own, 8,16")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--pad", flags.padded_symbol,
                 "the symbol that is padded (default: the leading one of the first input)")
      ->type_name(takes::kName)
      ->group(kGroup);
  app.add_option("--static-input", flags.static_inputs,
                 "an input, by name or place, that keeps its address (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_flag("--weak-outputs", flags.weak_outputs, "hand outputs out where they lie")
      ->group(kGroup);
  app.add_flag("--share-pools", flags.share_pools, "one arena for all programs and sizes")
      ->group(kGroup);
  app.add_option("--poison", flags.poison,
                 "fill arenas with this byte, 0x00 to 0xff, before every run")
      ->type_name("BYTE")
      ->group(kGroup);
  app.add_option("--pad-fill", flags.pad_fill, "what rows behind the true size hold")
      ->check(CLI::IsMember({"keep", "nan", "huge"}))
      ->group(kGroup);
  app.add_option("--instrument", flags.instrument,
                 "what watches the runs: shadow memory, or where every value comes from")
      ->check(CLI::IsMember({"none", "shadow", "provenance"}))
      ->group(kGroup);
  app.add_option("--cache", flags.cache, "keep plans in this folder, and programs of a GPU")
      ->type_name(takes::kOutputFolder)
      ->group(kGroup);
  add_device_flags(app, flags.device, kGroup);
}

Result<void> choose_upstream(const PlannerFlags& flags, PlannerChoice& choice) {
  GRAPHGATE_TRY(optimized::Profile profile, optimized::resolve_profile(flags.profile));
  if (!flags.overrides.empty()) {
    std::vector<optimized::Override> overrides = optimized::vllm_overrides();
    if (flags.overrides != "vllm") {
      GRAPHGATE_TRY(const std::string text, read_text(flags.overrides));
      GRAPHGATE_TRY(overrides, optimized::read_overrides(text, flags.overrides));
    }
    for (auto& report : optimized::apply_overrides(overrides, profile)) {
      choice.remarks.push_back("override " + report.sentence);
    }
  }
  for (const std::string& name : flags.no_deviations) {
    const auto deviation = spec::find_deviation(name);
    if (!deviation || !profile.deviations.has(*deviation)) {
      return bad_input("--no-deviation: the profile has none called '" + name + "'");
    }
    profile.deviations.remove(*deviation);
  }
  for (const std::string& name : flags.deviations) {
    const auto deviation = spec::find_deviation(name);
    if (!deviation) {
      return bad_input("--deviation: none is called '" + name + "' (see docs/deviations.md)");
    }
    profile.deviations.add(*deviation);
  }
  return optimized::apply_profile(profile, choice.options);
}

// The words of flags, checked by CLI11 already.
template <class T>
void choose(std::string_view word,
            std::initializer_list<std::pair<std::string_view, std::type_identity_t<T>>> meanings,
            T& choice) {
  for (const auto& [name, meaning] : meanings) {
    if (name == word) choice = meaning;
  }
}

void choose_partition(const PlannerFlags& flags, optimized::CompileOptions& options) {
  using optimized::PartitionMode;
  using optimized::SplitGeneration;
  choose(flags.partition,
         {{"scheduler", PartitionMode::kScheduler},
          {"split-graph", PartitionMode::kSplitGraph},
          {"split-graph-older", PartitionMode::kSplitGraph}},
         options.partition.mode);
  choose(flags.partition,
         {{"split-graph", SplitGeneration::kNewer}, {"split-graph-older", SplitGeneration::kOlder}},
         options.partition.split_generation);
  choose(flags.reorder,
         {{"none", optimized::Reorder::kNone},
          {"simple", optimized::Reorder::kSimple},
          {"minimize", optimized::Reorder::kMinimize}},
         options.reorder.reorder);
  auto& split_ops = options.partition.split_ops;
  split_ops.insert(split_ops.end(), flags.split_ops.begin(), flags.split_ops.end());
  options.partition.cut_after = flags.cut_after;
  options.partition.max_nodes = flags.max_partition;
  options.partition.min_partition_size = flags.min_partition;
  options.partition.capture = flags.capture;
}

void choose_memory(const PlannerFlags& flags, optimized::MemoryOptions& options) {
  using optimized::MemoryStrategy;
  using optimized::PoolRule;
  choose(flags.memory,
         {{"pack", MemoryStrategy::kPack},
          {"lines", MemoryStrategy::kLines},
          {"pools", MemoryStrategy::kPools}},
         options.strategy);
  choose(flags.memory_pool,
         {{"none", PoolRule::kNone},
          {"intermediates", PoolRule::kIntermediates},
          {"outputs", PoolRule::kOutputs},
          {"combined", PoolRule::kCombined}},
         options.pool_rule);
  options.reuse = flags.reuse;
  options.in_place = flags.in_place;
  options.outputs_apart = flags.outputs_apart;
}

Result<std::byte> read_byte(const std::string& text) {
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  const char* const end = text.data() + text.size();
  unsigned value = 0;
  const auto [stop, code] =
      std::from_chars(text.data() + (has_prefix ? 2 : 0), end, value, has_prefix ? 16 : 10);
  if (code == std::errc() && stop == end && value <= 0xFF) return static_cast<std::byte>(value);
  return bad_input("--poison: expected a byte, 0x00 to 0xff, found '" + text + "'");
}

Result<void> choose_runtime(const PlannerFlags& flags, optimized::RuntimeOptions& options) {
  if (!flags.poison.empty()) {
    GRAPHGATE_TRY(options.poison, read_byte(flags.poison));
  }
  choose(flags.pad_fill,
         {{"keep", optimized::PadFill::kKeep},
          {"nan", optimized::PadFill::kNan},
          {"huge", optimized::PadFill::kHuge}},
         options.pad_fill);
  choose(flags.instrument,
         {{"none", optimized::InstrumentKind::kNone},
          {"shadow", optimized::InstrumentKind::kShadow},
          {"provenance", optimized::InstrumentKind::kProvenance}},
         options.instrument);
  if (!flags.mode.empty()) options.mode = *optimized::parse_graph_mode(flags.mode);
  options.capture_sizes = flags.capture_sizes;
  if (options.capture_sizes.empty() && flags.max_capture_size > 0) {
    options.capture_sizes = optimized::default_capture_sizes(flags.max_capture_size);
  }
  options.max_capture_size = flags.max_capture_size;
  options.compile_sizes = flags.compile_sizes;
  options.padded_symbol = flags.padded_symbol;
  options.static_inputs = flags.static_inputs;
  options.weak_outputs = flags.weak_outputs;
  options.share_pools = flags.share_pools;
  return optimized::validate(options);
}

// Before any work: a folder that cannot be made was not meant. One that cannot be written serves
// what it has.
Result<void> make_cache_folder(const std::string& folder, std::vector<std::string>& remarks) {
  if (folder == conformance::kTemporaryCache) return {};  // made for each run
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return infrastructure("--cache " + folder + ": cannot be made: " + error.message());
  if (::access(folder.c_str(), W_OK) != 0) {
    remarks.push_back("--cache " + folder + ": cannot be written: " + std::strerror(errno) +
                      "; plans are not kept");
  }
  return {};
}

Result<void> check_combination(const PlannerFlags& flags) {
  if (!flags.memory_pool.empty() && flags.memory != "pools") {
    return bad_input("--memory-pool goes with --memory pools");
  }
  if (!flags.capture && !flags.mode.empty() && flags.mode != "none") {
    return bad_input("--no-capture and --mode " + flags.mode + " contradict each other");
  }
  if (!flags.capture && !(flags.capture_sizes.empty() && flags.max_capture_size == 0)) {
    return bad_input("--no-capture and capture sizes contradict each other");
  }
  return validate(flags.device);
}

}  // namespace

void add_planner_flags(CLI::App& app, PlannerFlags& flags) {
  add_upstream_flags(app, flags);
  add_stage_flags(app, flags);
  add_memory_flags(app, flags);
  add_runtime_flags(app, flags);
  app.add_flag("--allow-zero-and-one", flags.allow_zero_and_one,
               "accept sizes 0 and 1 where a range starts at 2");
  add_fine_flags(app, flags.fine, kGroup);
}

Result<PlannerChoice> choose_planner(const PlannerFlags& flags, const spec::OpTable& ops) {
  GRAPHGATE_TRY_VOID(check_combination(flags));
  PlannerChoice choice;
  optimized::CompileOptions& compile = choice.options.compile;
  compile.ops = &ops;
  choice.options.allow_zero_and_one = flags.allow_zero_and_one;
  choice.options.interleaving_seed = flags.interleaving_seed;
  GRAPHGATE_TRY_VOID(choose_upstream(flags, choice));
  compile.passes.enabled = flags.passes;
  compile.passes.disabled = flags.no_passes;
  if (!flags.compiler.empty()) compile.compiler.name = flags.compiler;
  choose(
      flags.realize,
      {{"reads", optimized::RealizeRule::kReadCount}, {"bytes", optimized::RealizeRule::kByteCost}},
      compile.compiler.realize.rule);
  choose_partition(flags, compile);
  choose_memory(flags, compile.memory);
  compile.streams.count = flags.streams;
  if (flags.arithmetic == "fast") compile.arithmetic = optimized::Arithmetic::kFast;
  GRAPHGATE_TRY_VOID(choose_fine(flags.fine, choice.options));
  GRAPHGATE_TRY_VOID(choose_runtime(flags, choice.options.runtime));
  GRAPHGATE_TRY_VOID(optimized::validate_options(compile.partition, ops));
  GRAPHGATE_TRY_VOID(optimized::validate_options(compile.memory, ops));
  GRAPHGATE_TRY_VOID(optimized::validate_options(compile.reorder, compile.partition));
  GRAPHGATE_TRY_VOID(optimized::validate(compile.streams));
  GRAPHGATE_TRY_VOID(optimized::PassManager::make(compile.passes));
  GRAPHGATE_TRY(choice.options.device, make_device(flags.device, flags.cache));
  if (!flags.cache.empty()) {
    GRAPHGATE_TRY_VOID(make_cache_folder(flags.cache, choice.remarks));
    optimized::DiskCacheOptions cache;
    cache.root = flags.cache;
    cache.context.profile = flags.profile;
    GRAPHGATE_TRY_VOID(choose_fine(flags.fine, cache.context));
    choice.options.plan_store = optimized::make_disk_store(std::move(cache));
  }
  return choice;
}

Result<void> check_named(const PlannerFlags& flags) {
  PlannerFlags named;
  named.profile = flags.profile;
  named.overrides = flags.overrides;
  named.deviations = flags.deviations;
  named.cache = flags.cache;
  GRAPHGATE_TRY_VOID(choose_planner(named, spec::builtin_op_table()));
  return {};
}

Result<void> check_together(PlannerFlags flags) {
  GRAPHGATE_TRY_VOID(validate(flags.device));
  flags.split_ops.clear();
  flags.fine.unaligned_ops.clear();
  flags.fine.unsafe_unbacked_ops.clear();
  flags.device = {};
  flags.cache.clear();
  GRAPHGATE_TRY_VOID(choose_planner(flags, spec::builtin_op_table()));
  return {};
}

}  // namespace graphgate::tools
