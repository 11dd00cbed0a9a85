// Deviations: decisions that an executor makes wrongly, or as one upstream version made them, on
// request.
//
// Each stands for a bug that users of partitioned CUDA-graph executors met. An executor is asked
// for deviations by name; it consults each at exactly one place. A deviation alters a decision (a
// cut, a place, an order, a key), never a value: where nothing depends on the decision, the bits
// are those of a right run. An executor that has no such decision refuses the name.
//
// Profiles of upstream versions are sets of these, and `graphgate mutants` plants them one by one.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace graphgate::spec {

// In the order of the catalogue: partition, mutation, buffer reuse, capture and replay, dynamic
// shapes, cache, fusion; then the wrapper that compiles once, dispatch, and sleep.
enum class Deviation : std::uint8_t {
  kTailAllocationsByGraphOutputs,
  kSignatureOmitsFrees,
  kSignatureIgnoresMutations,
  kSignatureFiltersRemoved,
  kCapturesNodesWithoutOrigin,
  kCapturesUnbackedSymbols,
  kGraphKeyDropsSymbol,
  kBindsPlainSymbolsOnly,
  kSymbolsFromSizesOnly,
  kCapturesHostScalars,
  kEagerResultsAreStatic,
  kDynamicByOutputOnly,
  kAnySymbolIsUnsafe,
  kEmptyCaptureSucceeds,
  kIgnoresPartitionOption,
  kCacheKeyIsPositional,
  kAssumesASymbolIndex,
  kDeadCodeDropsTokens,
  kReordersByReadsOnly,
  kRecomputesDependencesFromBody,
  kPrunesWeakDependences,
  kFusesReaderWithScatter,
  kWritesBeforePendingReaders,
  kPendingReadersByName,
  kDeadCodeDropsAliasWrites,
  kConsumerReadsOldVersion,
  kReinplacesOverlaps,
  kStaleBaseForSiblings,
  kIgnoresReturnedAlias,
  kWarmUpMutates,
  kOwnOutputIsStatic,
  kOutputsOffByMutations,
  kReplaysReboundState,
  kIgnoresUndeclaredWrites,
  kForksWithoutAliasTest,
  kNoInputOverlapCheck,
  kMatchesAcrossMutations,
  kOutputByExactName,
  kReusesInvertedRanges,
  kInPlaceOverRemoved,
  kFreesTwice,
  kKeyWithoutAlignment,
  kAllocatedTestedLate,
  kMutationBlocksReuse,
  kReuseWithoutPeakTest,
  kKeyWithoutDevice,
  kKeyWithoutDtype,
  kKeyWithoutLayout,
  kPersistentDiesAtLastUse,
  kLifetimesTouchWrongly,
  kOffsetsFromHints,
  kOneFreeListAcrossArms,
  kWeakOutputInSharedPool,
  kNoGenerationCheck,
  kFreesBlocksOfLiveGraphs,
  kWorkspaceOfFirstCapturer,
  kStateAddressesUnchecked,
  kEagerOutputNotCopied,
  kPlansOnlyInWarmUp,
  kPadsThroughReductions,
  kPadsThroughScatters,
  kPadsThroughState,
  kKeepsStaleTail,
  kGraphKeyDropsMode,
  kFreesOnMainStream,
  kStridesRecomputed,
  kRangeSpecializedToEnd,
  kDropsGuards,
  kSliceEndMinusOneIsFull,
  kBakesNumbers,
  kSkipsDtypeCheck,
  kKeyDropsEnvironment,
  kKeyDropsPassOptions,
  kKeyDropsRange,
  kKeyIsShapeOnly,
  kKeyDropsSplitOps,
  kKeyByOpName,
  kRanksShareFolder,
  kWritesInPlace,
  kKeyDropsGuards,
  kSavesBeforeSuccess,
  kSkipsValidationOnHit,
  kRealizationMovesRounding,
  kFusesMixedDtypes,
  kElidesCastPairs,
  kPassDropsOutput,
  kEpsilonOfFirstMatch,
  kAutotunesWithoutStream,
  kRecompilesSilently,
  kForgetsRecompiles,
  kRelaidResultsStay,
  kCapturesWrittenState,
  kClosesEncoderRange,
  kServesForeignBundle,
  kFullWithoutSupport,
  kIgnoresQueryLength,
  kRequestsAboveTheCap,
  kLorasUnrounded,
  kRunsWhileAsleep,
  kWakesWithoutContents,
  kSleepLosesBuffers,
  kReplaysWhereItSlept,
  kReplaysDroppedGraphs,
  kSleepsOverHeldOutputs,
};

struct DeviationRow {
  Deviation deviation;
  std::string_view name;       // "signature_omits_frees"
  std::string_view catalogue;  // the row of docs/deviations.md: P2
  std::string_view link;       // the upstream issue or change: "pytorch#165815"
  std::string_view what;       // what the executor does, in words
};

// In the order of the enumeration.
[[nodiscard]] std::span<const DeviationRow> deviations();
[[nodiscard]] const DeviationRow& row_of(Deviation deviation);
[[nodiscard]] std::optional<Deviation> find_deviation(std::string_view name);

class DeviationSet {
 public:
  [[nodiscard]] bool has(Deviation deviation) const {
    return bits_.test(static_cast<std::size_t>(deviation));
  }
  void add(Deviation deviation) { bits_.set(static_cast<std::size_t>(deviation)); }
  void remove(Deviation deviation) { bits_.reset(static_cast<std::size_t>(deviation)); }
  [[nodiscard]] bool empty() const { return bits_.none(); }
  friend bool operator==(const DeviationSet&, const DeviationSet&) = default;

 private:
  std::bitset<128> bits_;
};

}  // namespace graphgate::spec
