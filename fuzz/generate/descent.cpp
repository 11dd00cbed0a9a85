#include "fuzz/generate/descent.h"

#include <algorithm>

#include "base/result.h"
#include "base/split_mix.h"

namespace graphgate::fuzz {
namespace {

// Changes genes at random: single ones, or all of a part, which then come from a blind draw.
class Breeder {
 public:
  Breeder(std::uint64_t seed, std::uint64_t index)
      : random_(seed ^ SplitMix64(~index).next()), fresh_(genes_of(seed, index)) {}

  // A child of these genes, which is not just the same.
  GeneVector child_of(const GeneVector& parent) {
    GeneVector genes = parent;
    change(genes);
    while (genes == parent) change_little(genes);
    return genes;
  }

 private:
  // Whatever else changes, a case keeps the genes of its header, or those of nodes.
  void change(GeneVector& genes) {
    switch (draw() % 4) {
      case 0:  // other options, another scenario, other sizes
        replace(genes, 0, kHeaderGenes);
        return;
      case 1:  // other nodes
        genes.resize(std::min(genes.size(), kHeaderGenes));
        append(genes, kHeaderGenes);
        return;
      case 2: {  // other nodes behind some of the parent's
        const std::size_t kept = kHeaderGenes + draw() % (blocks(genes) + 1) * kNodeGenes;
        genes.resize(std::min(genes.size(), kept));
        append(genes, kept);
        return;
      }
      default:
        break;
    }
    const std::uint32_t changes = 1 + draw() % 4;
    for (std::uint32_t c = 0; c < changes; ++c) change_little(genes);
  }

  [[nodiscard]] std::uint32_t draw() { return static_cast<std::uint32_t>(random_.next() >> 32U); }
  [[nodiscard]] static std::size_t blocks(const GeneVector& genes) {
    return (genes.size() - std::min(genes.size(), kHeaderGenes)) / kNodeGenes;
  }
  void replace(GeneVector& genes, std::size_t begin, std::size_t end) const {
    for (std::size_t g = begin; g < std::min({end, genes.size(), fresh_.size()}); ++g) {
      genes[g] = fresh_[g];
    }
  }
  void append(GeneVector& genes, std::size_t begin) const {
    const std::size_t most = kHeaderGenes + kMostNodeBlocks * kNodeGenes;
    for (std::size_t g = begin; g < std::min(fresh_.size(), most); ++g) genes.push_back(fresh_[g]);
  }

  void change_little(GeneVector& genes) {
    const std::size_t count = blocks(genes);
    const std::size_t at = kHeaderGenes + (count > 0 ? draw() % count : 0) * kNodeGenes;
    const auto begin = genes.begin() + static_cast<std::ptrdiff_t>(std::min(at, genes.size()));
    switch (draw() % 6) {
      case 0:  // one gene of the header
        if (!genes.empty()) genes[draw() % std::min(genes.size(), kHeaderGenes)] = draw();
        break;
      case 1:
      case 2:  // a node drawn anew
        for (std::size_t g = 0; count > 0 && g < kNodeGenes; ++g) genes[at + g] = draw();
        break;
      case 3:  // one gene of a node
        if (count > 0) genes[at + draw() % kNodeGenes] = draw();
        break;
      case 4:  // a node less
        if (count > 1) genes.erase(begin, begin + static_cast<std::ptrdiff_t>(kNodeGenes));
        break;
      default: {  // a node more
        if (count >= kMostNodeBlocks) break;
        GeneVector block(kNodeGenes);
        for (std::uint32_t& gene : block) gene = draw();
        genes.insert(begin, block.begin(), block.end());
        break;
      }
    }
  }

  SplitMix64 random_;
  GeneVector fresh_;
};

}  // namespace

Descent child_of(const Descent& parent, std::uint64_t index) {
  Descent child{index, parent.ancestors};
  child.ancestors.push_back(parent.index);
  return child;
}

GeneVector genes_of(std::uint64_t seed, const Descent& descent) {
  if (descent.ancestors.empty()) return genes_of(seed, descent.index);
  GeneVector genes = genes_of(seed, descent.ancestors.front());
  for (std::size_t a = 1; a < descent.ancestors.size(); ++a) {
    genes = Breeder(seed, descent.ancestors[a]).child_of(genes);
  }
  return Breeder(seed, descent.index).child_of(genes);
}

GeneVector genes_of(std::uint64_t seed, const Descent& descent, std::uint64_t data_sets) {
  if (data_sets <= 1) return genes_of(seed, descent);
  GRAPHGATE_CHECK(descent.ancestors.empty());
  GeneVector genes = genes_of(seed, descent.index / data_sets);
  choose_data_set(genes, descent.index % data_sets);
  return genes;
}

}  // namespace graphgate::fuzz
