// What cases came to, as sums that can be taken in any order.
//
// A worker hands back a tally for each batch, a campaign adds them up, `fuzz merge` adds up
// campaigns: whoever ran which case when, the sum is the same. It is small however many cases
// there were: what is kept of a case itself is a share of a digest, which tells whether two tallies
// are equal case for case.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/generate/descent.h"
#include "spec/outcome.h"
#include "spec/text_lexer.h"

namespace graphgate::fuzz {

// One judged case. Features and signatures are what features.h and signature.h make of it.
struct CaseVerdict {
  std::uint64_t index = 0;
  std::uint64_t content = 0;  // a hash of what was drawn
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string signature;  // of the finding; empty: none
  // What leaves it neither good nor bad, "UNDECIDED B5.undecided"; empty: nothing.
  std::string inconclusive;
  std::string message;  // of the finding, or of what leaves it so; one line
  std::vector<std::string> nodes;
  std::vector<std::uint32_t> features;
  std::vector<std::uint64_t> ancestors;  // Descent::ancestors
  double score = 0;                      // what a search is after; 0: nothing of it
};

// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t hash_of(std::string_view bytes,
                                    std::uint64_t seed = 0xcbf29ce484222325U);
// Of everything in the verdict but the words of its message.
[[nodiscard]] std::uint64_t digest_of(const CaseVerdict& verdict);

// The cases [block * kBlockCases, (block + 1) * kBlockCases) that ran.
inline constexpr std::uint64_t kBlockCases = 4096;
struct BlockSum {
  std::uint64_t cases = 0;
  std::uint64_t digest = 0;  // the sum of the cases' digests, modulo 2^64
  friend bool operator==(const BlockSum&, const BlockSum&) = default;
};

struct FeatureCount {
  std::uint64_t cases = 0;
  std::uint64_t first = 0;  // the least index
  friend bool operator==(const FeatureCount&, const FeatureCount&) = default;
};

// The cases of one signature. `message` and `nodes` are those of the first.
inline constexpr std::size_t kFirstCases = 16;
struct SignatureCount {
  spec::Outcome outcome = spec::Outcome::kFail;
  std::uint64_t cases = 0;
  std::vector<std::uint64_t> first;  // the least indices, at most kFirstCases, ascending
  std::string message;
  std::vector<std::string> nodes;
  friend bool operator==(const SignatureCount&, const SignatureCount&) = default;
};

// The cases that one outcome and rule leave neither good nor bad. `message` is that of the first.
struct InconclusiveCount {
  std::uint64_t cases = 0;
  std::uint64_t first = 0;  // the least index
  std::string message;
  friend bool operator==(const InconclusiveCount&, const InconclusiveCount&) = default;
};

// The cases with the highest scores, highest first; of equal ones the least index first.
inline constexpr std::size_t kBestCases = 64;
struct ScoredCase {
  double score = 0;
  std::uint64_t index = 0;
  friend bool operator==(const ScoredCase&, const ScoredCase&) = default;
};

struct Tally {
  std::uint64_t cases = 0;
  std::array<std::uint64_t, spec::kOutcomeCount> outcomes{};
  std::map<std::uint64_t, BlockSum> blocks;
  std::map<std::string, SignatureCount> signatures;
  std::map<std::string, InconclusiveCount> inconclusive;  // by CaseVerdict::inconclusive
  std::map<std::uint32_t, FeatureCount> features;
  std::vector<ScoredCase> best;  // at most kBestCases
  // Of the bred cases that are named above: the first of a feature, of a signature, of what is
  // inconclusive, the best.
  std::map<std::uint64_t, std::vector<std::uint64_t>> ancestors;

  void add(const CaseVerdict& verdict);
  void add(const Tally& other);
  // Keeps counts, features and scores: nothing of signatures, of what is inconclusive, of digests.
  void forget_results();
  // Of a case that is named above.
  [[nodiscard]] Descent descent_of(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t count(spec::Outcome outcome) const {
    return outcomes[static_cast<std::size_t>(outcome)];
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

// Lines "outcome PASS 12", "block 0 12 8317", "signature "..." FAIL 3 at 7 9 12 nodes "add"
// message "..."", "inconclusive "..." 4 at 6 message "..."", "feature 17 3 at 7", "best 2.5 at 9",
// "bred 9 from 3 5".
[[nodiscard]] std::string print_tally(const Tally& tally);
// Digits without a sign, in 64 bits, or "expected WHAT".
[[nodiscard]] Result<std::uint64_t> take_number(spec::TextReader& reader, std::string_view what);
// Takes one such line, or returns false where the reader stands at another word.
[[nodiscard]] Result<bool> take_tally_line(spec::TextReader& reader, Tally& tally);

}  // namespace graphgate::fuzz
