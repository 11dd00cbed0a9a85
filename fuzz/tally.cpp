#include "fuzz/tally.h"

#include <algorithm>

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

void add_feature(Tally& tally, std::uint32_t feature, const FeatureCount& count) {
  const auto [at, is_new] = tally.features.try_emplace(feature, count);
  if (is_new) return;
  at->second.cases += count.cases;
  at->second.first = std::min(at->second.first, count.first);
}

void add_signature(Tally& tally, const std::string& name, const SignatureCount& count) {
  const auto [at, is_new] = tally.signatures.try_emplace(name, count);
  if (is_new) return;
  SignatureCount& sum = at->second;
  if (count.first.front() < sum.first.front()) {
    sum.outcome = count.outcome;
    sum.message = count.message;
    sum.nodes = count.nodes;
  }
  sum.cases += count.cases;
  for (const std::uint64_t index : count.first) add_first(sum.first, index);
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
  for (const std::uint32_t feature : verdict.features) {
    add_feature(*this, feature, {1, verdict.index});
  }
  if (verdict.signature.empty()) return;
  add_signature(*this, verdict.signature,
                {verdict.outcome, 1, {verdict.index}, verdict.message, verdict.nodes});
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
  for (const auto& [feature, count] : other.features) add_feature(*this, feature, count);
}

}  // namespace graphgate::fuzz
