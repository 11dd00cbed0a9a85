// What cases have shown changes what is drawn next.
//
// Two ways, both for one process alone: cases that come of them are functions of their genes and of
// an alphabet that no seed and index gives again, so whoever keeps one keeps it as a file.
//
// - Feedback: weights of ops. An op whose cases show something new is drawn more often, one whose
//   cases show nothing new for long less often, down to a fraction of its usual weight.
// - GenePool: genes. New vectors are made from those that showed something new (or had the highest
//   score): some blocks are drawn anew, others are copied, dropped or doubled.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/harness/split_mix.h"
#include "fuzz/alphabet.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

class Feedback {
 public:
  explicit Feedback(Alphabet usual);
  // A case was judged; it showed so many features that no case before did.
  void note(const spec::CaseFile& the_case, std::size_t novel);
  [[nodiscard]] const Alphabet& alphabet() const { return now_; }

 private:
  void reweigh();

  struct Share {
    double cases = 0;
    double novel = 0;
  };
  Alphabet usual_;
  Alphabet now_;
  std::vector<Share> shares_;  // by row
  std::uint32_t since_ = 0;
};

class GenePool {
 public:
  explicit GenePool(std::uint64_t seed) : random_(seed) {}
  // Keeps the genes if `merit` is among the best: new features, or a score. Ties go to the newer.
  void offer(const GeneVector& genes, double merit);
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  // A changed copy of some that are kept; the pool must not be empty.
  [[nodiscard]] GeneVector next();
  [[nodiscard]] double best() const;

 private:
  struct Kept {
    GeneVector genes;
    double merit = 0;
  };
  std::vector<Kept> kept_;
  conformance::SplitMix64 random_;
};

}  // namespace graphgate::fuzz
