#include "spec/option.h"

#include <cstdlib>
#include <type_traits>
#include <unordered_map>

namespace graphgate::spec {
namespace {

using Kind = OptionKind;
using Group = OptionGroup;

constexpr std::int64_t kMillion = 1'000'000;

constexpr bool kDrawn = true;
constexpr bool kNotDrawn = false;

constexpr OptionRow kRows[] = {
    {option::kProfile, Kind::kName, Group::kUpstream, kNotDrawn,
     "decide as an upstream version did: torch-2.9.0, or with vLLM's axis "
     "torch-2.9.1,vllm-0.11.1 (docs/profiles.md); fixed: nothing known to be wrong",
     "", "fixed"},
    {option::kOverrides, Kind::kOverrides, Group::kUpstream, kNotDrawn,
     "workarounds over the profile: vllm, or a JSON file"},
    {option::kDeviation, Kind::kSeveralNames, Group::kUpstream, kNotDrawn,
     "one wrong decision more, by name (docs/deviations.md; repeatable)"},
    {option::kNoDeviation, Kind::kSeveralNames, Group::kUpstream, kNotDrawn,
     "one wrong decision of the profile less, by name (repeatable)"},
    {option::kPass, Kind::kSeveralNames, Group::kPlanner, kNotDrawn,
     "run this pass too; a shared object with one of yours, ./mine.so (docs/extensions.md; "
     "repeatable)"},
    {option::kNoPass, Kind::kSeveralNames, Group::kPlanner, kDrawn,
     "do not run this pass (repeatable)"},
    {option::kCompiler, Kind::kWord, Group::kPlanner, kDrawn,
     "of partitions; or a shared object with one of yours, ./mine.so (docs/extensions.md)",
     "fused,eager,standalone"},
    {option::kArithmetic, Kind::kWord, Group::kPlanner, kNotDrawn,
     "strict: the same bits everywhere; fast: a GPU takes tensor cores", "strict,fast"},
    {option::kRealize, Kind::kWord, Group::kPlanner, kDrawn,
     "what decides which shared values are stored", "reads,bytes"},
    {option::kPartition, Kind::kWord, Group::kPlanner, kDrawn, "how partitions are cut",
     "scheduler,split-graph,split-graph-older,split-graph-adjacent,split-graph-newer"},
    {option::kSplitOp, Kind::kSeveralNames, Group::kPlanner, kDrawn,
     "an op that is never captured, ns.name or ns.name.overload (repeatable)"},
    {option::kCutAfter, Kind::kSeveralOwnNames, Group::kPlanner, kDrawn,
     "a node behind which a partition ends, by name (repeatable)"},
    {option::kMaxPartition, Kind::kUint32, Group::kPlanner, kDrawn,
     "at most so many nodes in a partition"},
    {option::kMinPartition, Kind::kUint32, Group::kPlanner, kDrawn,
     "do not capture partitions with fewer launches"},
    {option::kReorder, Kind::kWord, Group::kPlanner, kDrawn,
     "move nodes so that fewer partitions come out", "none,simple,minimize"},
    {option::kStreams, Kind::kUint32, Group::kPlanner, kDrawn,
     "run captured partitions on so many streams"},
    {option::kInterleaving, Kind::kUint64, Group::kRuntime, kDrawn,
     "seed of the order in which streams take turns; 0: program order"},
    {option::kMemory, Kind::kWord, Group::kPlanner, kDrawn, "how places are found",
     "pack,lines,pools"},
    {option::kMemoryPool, Kind::kWord, Group::kPlanner, kDrawn,
     "who shares a pool, with --memory pools", "none,intermediates,outputs,combined"},
    {option::kNoReuse, Kind::kSwitch, Group::kPlanner, kDrawn,
     "give every buffer bytes of its own"},
    {option::kNoInPlace, Kind::kSwitch, Group::kPlanner, kDrawn,
     "never write a result over an operand"},
    {option::kOutputsApart, Kind::kSwitch, Group::kPlanner, kDrawn,
     "keep outputs in a pool of their own"},
    {option::kNoCapture, Kind::kSwitch, Group::kRuntime, kDrawn, "capture no partition"},
    {option::kMode, Kind::kWord, Group::kRuntime, kDrawn,
     "which graphs are captured, as vLLM's CUDAGraphMode",
     "none,piecewise,full,full_decode_only,full_and_piecewise"},
    {option::kCaptureSizes, Kind::kSeveralInt64, Group::kRuntime, kDrawn,
     "sizes to capture, 1,2,4; calls are padded to the next larger one where that is legal"},
    {option::kMaxCaptureSize, Kind::kInt64, Group::kRuntime, kDrawn,
     "capture vLLM's default sizes up to this one, or bound those of --capture-sizes"},
    {option::kCompileSizes, Kind::kSeveralInt64, Group::kRuntime, kDrawn,
     "sizes with a plan of their own, 8,16"},
    {option::kPad, Kind::kOwnName, Group::kRuntime, kDrawn,
     "the symbol that is padded (default: the leading one of the first input)"},
    {option::kStaticInput, Kind::kSeveralOwnNames, Group::kRuntime, kDrawn,
     "an input, by name or place, that keeps its address (repeatable)"},
    {option::kWeakOutputs, Kind::kSwitch, Group::kRuntime, kDrawn,
     "hand outputs out where they lie"},
    {option::kSharePools, Kind::kSwitch, Group::kRuntime, kDrawn,
     "one arena for all programs and sizes"},
    {option::kPoison, Kind::kByte, Group::kRuntime, kDrawn,
     "fill arenas with this byte, 0x00 to 0xff, before every run"},
    {option::kPadFill, Kind::kWord, Group::kRuntime, kDrawn, "what rows behind the true size hold",
     "keep,nan,huge"},
    {option::kInstrument, Kind::kWord, Group::kRuntime, kNotDrawn,
     "what watches the runs: shadow memory, or where every value comes from",
     "none,shadow,provenance"},
    {option::kCache, Kind::kFolder, Group::kCache, kDrawn,
     "keep plans in this folder, and programs of a GPU"},
    {option::kDevice, Kind::kWord, Group::kDevice, kNotDrawn,
     "where captured partitions run: the host, a GPU, or a GPU's kernels on the "
     "processor, thread by thread; compiled: they run on the host, and their kernels "
     "become cubins for a GPU (docs/gpu.md)",
     "host,cuda,emulated,compiled", "host"},
    {option::kDeviceMemory, Kind::kWord, Group::kDevice, kNotDrawn,
     "guarded: what a device touches behind an arena faults, and so do writes to "
     "weights; guarded-front: before an arena",
     "plain,guarded,guarded-front", "plain"},
    {option::kAllowZeroAndOne, Kind::kSwitch, Group::kProgram, kNotDrawn,
     "accept sizes 0 and 1 where a range starts at 2"},
    {option::kSemantics, Kind::kName, Group::kProgram, kNotDrawn,
     "the release of PyTorch whose ops' semantics hold, 2.11 (docs/gating.md, what changed between "
     "releases)",
     "", "2.15"},
    {option::kWarmUp, Kind::kUint32, Group::kRuntime, kDrawn,
     "runs before a plan's first one, undone again"},
    {option::kPlansKept, Kind::kUint32, Group::kRuntime, kDrawn, "plans kept for one program", "",
     "", kMillion},
    {option::kCompileRange, Kind::kSeveralRanges, Group::kRuntime, kDrawn,
     "compile the sizes BEGIN:END, END excluded, apart (repeatable)"},
    {option::kSizeMultiple, Kind::kInt64, Group::kRuntime, kDrawn,
     "round sizes up to multiples of this", "", "", kMillion},
    {option::kPlaceAlignment, Kind::kInt64, Group::kPlanner, kDrawn,
     "of every place in memory, in bytes", "16,32,64,128,256,512,1024"},
    {option::kUnalignedOp, Kind::kSeveralNames, Group::kPlanner, kDrawn,
     "an op whose results nobody promises to align (repeatable)"},
    {option::kUnsafeUnbackedOp, Kind::kSeveralNames, Group::kPlanner, kDrawn,
     "cut out what uses a size that this op made (repeatable)"},
    {option::kSkipDynamicGraphs, Kind::kSwitch, Group::kPlanner, kDrawn,
     "cut out what depends on a symbol"},
    {option::kNoRecompute, Kind::kSwitch, Group::kPlanner, kDrawn, "compute no shared value twice"},
    {option::kPlanMutation, Kind::kSeededName, Group::kFault, kNotDrawn,
     "break every plan in one place, to test judges: NAME or NAME:SEED (docs/mutants.md)"},
    {option::kCacheEnv, Kind::kSeveralAssignments, Group::kCache, kNotDrawn,
     "NAME=VALUE for the cache's key, over the environment (repeatable)"},
    {option::kCacheRank, Kind::kInt32, Group::kCache, kNotDrawn, "this process's rank"},
    {option::kWrapper, Kind::kWord, Group::kRuntime, kDrawn,
     "compile each program once, as vLLM's wrapper does; split and partition refuse a call that "
     "would need another compilation, stock compiles again (docs/wrapper.md)",
     "none,stock,split,partition"},
    {option::kGuards, Kind::kWord, Group::kRuntime, kDrawn,
     "what --wrapper checks in every call: all; shapes: no layouts; none: no ranges either",
     "all,shapes,none"},
    {option::kRefuseUpdates, Kind::kSwitch, Group::kRuntime, kNotDrawn,
     "with --wrapper: refuse programs whose captured graphs write a buffer, and buffers bound anew "
     "behind a capture"},
    {option::kModelTag, Kind::kOwnName, Group::kCache, kNotDrawn,
     "with --wrapper: a name that keeps the model's plans apart from others in one cache"},
    {option::kEncoder, Kind::kSwitch, Group::kRuntime, kDrawn,
     "with --wrapper: the last compile range takes every larger size"},
    {option::kAheadOfTime, Kind::kFolder, Group::kCache, kDrawn,
     "keep the plans of each program in one file of this folder, made ahead of time"},
    {option::kAttentionSupport, Kind::kWord, Group::kRuntime, kDrawn,
     "which batches attention can be captured with, as vLLM's AttentionCGSupport: what lies above "
     "it in --mode is taken back",
     "never,single_token_decode,uniform_batch,always"},
    {option::kMaxRequests, Kind::kInt64, Group::kRuntime, kDrawn,
     "a full graph is for at most so many requests (max_num_seqs)", "", "", kMillion},
    {option::kQueryLength, Kind::kInt64, Group::kRuntime, kDrawn,
     "tokens that each request of a uniform decode batch has, 1 + speculative tokens", "", "",
     kMillion},
    {option::kMaxLoras, Kind::kInt64, Group::kRuntime, kDrawn,
     "graphs are captured for 1, 2, 4... adapters up to this, and one more; calls are rounded up",
     "", "", kMillion},
    {option::kWakesElsewhere, Kind::kSwitch, Group::kRuntime, kDrawn,
     "memory that slept wakes at other addresses, and graphs are recorded anew"},
    {option::kSleepDropsGraphs, Kind::kSwitch, Group::kRuntime, kDrawn,
     "a sleep drops graphs, which are recorded anew behind it"},
    {option::kMode, Kind::kWord, Group::kReference, kNotDrawn,
     "how the reference computes, and what it shows of it",
     "eager,worst-case,sampled,provenance,geometry"},
    {option::kArithmetic, Kind::kName, Group::kReference, kNotDrawn,
     "what the kernels of the executor under test compute, so that bounds fit it"},
    {option::kKernels, Kind::kWord, Group::kReference, kNotDrawn,
     "whose kernels decide what PyTorch leaves to them; cuda-checked: and refuse what they do not "
     "take; own: an engine's own",
     "cpu,cuda,cuda-checked,own"},
    {option::kSplitSums, Kind::kSeveralNames, Group::kReference, kNotDrawn,
     "dtypes whose products of matrices may be summed in rounded parts: f16, bf16"},
    {option::kTf32, Kind::kWord, Group::kReference, kNotDrawn,
     "float32 ops whose factors may be rounded to TF32", "convolution"},
    {option::kTrial, Kind::kName, Group::kReference, kNotDrawn,
     "of mode sampled: which draw of rounding errors, 7, or 7x3 for errors thrice as large"},
    {option::kDraws, Kind::kWord, Group::kReference, kNotDrawn,
     "of oracles: whether the numbers that random ops draw are open, or those that it draws",
     "open,known"},
    {option::kOpenGaps, Kind::kSeveralNames, Group::kReference, kNotDrawn,
     "of oracles: places of the inputs around whose elements their storages hold what nobody "
     "knows"},
};

using Index = std::unordered_map<std::string_view, const OptionRow*>;

Index make_index() {
  Index index;
  for (const OptionRow& row : kRows) {
    if (row.group != Group::kReference) index.emplace(row.name, &row);
  }
  return index;
}

// As the command line and case files have always read numbers: by strtoll.
template <class Wide, class Number>
std::optional<Number> narrowed(Wide wide, const char* end, const std::string& text) {
  const auto number = static_cast<Number>(wide);
  const bool is_whole = !text.empty() && end == text.data() + text.size();
  return is_whole && static_cast<Wide>(number) == wide ? std::optional(number) : std::nullopt;
}

}  // namespace

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  char* end = nullptr;
  if constexpr (std::is_unsigned_v<Number>) {
    const unsigned long long wide = std::strtoull(text.c_str(), &end, 0);
    return narrowed<unsigned long long, Number>(wide, end, text);
  } else {
    const long long wide = std::strtoll(text.c_str(), &end, 0);
    return narrowed<long long, Number>(wide, end, text);
  }
}
template std::optional<std::int32_t> parse_number(const std::string& text);
template std::optional<std::int64_t> parse_number(const std::string& text);
template std::optional<std::uint32_t> parse_number(const std::string& text);
template std::optional<std::uint64_t> parse_number(const std::string& text);

bool OptionRow::is_several() const {
  return kind == Kind::kSeveralNames || kind == Kind::kSeveralOwnNames ||
         kind == Kind::kSeveralInt64 || kind == Kind::kSeveralRanges ||
         kind == Kind::kSeveralAssignments;
}

bool OptionRow::is_local() const {
  return kind == Kind::kOwnName || kind == Kind::kSeveralOwnNames ||
         kind == Kind::kSeveralAssignments || kind == Kind::kFolder || kind == Kind::kOverrides;
}

std::span<const OptionRow> option_rows() { return kRows; }

const OptionRow* find_option(std::string_view name) {
  static const Index kIndex = make_index();
  const auto found = kIndex.find(name);
  return found == kIndex.end() ? nullptr : found->second;
}

std::string objection_to(const OptionRow& row, const std::string& element) {
  const auto number = row.kind == Kind::kWord ? std::nullopt : parse_number<std::int64_t>(element);
  if (row.most > 0 && !(number && *number >= 1 && *number <= row.most)) {
    return "Value " + element + " not in range 1 to " + std::to_string(row.most);
  }
  if (row.values.empty()) return "";
  const std::string wanted = number ? std::to_string(*number) : element;
  if (row.kind != Kind::kWord && !number) return element;
  if (row.name == option::kCompiler && element.ends_with(".so")) return "";
  if (place_in_list(row.values, wanted)) return "";
  return element + " not in {" + std::string(row.values) + "}";
}

bool is_readable(const OptionRow& row, const std::string& element) {
  switch (row.kind) {
    case Kind::kUint32:
      return parse_number<std::uint32_t>(element).has_value();
    case Kind::kUint64:
      return parse_number<std::uint64_t>(element).has_value();
    case Kind::kInt32:
      return parse_number<std::int32_t>(element).has_value();
    case Kind::kInt64:
    case Kind::kSeveralInt64:
      return parse_number<std::int64_t>(element).has_value();
    default:
      return true;
  }
}

Result<void> check_option(const OptionRow& row, const std::string& value) {
  const std::string name(row.name);
  const bool is_switch = row.kind == Kind::kSwitch;
  if (value.empty() != is_switch) {
    return bad_input("option '" + name + "': expected " + (is_switch ? "no value" : "a value"));
  }
  bool is_good = true;
  for (const std::string& element :
       row.is_several() ? split_list(value) : std::vector<std::string>{value}) {
    const std::string objection = objection_to(row, element);
    if (!objection.empty()) return bad_input(objection).at("options: --" + name);
    is_good = is_good && is_readable(row, element);
  }
  if (is_good) return {};
  return bad_input("options: Could not convert: --" + name + " = " + value);
}

}  // namespace graphgate::spec
