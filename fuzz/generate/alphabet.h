// What is drawn how often: weights of ops, and chances of what a case may have besides.
//
// `graphgate fuzz --ops a=5,b --exclude c` makes one (parse_alphabet). A case is a function
// of its genes and its alphabet. An alphabet is a generator's: rows and traits say which was the
// first to draw them, and older ones have none of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fuzz/generate/family.h"
#include "fuzz/generate/genes.h"

namespace graphgate::fuzz {

// Generators. What a line (version, seed, index) stands for depends on the version: whoever changes
// what genes mean raises it. Lines of those from kOldestGenerator on are drawn as they were.
inline constexpr int kGeneratorVersion = 13;
inline constexpr int kOldestGenerator = 3;

// What a case may have, each with a chance in percent.
enum class Trait : std::uint8_t {
  kSymbolicSizes,  // the leading size is only known in calls
  kSecondSymbol,
  kAccelerator,      // values on cuda, some in host memory
  kSeveralPrograms,  // that share a pool, mostly
  kMixedDtypes,
  kBuffer,
  kSplitOps,  // option split-op
  kCuts,      // other options that cut: max-partition, cut-after...
  kMemory,    // options of memory planning
  kStreams,
  kPadding,  // capture sizes, between which calls lie
  kModes,
  kPasses,  // passes off
  kCache,   // a folder of plans, and restarts
  kWeakOutputs,
  kPoison,
  kHeldOutputs,
  kFeedBack,
  kSwappedWeights,
  kSharedInputs,  // inputs over the same bytes
  kExactData,
  kSpecialData,  // NaN, infinities, -0, subnormal numbers
  kCallModes,
  kEmptySizes,    // a dimension of 0 among the sizes that shapes are made of
  kStaticInputs,  // an input that calls pass at one address
  kRareOptions,   // sizes compiled apart, ops whose results are unaligned...
  kWrapper,       // the model is compiled once, ahead of time too
  kDispatch,      // what attention supports, requests, adapters; calls that say so
  kMovedInputs,   // calls pass inputs that begin some elements behind their storage's beginning
  kSleep,         // memory is given back between calls, and taken again
};
inline constexpr std::size_t kTraitCount = 30;
[[nodiscard]] std::string_view trait_name(Trait trait);

class Alphabet {
 public:
  // Every op of the families with its usual weight, every trait with its usual chance; none that
  // `generator` does not know.
  explicit Alphabet(int generator = kGeneratorVersion);

  struct Row {
    const DrawnOp* op = nullptr;
    std::uint16_t family = 0;
    std::uint32_t weight = 0;
  };
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] std::uint32_t chance(Trait trait) const {
    return chances_[static_cast<std::size_t>(trait)];
  }
  void set_chance(Trait trait, std::uint32_t percent) {
    chances_[static_cast<std::size_t>(trait)] = percent;
  }
  // 0: never drawn. All weights 0: pointwise addition is drawn all the same.
  void set_weight(std::size_t row, std::uint32_t weight);
  // The row of this gene.
  [[nodiscard]] const Row& draw(std::uint32_t gene) const;

 private:
  std::vector<Row> rows_;
  std::vector<std::uint32_t> ends_;  // running sums of the weights
  std::array<std::uint32_t, kTraitCount> chances_{};
};

// What a subject does not take, as its greeting says.
struct SubjectLimits {
  std::vector<std::string> devices;      // the types that it has; empty: as many as there are
  std::vector<std::string> not_wrapped;  // namespaces: their ops not in auto_functionalized_v2
  std::vector<std::string> ops;          // that it takes, "aten.add.Tensor"; empty: all
};
// The families, ops and traits that are not drawn for it: names with commas between them, as
// parse_alphabet takes them; empty for one that has no limits. An op is drawn where one of its
// overloads is taken. One that is drawn in place or with `out` is a form of the op that is not.
[[nodiscard]] std::string not_drawn_for(const SubjectLimits& limits);

// `ops`: names with commas between them, each with a weight behind `=` or without (then 4): these
// alone are drawn. A name is an op's ("aten.add"), a family's ("view"), or a trait's, whose number
// is a chance in percent. `exclude`: names of ops, families and traits that are not drawn. Both may
// be empty. kBadInput names what there is not.
[[nodiscard]] Result<Alphabet> parse_alphabet(std::string_view ops, std::string_view exclude,
                                              int generator = kGeneratorVersion);

}  // namespace graphgate::fuzz
