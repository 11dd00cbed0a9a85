// Every option of an executor: what it is called, what it takes, whose it is. The one owner of
// these facts: flags of the command line, case files, the generator, signatures of findings, the
// gate, what `graphgate serve` says that it takes, and the docs read them here.
//
// An option stands on the command line as --NAME (flags.h in tools/cli/), in a case file as
// `option "NAME" "VALUE"`, in a request of the executor protocol, and in what judges ask for. Only
// the reference's own stand in the last two alone. What an option does is said where executors are
// made (optimized_options.h in tools/executors/).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/configuration.h"

namespace graphgate::spec {

// The names, for code that must mention one.
namespace option {
inline constexpr const char* kProfile = "profile";
inline constexpr const char* kOverrides = "overrides";
inline constexpr const char* kDeviation = "deviation";
inline constexpr const char* kNoDeviation = "no-deviation";
inline constexpr const char* kPass = "pass";
inline constexpr const char* kNoPass = "no-pass";
inline constexpr const char* kCompiler = "compiler";
inline constexpr const char* kArithmetic = "arithmetic";
inline constexpr const char* kRealize = "realize";
inline constexpr const char* kPartition = "partition";
inline constexpr const char* kSplitOp = "split-op";
inline constexpr const char* kCutAfter = "cut-after";
inline constexpr const char* kMaxPartition = "max-partition";
inline constexpr const char* kMinPartition = "min-partition";
inline constexpr const char* kReorder = "reorder";
inline constexpr const char* kStreams = "streams";
inline constexpr const char* kInterleaving = "interleaving";
inline constexpr const char* kMemory = "memory";
inline constexpr const char* kMemoryPool = "memory-pool";
inline constexpr const char* kNoReuse = "no-reuse";
inline constexpr const char* kNoInPlace = "no-in-place";
inline constexpr const char* kOutputsApart = "outputs-apart";
inline constexpr const char* kNoCapture = "no-capture";
inline constexpr const char* kMode = "mode";
inline constexpr const char* kCaptureSizes = "capture-sizes";
inline constexpr const char* kMaxCaptureSize = "max-capture-size";
inline constexpr const char* kCompileSizes = "compile-sizes";
inline constexpr const char* kPad = "pad";
inline constexpr const char* kStaticInput = "static-input";
inline constexpr const char* kWeakOutputs = "weak-outputs";
inline constexpr const char* kSharePools = "share-pools";
inline constexpr const char* kPoison = "poison";
inline constexpr const char* kPadFill = "pad-fill";
inline constexpr const char* kInstrument = "instrument";
inline constexpr const char* kCache = "cache";
inline constexpr const char* kDevice = "device";
inline constexpr const char* kDeviceMemory = "device-memory";
inline constexpr const char* kAllowZeroAndOne = "allow-zero-and-one";
inline constexpr const char* kSemantics = "semantics";
inline constexpr const char* kWarmUp = "warm-up";
inline constexpr const char* kPlansKept = "plans-kept";
inline constexpr const char* kCompileRange = "compile-range";
inline constexpr const char* kSizeMultiple = "size-multiple";
inline constexpr const char* kPlaceAlignment = "place-alignment";
inline constexpr const char* kUnalignedOp = "unaligned-op";
inline constexpr const char* kUnsafeUnbackedOp = "unsafe-unbacked-op";
inline constexpr const char* kSkipDynamicGraphs = "skip-dynamic-graphs";
inline constexpr const char* kNoRecompute = "no-recompute";
inline constexpr const char* kPlanMutation = "plan-mutation";
inline constexpr const char* kCacheEnv = "cache-env";
inline constexpr const char* kCacheRank = "cache-rank";
inline constexpr const char* kWrapper = "wrapper";
inline constexpr const char* kGuards = "guards";
inline constexpr const char* kRefuseUpdates = "refuse-updates";
inline constexpr const char* kModelTag = "model-tag";
inline constexpr const char* kEncoder = "encoder";
inline constexpr const char* kAheadOfTime = "ahead-of-time";
inline constexpr const char* kAttentionSupport = "attention-support";
inline constexpr const char* kMaxRequests = "max-requests";
inline constexpr const char* kQueryLength = "query-length";
inline constexpr const char* kMaxLoras = "max-loras";
inline constexpr const char* kWakesElsewhere = "wakes-elsewhere";
inline constexpr const char* kSleepDropsGraphs = "sleep-drops-graphs";
// Of the reference, beside its mode and arithmetic.
inline constexpr const char* kKernels = "kernels";
inline constexpr const char* kSplitSums = "split-sums";
inline constexpr const char* kTf32 = "tf32";
inline constexpr const char* kTrial = "trial";
inline constexpr const char* kDraws = "draws";
inline constexpr const char* kOpenGaps = "open-gaps";
}  // namespace option

// The value of the options "cache" and "ahead-of-time" that stands for a folder made for one run of
// a script.
inline constexpr std::string_view kTemporaryCache = "temporary";

// What its value is. One with "several" may be repeated; its value is a list with commas.
enum class OptionKind : std::uint8_t {
  kSwitch,              // no value
  kWord,                // one of `values`
  kName,                // of a profile, an arithmetic...
  kSeveralNames,        // of passes, ops, deviations
  kOwnName,             // of the program's own: a symbol
  kSeveralOwnNames,     // nodes, inputs
  kSeededName,          // NAME or NAME:SEED
  kUint32,              // whole numbers of so many bits
  kUint64,              //
  kInt32,               //
  kInt64,               //
  kSeveralInt64,        // one flag has the whole list
  kByte,                // 0x00 to 0xff
  kSeveralRanges,       // BEGIN:END
  kSeveralAssignments,  // NAME=VALUE
  kFolder,              // is made where it is missing
  kOverrides,           // "vllm", or a file
};

enum class OptionGroup : std::uint8_t {
  kUpstream,   // what is known to be wrong, or works around it
  kPlanner,    // partitions, order, memory
  kRuntime,    // capture, sizes, calls
  kProgram,    // which programs and calls are taken
  kCache,      // where plans are kept, and what their keys hold
  kDevice,     // where captured partitions run
  kFault,      // breaks plans on purpose
  kReference,  // of the reference alone
};

struct OptionRow {
  std::string_view name;  // without dashes
  OptionKind kind;
  OptionGroup group;
  bool is_drawn;                 // an axis of the fuzzer
  std::string_view help;         // one sentence
  std::string_view values = {};  // all that it may be: "pack,lines,pools"; empty: any of its kind
  std::string_view usual = {};   // what it is where it is not given, if --help tells that
  std::int64_t most = 0;         // of a number from 1 to so many; 0: any of its kind

  [[nodiscard]] bool is_several() const;
  // Whether its value means something in one program or on one machine alone: signatures of
  // findings tell the option without it.
  [[nodiscard]] bool is_local() const;
};

// In the order of --help; those of the reference last.
[[nodiscard]] std::span<const OptionRow> option_rows();

// By its name, of the optimized executor; null for another name.
[[nodiscard]] const OptionRow* find_option(std::string_view name);

// What is wrong with one element of a value, "stacks not in {pack,lines,pools}"; empty: nothing.
// Says nothing of numbers that cannot be read: is_readable does.
[[nodiscard]] std::string objection_to(const OptionRow& row, const std::string& element);
[[nodiscard]] bool is_readable(const OptionRow& row, const std::string& element);

// A whole number, also as 0x10. Nothing for what is none, or is too large.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(const std::string& text);

// kBadInput, with the option's name, for a value that it does not take.
[[nodiscard]] Result<void> check_option(const OptionRow& row, const std::string& value);

}  // namespace graphgate::spec
