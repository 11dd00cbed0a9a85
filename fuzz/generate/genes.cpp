#include "fuzz/generate/genes.h"

#include "base/split_mix.h"

namespace graphgate::fuzz {
namespace {

// How many nodes: mostly some twenty, now and then very few or very many.
std::size_t draw_node_blocks(SplitMix64& random) {
  const std::uint64_t draw = random.next();
  const auto within = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::size_t>(least + (draw >> 32U) % (most - least + 1));
  };
  switch (draw % 8) {
    case 0:
      return within(1, 8);
    case 1:
    case 2:
      return within(6, 16);
    case 3:
      return within(24, kMostNodeBlocks);
    default:
      return within(12, 28);
  }
}

}  // namespace

GeneVector genes_of(std::uint64_t seed, std::uint64_t index) {
  SplitMix64 of_index(index + 1);
  SplitMix64 random(seed ^ of_index.next());
  const std::size_t count = kHeaderGenes + kNodeGenes * draw_node_blocks(random);
  GeneVector genes(count);
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t bits = random.next();
    genes[i] = static_cast<std::uint32_t>(bits);
    if (i + 1 < count) genes[i + 1] = static_cast<std::uint32_t>(bits >> 32U);
  }
  return genes;
}

void choose_data_set(GeneVector& genes, std::uint64_t set) {
  if (set == 0 || genes.size() <= kDataGene) return;
  const std::uint64_t of_case = std::uint64_t{genes[kDataGene]} << 32U;
  genes[kDataGene] = static_cast<std::uint32_t>(SplitMix64(of_case ^ set).next());
}

}  // namespace graphgate::fuzz
