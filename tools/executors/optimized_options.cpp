#include "tools/executors/optimized_options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "conformance/mutations/plan_mutations.h"
#include "optimized/cache/bundle_folder.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/extension/extension.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/runtime/cuda/compiling_device.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "optimized/runtime/resolve_mode.h"
#include "optimized/upstream/overrides.h"
#include "optimized/upstream/profile_options.h"
#include "spec/torch_release.h"
#include "tools/executors/optimized_executor.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using optimized::Options;
using spec::Configuration;
using Text = const std::string&;

// ---- what each option sets ----

void append(std::vector<std::string>& list, const std::string& value) {
  for (std::string& element : spec::split_list(value)) list.push_back(std::move(element));
}

std::vector<std::int64_t> numbers_in(const std::string& value) {
  std::vector<std::int64_t> out;
  for (const std::string& element : spec::split_list(value)) {
    out.push_back(*spec::parse_number<std::int64_t>(element));
  }
  return out;
}

// A number that check_option has found to be one.
template <class Number>
Number number_in(const std::string& value) {
  return *spec::parse_number<Number>(value);
}

// The meaning at the place of the word among the option's values.
template <class T>
T meaning(const char* name, const std::string& word, std::initializer_list<T> meanings) {
  return *(meanings.begin() + *spec::place_in_list(spec::find_option(name)->values, word));
}

void set_partition(Text word, Options& options) {
  using optimized::PartitionMode;
  using optimized::SplitGeneration;
  auto& partition = options.compile.partition;
  const bool is_split = word != "scheduler";
  partition.mode = is_split ? PartitionMode::kSplitGraph : PartitionMode::kScheduler;
  // "split-graph" leaves the generation to the profile; without one it is the newest.
  if (word == "split-graph-older") partition.split_generation = SplitGeneration::kOlder;
  if (word == "split-graph-adjacent") partition.split_generation = SplitGeneration::kAdjacent;
  if (word == "split-graph-newer") partition.split_generation = SplitGeneration::kNewer;
}

Result<void> set_poison(const std::string& text, Options& options) {
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  const char* const end = text.data() + text.size();
  unsigned value = 0;
  const auto [stop, code] =
      std::from_chars(text.data() + (has_prefix ? 2 : 0), end, value, has_prefix ? 16 : 10);
  if (code != std::errc() || stop != end || value > 0xFF) {
    return bad_input("--poison: expected a byte, 0x00 to 0xff, found '" + text + "'");
  }
  options.runtime.poison = static_cast<std::byte>(value);
  return {};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<void> set_ranges(const std::string& value, Options& options) {
  for (const std::string& text : spec::split_list(value)) {
    const std::size_t colon = text.find(':');
    const auto begin = whole_number(std::string_view(text).substr(0, colon));
    const auto end = colon == std::string::npos
                         ? std::nullopt
                         : whole_number(std::string_view(text).substr(colon + 1));
    if (!begin || !end) {
      return bad_input("--compile-range: expected BEGIN:END, found '" + text + "'");
    }
    options.runtime.compile_ranges.push_back({*begin, *end});
  }
  return {};
}

Result<void> set_mutation(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::uint64_t seed = 1;
  if (colon != std::string::npos) {
    const auto number = whole_number(std::string_view(text).substr(colon + 1));
    if (!number || *number < 0) {
      return bad_input("--plan-mutation: expected NAME:SEED, found '" + text + "'");
    }
    seed = static_cast<std::uint64_t>(*number);
  }
  const auto all = conformance::plan_mutations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.name == name; });
  if (found == all.end()) {
    return bad_input("--plan-mutation: none is called '" + name + "' (see docs/mutants.md)");
  }
  options.alter_plan = [&mutation = *found, seed](spec::Plan& plan) {
    (void)conformance::apply_mutation(mutation, plan, seed);
  };
  return {};
}

std::set<std::filesystem::path>& allowed_extensions() {
  static std::set<std::filesystem::path> paths;
  return paths;
}

std::filesystem::path place_of(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

// Whether the path, or a folder above it, stands in the variable.
bool is_in_variable(const std::string& path) {
  const char* const value = std::getenv(kExtensionsVariable);
  if (value == nullptr) return false;
  const auto place = place_of(path);
  std::istringstream paths(value);
  for (std::string one; std::getline(paths, one, ':');) {
    if (one.empty()) continue;
    const auto folder = place_of(one);
    const auto [end, unused] =
        std::mismatch(folder.begin(), folder.end(), place.begin(), place.end());
    if (end == folder.end() || (std::next(end) == folder.end() && end->empty())) return true;
  }
  return false;
}

// The shared object at a path. What was asked of a file is known until the file changes.
Result<std::shared_ptr<const optimized::Extension>> extension_at(const std::string& path) {
  if (!allowed_extensions().contains(place_of(path)) && !is_in_variable(path)) {
    return bad_input(path +
                     ": a case or a request names this shared object, which is code: name it "
                     "on the command line (--pass, --compiler), or in " +
                     kExtensionsVariable);
  }
  struct Known {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    std::shared_ptr<const optimized::Extension> extension;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> all;
  const std::lock_guard lock(mutex);
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  const std::uintmax_t bytes = error ? 0 : std::filesystem::file_size(path, error);
  const auto found = all.find(path);
  const bool is_known = !error && found != all.end() && found->second.written == written &&
                        found->second.bytes == bytes;
  if (is_known) return found->second.extension;
  GRAPHGATE_TRY(auto extension, optimized::Extension::load(path));
  all[path] = {written, bytes, extension};
  return extension;
}

Result<void> set_passes(const std::string& value, Options& options) {
  for (const std::string& name : spec::split_list(value)) {
    if (!optimized::names_extension(name)) {
      options.compile.passes.enabled.push_back(name);
      continue;
    }
    GRAPHGATE_TRY(const auto extension, extension_at(name));
    GRAPHGATE_TRY(options.compile.passes.user_passes.emplace_back(), optimized::pass_of(extension));
  }
  return {};
}

Result<void> set_compiler(const std::string& value, Options& options) {
  if (!optimized::names_extension(value)) {
    options.compile.compiler.name = value;
    return {};
  }
  GRAPHGATE_TRY(const auto extension, extension_at(value));
  GRAPHGATE_TRY(options.compile.compiler.own, optimized::compiler_of(extension));
  return {};
}

// Where the wrapper cuts; all else of it is for who makes the executor (optimized_executor.h).
void set_wrapper(Text word, Options& options) {
  using optimized::PartitionMode;
  if (word == "split") options.compile.partition.mode = PartitionMode::kSplitGraph;
  if (word == "partition") options.compile.partition.mode = PartitionMode::kScheduler;
}

void set_nothing(Text /*value*/, Options& /*options*/) {}

using Set = void (*)(Text value, Options& options);

// Of values that check_option has found to be good. What profile, device and cache are made of
// stands in functions of their own.
const std::unordered_map<std::string_view, Set>& setters() {
  using optimized::MemoryStrategy;
  using optimized::PoolRule;
  static const std::unordered_map<std::string_view, Set> kSetters = {
      {option::kNoPass, [](Text v, Options& o) { append(o.compile.passes.disabled, v); }},
      {option::kArithmetic,
       [](Text v, Options& o) {
         using optimized::Arithmetic;
         o.compile.arithmetic =
             meaning(option::kArithmetic, v, {Arithmetic::kStrict, Arithmetic::kFast});
       }},
      {option::kRealize,
       [](Text v, Options& o) {
         using optimized::RealizeRule;
         o.compile.compiler.realize.rule =
             meaning(option::kRealize, v, {RealizeRule::kReadCount, RealizeRule::kByteCost});
       }},
      {option::kPartition, set_partition},
      {option::kSplitOp, [](Text v, Options& o) { append(o.compile.partition.split_ops, v); }},
      {option::kCutAfter, [](Text v, Options& o) { append(o.compile.partition.cut_after, v); }},
      {option::kMaxPartition,
       [](Text v, Options& o) { o.compile.partition.max_nodes = number_in<std::uint32_t>(v); }},
      {option::kMinPartition,
       [](Text v, Options& o) {
         o.compile.partition.min_partition_size = number_in<std::uint32_t>(v);
       }},
      {option::kReorder,
       [](Text v, Options& o) {
         using optimized::Reorder;
         o.compile.reorder.reorder =
             meaning(option::kReorder, v, {Reorder::kNone, Reorder::kSimple, Reorder::kMinimize});
       }},
      {option::kStreams,
       [](Text v, Options& o) { o.compile.streams.count = number_in<std::uint32_t>(v); }},
      {option::kInterleaving,
       [](Text v, Options& o) { o.interleaving_seed = number_in<std::uint64_t>(v); }},
      {option::kMemory,
       [](Text v, Options& o) {
         o.compile.memory.strategy =
             meaning(option::kMemory, v,
                     {MemoryStrategy::kPack, MemoryStrategy::kLines, MemoryStrategy::kPools});
       }},
      {option::kMemoryPool,
       [](Text v, Options& o) {
         o.compile.memory.pool_rule = meaning(
             option::kMemoryPool, v,
             {PoolRule::kNone, PoolRule::kIntermediates, PoolRule::kOutputs, PoolRule::kCombined});
       }},
      {option::kNoReuse, [](Text, Options& o) { o.compile.memory.reuse = false; }},
      {option::kNoInPlace, [](Text, Options& o) { o.compile.memory.in_place = false; }},
      {option::kOutputsApart, [](Text, Options& o) { o.compile.memory.outputs_apart = true; }},
      {option::kNoCapture, [](Text, Options& o) { o.compile.partition.capture = false; }},
      {option::kMode, [](Text v, Options& o) { o.runtime.mode = *optimized::parse_graph_mode(v); }},
      {option::kCaptureSizes, [](Text v, Options& o) { o.runtime.capture_sizes = numbers_in(v); }},
      {option::kMaxCaptureSize,
       [](Text v, Options& o) { o.runtime.max_capture_size = number_in<std::int64_t>(v); }},
      {option::kCompileSizes, [](Text v, Options& o) { o.runtime.compile_sizes = numbers_in(v); }},
      {option::kPad, [](Text v, Options& o) { o.runtime.padded_symbol = v; }},
      {option::kStaticInput, [](Text v, Options& o) { append(o.runtime.static_inputs, v); }},
      {option::kWeakOutputs, [](Text, Options& o) { o.runtime.weak_outputs = true; }},
      {option::kSharePools, [](Text, Options& o) { o.runtime.share_pools = true; }},
      {option::kPadFill,
       [](Text v, Options& o) {
         using optimized::PadFill;
         o.runtime.pad_fill =
             meaning(option::kPadFill, v, {PadFill::kKeep, PadFill::kNan, PadFill::kHuge});
       }},
      {option::kInstrument,
       [](Text v, Options& o) {
         using optimized::InstrumentKind;
         o.runtime.instrument =
             meaning(option::kInstrument, v,
                     {InstrumentKind::kNone, InstrumentKind::kShadow, InstrumentKind::kProvenance});
       }},
      {option::kAllowZeroAndOne, [](Text, Options& o) { o.allow_zero_and_one = true; }},
      {option::kWarmUp,
       [](Text v, Options& o) { o.runtime.warm_up_runs = number_in<std::uint32_t>(v); }},
      {option::kPlansKept, [](Text v, Options& o) { o.plans_kept = number_in<std::uint32_t>(v); }},
      {option::kSizeMultiple,
       [](Text v, Options& o) { o.runtime.size_multiple = number_in<std::int64_t>(v); }},
      {option::kPlaceAlignment,
       [](Text v, Options& o) { o.compile.memory.alignment_bytes = number_in<std::int64_t>(v); }},
      {option::kUnalignedOp, [](Text v, Options& o) { append(o.compile.memory.unaligned_ops, v); }},
      {option::kUnsafeUnbackedOp,
       [](Text v, Options& o) { append(o.compile.partition.unsafe_unbacked_ops, v); }},
      {option::kSkipDynamicGraphs,
       [](Text, Options& o) { o.compile.partition.skip_dynamic_graphs = true; }},
      {option::kNoRecompute,
       [](Text, Options& o) { o.compile.compiler.realize.recompute = false; }},
      {option::kWrapper, set_wrapper},
      {option::kGuards, set_nothing},
      {option::kRefuseUpdates, set_nothing},
      {option::kEncoder, set_nothing},
      {option::kAttentionSupport,
       [](Text v, Options& o) {
         using optimized::AttentionSupport;
         o.runtime.attention_support =
             meaning(option::kAttentionSupport, v,
                     {AttentionSupport::kNever, AttentionSupport::kSingleTokenDecode,
                      AttentionSupport::kUniformBatch, AttentionSupport::kAlways});
       }},
      {option::kMaxRequests,
       [](Text v, Options& o) { o.runtime.max_requests = number_in<std::int64_t>(v); }},
      {option::kQueryLength,
       [](Text v, Options& o) { o.runtime.query_length = number_in<std::int64_t>(v); }},
      {option::kMaxLoras,
       [](Text v, Options& o) { o.runtime.max_loras = number_in<std::int64_t>(v); }},
      {option::kWakesElsewhere, [](Text, Options& o) { o.runtime.wakes_elsewhere = true; }},
      {option::kSleepDropsGraphs, [](Text, Options& o) { o.runtime.sleep_drops_graphs = true; }},
  };
  return kSetters;
}

// ---- what comes of them together ----

std::string profile_of(const Configuration& configuration) {
  return std::string(
      spec::value_of(configuration, option::kProfile, spec::find_option(option::kProfile)->usual));
}

Result<void> choose_upstream(const Configuration& configuration, Options& options,
                             std::vector<std::string>* remarks) {
  GRAPHGATE_TRY(optimized::Profile profile, optimized::resolve_profile(profile_of(configuration)));
  const std::string overrides(spec::value_of(configuration, option::kOverrides));
  if (!overrides.empty()) {
    std::vector<optimized::Override> rows = optimized::vllm_overrides();
    if (overrides != "vllm") {
      GRAPHGATE_TRY(const std::string text, read_text(overrides));
      GRAPHGATE_TRY(rows, optimized::read_overrides(text, overrides));
    }
    for (auto& report : optimized::apply_overrides(rows, profile)) {
      if (remarks) remarks->push_back("override " + report.sentence);
    }
  }
  for (const std::string& name :
       spec::split_list(spec::value_of(configuration, option::kNoDeviation))) {
    const auto deviation = spec::find_deviation(name);
    if (!deviation || !profile.deviations.has(*deviation)) {
      return bad_input("--no-deviation: the profile has none called '" + name + "'");
    }
    profile.deviations.remove(*deviation);
  }
  for (const std::string& name :
       spec::split_list(spec::value_of(configuration, option::kDeviation))) {
    const auto deviation = spec::find_deviation(name);
    if (!deviation) {
      return bad_input("--deviation: none is called '" + name + "' (see docs/deviations.md)");
    }
    profile.deviations.add(*deviation);
  }
  return optimized::apply_profile(profile, options);
}

Result<void> check_semantics(const Configuration& asked) {
  const auto given = asked.find(option::kSemantics);
  if (given == asked.end() || spec::parse_torch_release(given->second)) return {};
  return bad_input("--semantics: expected a release of PyTorch as 2.11, found '" + given->second +
                   "'");
}

Result<void> check_combination(const Configuration& asked) {
  GRAPHGATE_TRY_VOID(check_semantics(asked));
  const std::string_view mode = spec::value_of(asked, option::kMode);
  if (asked.contains(option::kMemoryPool) && spec::value_of(asked, option::kMemory) != "pools") {
    return bad_input("--memory-pool goes with --memory pools");
  }
  if (asked.contains(option::kNoCapture)) {
    if (!mode.empty() && mode != "none") {
      return bad_input("--no-capture and --mode " + std::string(mode) + " contradict each other");
    }
    if (asked.contains(option::kCaptureSizes) || asked.contains(option::kMaxCaptureSize)) {
      return bad_input("--no-capture and capture sizes contradict each other");
    }
  }
  if (asked.contains(option::kCache) && asked.contains(option::kAheadOfTime)) {
    return bad_input("plans are kept by --cache or by --ahead-of-time, not by both");
  }
  GRAPHGATE_TRY_VOID(check_wrapper(asked));
  return check_device(asked);
}

// Everything but whether there are the ops that are named.
Result<Options> chosen(const Configuration& configuration, const spec::OpTable& ops,
                       std::vector<std::string>* remarks) {
  for (const auto& [name, value] : configuration) {
    const spec::OptionRow* row = spec::find_option(name);
    if (!row) return bad_input("option '" + name + "': the optimized executor has none such");
    GRAPHGATE_TRY_VOID(spec::check_option(*row, value));
  }
  GRAPHGATE_TRY_VOID(check_combination(configuration));
  Options options;
  options.compile.ops = &ops;
  GRAPHGATE_TRY_VOID(choose_upstream(configuration, options, remarks));
  for (const auto& [name, value] : configuration) {
    const auto set = setters().find(name);
    if (set != setters().end()) {
      set->second(value, options);
    } else if (name == option::kPoison) {
      GRAPHGATE_TRY_VOID(set_poison(value, options));
    } else if (name == option::kCompileRange) {
      GRAPHGATE_TRY_VOID(set_ranges(value, options));
    } else if (name == option::kPlanMutation) {
      GRAPHGATE_TRY_VOID(set_mutation(value, options));
    } else if (name == option::kPass) {
      GRAPHGATE_TRY_VOID(set_passes(value, options));
    } else if (name == option::kCompiler) {
      GRAPHGATE_TRY_VOID(set_compiler(value, options));
    } else {
      const spec::OptionGroup group = spec::find_option(name)->group;
      GRAPHGATE_CHECK(name == option::kSemantics || group == spec::OptionGroup::kUpstream ||
                      group == spec::OptionGroup::kDevice || group == spec::OptionGroup::kCache);
    }
  }
  optimized::RuntimeOptions& runtime = options.runtime;
  if (runtime.capture_sizes.empty() && runtime.max_capture_size > 0) {
    runtime.capture_sizes = optimized::default_capture_sizes(runtime.max_capture_size);
  }
  const optimized::CompileOptions& compile = options.compile;
  GRAPHGATE_TRY_VOID(optimized::validate(runtime));
  GRAPHGATE_TRY_VOID(
      optimized::resolve_mode(runtime, !compile.partition.split_ops.empty(), compile.deviations));
  GRAPHGATE_TRY_VOID(optimized::validate_options(compile.reorder, compile.partition));
  GRAPHGATE_TRY_VOID(optimized::validate(compile.streams));
  GRAPHGATE_TRY_VOID(optimized::PassManager::make(compile.passes));
  return options;
}

}  // namespace

void allow_extension(const std::string& path) { allowed_extensions().insert(place_of(path)); }

Result<Options> options_of(const Configuration& configuration, const spec::OpTable& ops,
                           std::vector<std::string>* remarks) {
  GRAPHGATE_TRY(Options options, chosen(configuration, ops, remarks));
  GRAPHGATE_TRY_VOID(optimized::validate_options(options.compile.partition, ops));
  GRAPHGATE_TRY_VOID(optimized::validate_options(options.compile.memory, ops));
  return options;
}

Result<void> check_options(const Configuration& configuration) {
  const auto options = chosen(configuration, spec::builtin_op_table(), nullptr);
  return options.ok() ? Result<void>() : options.error();
}

Result<void> check_named(const Configuration& configuration) {
  Configuration named = configuration;
  std::erase_if(named, [](const auto& asked) {
    const spec::OptionRow* row = spec::find_option(asked.first);
    return row && row->group != spec::OptionGroup::kUpstream;
  });
  GRAPHGATE_TRY_VOID(check_options(named));
  Options unused;
  return open_cache(configuration, unused);
}

// ---- devices and caches ----

std::string device_of(const Configuration& configuration) {
  return std::string(
      spec::value_of(configuration, option::kDevice, spec::find_option(option::kDevice)->usual));
}

bool is_on_host(const Configuration& configuration) { return device_of(configuration) == "host"; }

Result<void> check_device(const Configuration& configuration) {
  const std::string device = device_of(configuration);
  const std::string memory(spec::value_of(configuration, option::kDeviceMemory, "plain"));
  if (device == "cuda" || device == "emulated" || memory == "plain") return {};
  return bad_input("--device-memory " + memory + " goes with --device cuda or emulated");
}

Result<std::shared_ptr<optimized::Device>> open_device(const Configuration& configuration) {
  using Mode = optimized::DeviceMemoryMode;
  GRAPHGATE_TRY_VOID(check_device(configuration));
  const std::string device = device_of(configuration);
  if (device == "host") return std::shared_ptr<optimized::Device>();
  const Mode mode =
      meaning(option::kDeviceMemory,
              std::string(spec::value_of(configuration, option::kDeviceMemory, "plain")),
              {Mode::kPlain, Mode::kGuarded, Mode::kGuardedFront});
  const std::string cache(spec::value_of(configuration, option::kCache));
  const auto cubins =
      cache.empty() ? std::filesystem::path() : std::filesystem::path(cache) / "cubins";
  if (device == "cuda") return optimized::cuda::make_cuda_device(mode, cubins);
  if (device == "compiled") return optimized::cuda::make_compiling_device("sm_90a", cubins);
  return optimized::emulated::make_emulated_device(mode);
}

namespace {

// Before any work: a folder that cannot be made was not meant. One that cannot be written serves
// what it has. "temporary" is made for each run.
Result<void> make_folder(const char* name, const std::string& folder,
                         std::vector<std::string>* remarks) {
  if (folder == spec::kTemporaryCache) return {};
  const std::string said = "--" + std::string(name) + " " + folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return infrastructure(said + ": cannot be made: " + error.message());
  if (remarks && ::access(folder.c_str(), W_OK) != 0) {
    remarks->push_back(said + ": cannot be written: " + std::strerror(errno) +
                       "; plans are not kept");
  }
  return {};
}

// What keys hold beside the program and its options.
Result<optimized::KeyContext> key_context(const Configuration& configuration) {
  optimized::KeyContext context;
  context.profile = profile_of(configuration);
  for (const std::string& text :
       spec::split_list(spec::value_of(configuration, option::kCacheEnv))) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_input("--cache-env: expected NAME=VALUE, found '" + text + "'");
    }
    context.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  const std::string rank(spec::value_of(configuration, option::kCacheRank, "0"));
  context.rank = number_in<std::int32_t>(rank);
  return context;
}

}  // namespace

Result<void> open_cache(const Configuration& configuration, Options& options,
                        std::vector<std::string>* remarks) {
  const std::string folder(spec::value_of(configuration, option::kCache));
  const std::string bundles(spec::value_of(configuration, option::kAheadOfTime));
  if (folder.empty() && bundles.empty()) return {};
  GRAPHGATE_TRY(optimized::KeyContext context, key_context(configuration));
  if (!bundles.empty()) {
    GRAPHGATE_TRY_VOID(make_folder(option::kAheadOfTime, bundles, remarks));
    options.plan_store = optimized::make_bundle_folder(
        {bundles, {.context = std::move(context)}, options.compile.deviations});
    return {};
  }
  GRAPHGATE_TRY_VOID(make_folder(option::kCache, folder, remarks));
  optimized::DiskCacheOptions cache;
  cache.root = folder;
  cache.context = std::move(context);
  const std::string tag(spec::value_of(configuration, option::kModelTag));
  if (!tag.empty()) cache.tag = tag;
  options.plan_store = optimized::make_disk_store(std::move(cache));
  return {};
}

Result<void> open_resources(const Configuration& configuration, Options& options,
                            std::vector<std::string>* remarks) {
  GRAPHGATE_TRY(options.device, open_device(configuration));
  return open_cache(configuration, options, remarks);
}

}  // namespace graphgate::tools
