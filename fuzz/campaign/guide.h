// Guided campaigns: what cases have shown decides which cases later ones are bred from.
//
// Cases are drawn by generations: those whose index divided by the size of a generation gives the
// same. A generation is drawn from the sum of all generations before it, and sums do not depend on
// who ran what when. So a case is a function of seed and index, and of what earlier generations
// showed. Each draws some cases blindly, and breeds the others (descent.h).
//
//   generation 0 ──sum──> shown ──parents──> generation 1 ──sum──> shown ──parents──> ...
//
// A campaign may have several lineages, that learn nothing of each other: index i belongs to
// lineage i % lineages. A shard has whole lineages, so shards need not know of each other.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fuzz/campaign/shard.h"
#include "fuzz/campaign/tally.h"
#include "fuzz/generate/descent.h"

namespace graphgate::fuzz {

inline constexpr std::uint64_t kGenerationCases = 256;  // of one lineage

// One lineage: generations that are complete, and the one that is not.
struct Lineage {
  std::uint64_t generation = 0;  // how many are complete
  Tally shown;                   // by them
  Tally open;                    // by the cases of the next that have run
  friend bool operator==(const Lineage&, const Lineage&) = default;
};
using Lineages = std::map<std::uint32_t, Lineage>;

// Adds what cases of the lineage's open generation came to; closes the generation when that was its
// last. Keeps what parents are chosen by, and nothing else.
void add_to_lineage(Lineage& lineage, const Tally& tally);

enum class BreedFrom : std::uint8_t {
  kFeatures,  // cases of features that few have shown
  kScores,    // those of the highest scores
};

// Chooses parents; all of it follows from the sums that it was told last.
class Guide {
 public:
  Guide(std::uint64_t seed, BreedFrom from) : seed_(seed), from_(from) {}
  void learn(const Tally& shown);
  // The case of this index, in the generation after those that the sums are of.
  [[nodiscard]] Descent descent_of(std::uint64_t index) const;

 private:
  struct Candidate {
    std::uint64_t weight = 0;  // of it and of all before it
    Descent descent;
  };
  [[nodiscard]] std::uint64_t length_of(const Descent& descent);

  std::uint64_t seed_;
  BreedFrom from_;
  std::vector<Candidate> candidates_;
  std::map<std::uint64_t, std::uint64_t> lengths_;  // how many genes the case of an index has
};

struct Breeding {
  std::uint64_t seed = 0;
  BreedFrom from = BreedFrom::kFeatures;
  std::uint32_t lineages = 1;  // of the campaign; a multiple of the number of shards
};

// The lineages of one shard while its campaign goes on.
class ShardGuide {
 public:
  // `lineages` is what the campaign's state knows of them, and outlives this.
  ShardGuide(const Breeding& breeding, const Shard& shard, Lineages& lineages);
  // The shard's cases below this ordinal can be drawn: all that they descend from has run.
  [[nodiscard]] std::uint64_t drawable_ordinals() const;
  [[nodiscard]] Descent descent_of(std::uint64_t index) const;
  // Cases of one lineage, all of its open generation, have run.
  void add(std::uint32_t lineage, const Tally& tally);

 private:
  Breeding breeding_;
  Shard shard_;
  Lineages& lineages_;
  std::map<std::uint32_t, Guide> guides_;
};

}  // namespace graphgate::fuzz
