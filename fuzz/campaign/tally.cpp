#include "fuzz/campaign/tally.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace graphgate::fuzz {
namespace {

std::uint64_t hash_of_number(std::uint64_t number, std::uint64_t seed) {
  std::uint64_t z = seed ^ number;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;  // SplitMix64's finish
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

void add_first(std::vector<std::uint64_t>& first, std::uint64_t index) {
  const auto place = std::lower_bound(first.begin(), first.end(), index);
  first.insert(place, index);
  if (first.size() > kFirstCases) first.pop_back();
}

// Whether the tally names a case now that it did not, and whether it no longer names another.
struct Naming {
  bool is_named = false;
  bool is_instead = false;
  void note(const Naming& other) {
    is_named = is_named || other.is_named;
    is_instead = is_instead || other.is_instead;
  }
};

// To a sum whose other fields are those of the first case.
template <class Key, class Count>
Naming add_count(std::map<Key, Count>& sums, const Key& key, const Count& count) {
  const auto [at, is_new] = sums.try_emplace(key, count);
  if (is_new) return {true, false};
  Count& sum = at->second;
  const std::uint64_t cases = sum.cases + count.cases;
  const bool is_earlier = count.first < sum.first;
  if (is_earlier) sum = count;
  sum.cases = cases;
  return {is_earlier, is_earlier};
}

Naming add_signature(Tally& tally, const std::string& name, const SignatureCount& count) {
  const auto [at, is_new] = tally.signatures.try_emplace(name, count);
  if (is_new) return {true, false};
  SignatureCount& sum = at->second;
  const bool is_earlier = count.first.front() < sum.first.front();
  if (is_earlier) {
    sum.outcome = count.outcome;
    sum.message = count.message;
    sum.nodes = count.nodes;
  }
  sum.cases += count.cases;
  for (const std::uint64_t index : count.first) add_first(sum.first, index);
  return {is_earlier, is_earlier};
}

Naming add_scored(Tally& tally, const ScoredCase& scored) {
  const auto is_better = [](const ScoredCase& a, const ScoredCase& b) {
    return std::tie(a.score, b.index) > std::tie(b.score, a.index);
  };
  const auto place = std::lower_bound(tally.best.begin(), tally.best.end(), scored, is_better);
  if (place == tally.best.end() && tally.best.size() == kBestCases) return {};
  tally.best.insert(place, scored);
  if (tally.best.size() <= kBestCases) return {true, false};
  tally.best.pop_back();
  return {true, true};
}

// Forgets where cases come from that nothing names.
void forget_ancestors(Tally& tally) {
  if (tally.ancestors.empty()) return;
  std::set<std::uint64_t> named;
  for (const auto& [feature, count] : tally.features) named.insert(count.first);
  for (const auto& [name, count] : tally.signatures) named.insert(count.first.front());
  for (const auto& [name, count] : tally.inconclusive) named.insert(count.first);
  for (const ScoredCase& scored : tally.best) named.insert(scored.index);
  std::erase_if(tally.ancestors, [&](const auto& bred) { return !named.contains(bred.first); });
}

}  // namespace

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

std::uint64_t digest_of(const CaseVerdict& verdict) {
  std::uint64_t hash = hash_of_number(verdict.index, hash_of(verdict.signature));
  hash = hash_of_number(verdict.content, hash);
  hash = hash_of_number(static_cast<std::uint64_t>(verdict.outcome), hash);
  for (const std::string& node : verdict.nodes) hash = hash_of(node, hash);
  for (const std::uint32_t feature : verdict.features) hash = hash_of_number(feature, hash);
  return hash;
}

void Tally::add(const CaseVerdict& verdict) {
  ++cases;
  ++outcomes[static_cast<std::size_t>(verdict.outcome)];
  BlockSum& block = blocks[verdict.index / kBlockCases];
  ++block.cases;
  block.digest += digest_of(verdict);
  Naming naming;
  for (const std::uint32_t feature : verdict.features) {
    naming.note(add_count(features, feature, FeatureCount{1, verdict.index}));
  }
  if (verdict.score > 0) naming.note(add_scored(*this, {verdict.score, verdict.index}));
  if (!verdict.signature.empty()) {
    naming.note(
        add_signature(*this, verdict.signature,
                      {verdict.outcome, 1, {verdict.index}, verdict.message, verdict.nodes}));
  }
  if (!verdict.inconclusive.empty()) {
    naming.note(add_count(inconclusive, verdict.inconclusive,
                          InconclusiveCount{1, verdict.index, verdict.message}));
  }
  if (naming.is_named && !verdict.ancestors.empty()) ancestors[verdict.index] = verdict.ancestors;
  if (naming.is_instead) forget_ancestors(*this);
}

void Tally::add(const Tally& other) {
  cases += other.cases;
  for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i] += other.outcomes[i];
  for (const auto& [number, sum] : other.blocks) {
    BlockSum& block = blocks[number];
    block.cases += sum.cases;
    block.digest += sum.digest;
  }
  for (const auto& [name, count] : other.signatures) add_signature(*this, name, count);
  for (const auto& [name, count] : other.inconclusive) add_count(inconclusive, name, count);
  for (const auto& [feature, count] : other.features) add_count(features, feature, count);
  for (const ScoredCase& scored : other.best) add_scored(*this, scored);
  ancestors.insert(other.ancestors.begin(), other.ancestors.end());
  forget_ancestors(*this);
}

Descent Tally::descent_of(std::uint64_t index) const {
  const auto bred = ancestors.find(index);
  return {index, bred == ancestors.end() ? std::vector<std::uint64_t>() : bred->second};
}

void Tally::forget_results() {
  blocks.clear();
  signatures.clear();
  inconclusive.clear();
  forget_ancestors(*this);
}

}  // namespace graphgate::fuzz
