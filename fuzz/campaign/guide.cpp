#include "fuzz/campaign/guide.h"

#include <algorithm>

#include "base/split_mix.h"

namespace graphgate::fuzz {
void add_to_lineage(Lineage& lineage, const Tally& tally) {
  lineage.open.add(tally);
  lineage.open.forget_results();
  if (lineage.open.cases < kGenerationCases) return;
  lineage.shown.add(lineage.open);
  lineage.open = {};
  ++lineage.generation;
}

std::uint64_t Guide::length_of(const Descent& descent) {
  const auto [at, is_new] = lengths_.try_emplace(descent.index, 0);
  if (is_new) at->second = genes_of(seed_, descent).size();
  return at->second;
}

void Guide::learn(const Tally& shown) {
  std::map<std::uint64_t, std::uint64_t> weights;  // by index
  if (from_ == BreedFrom::kFeatures) {
    // What one case has shown is worth as much as what a thousand have, a thousand times.
    for (const auto& [feature, count] : shown.features) {
      weights[count.first] += (std::uint64_t{1} << 40U) / count.cases;
    }
  } else {
    for (const ScoredCase& scored : shown.best) weights[scored.index] = std::uint64_t{1} << 40U;
  }
  candidates_.clear();
  std::uint64_t sum = 0;
  for (const auto& [index, weight] : weights) {
    Descent descent = shown.descent_of(index);
    if (descent.ancestors.size() >= kMostAncestors) continue;
    // Long cases show more, and take as much longer.
    sum += from_ == BreedFrom::kFeatures ? weight / length_of(descent) : weight;
    candidates_.push_back({sum, std::move(descent)});
  }
}

Descent Guide::descent_of(std::uint64_t index) const {
  SplitMix64 random(seed_ ^ SplitMix64(index).next());
  if (candidates_.empty() || random.next() % 4 == 0) return {index, {}};
  const std::uint64_t at = random.next() % candidates_.back().weight;
  const auto parent = std::upper_bound(
      candidates_.begin(), candidates_.end(), at,
      [](std::uint64_t place, const Candidate& candidate) { return place < candidate.weight; });
  return child_of(parent->descent, index);
}

ShardGuide::ShardGuide(const Breeding& breeding, const Shard& shard, Lineages& lineages)
    : breeding_(breeding), shard_(shard), lineages_(lineages) {
  for (std::uint32_t number = shard.index; number < breeding.lineages; number += shard.count) {
    Guide& guide = guides_.emplace(number, Guide(breeding.seed, breeding.from)).first->second;
    guide.learn(lineages[number].shown);
  }
}

std::uint64_t ShardGuide::drawable_ordinals() const {
  std::uint64_t generation = ~std::uint64_t{0};
  for (const auto& [number, lineage] : lineages_) {
    generation = std::min(generation, lineage.generation);
  }
  return shard_.size((generation + 1) * kGenerationCases * breeding_.lineages);
}

Descent ShardGuide::descent_of(std::uint64_t index) const {
  return guides_.at(static_cast<std::uint32_t>(index % breeding_.lineages)).descent_of(index);
}

void ShardGuide::add(std::uint32_t number, const Tally& tally) {
  Lineage& lineage = lineages_.at(number);
  const std::uint64_t generation = lineage.generation;
  add_to_lineage(lineage, tally);
  if (lineage.generation > generation) guides_.at(number).learn(lineage.shown);
}

}  // namespace graphgate::fuzz
