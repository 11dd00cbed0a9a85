// Genes: the flat vector of numbers that a case is a pure function of.
//
// The generator reads genes in order, one full expression after the other. Of two reads in one
// call's arguments, or on both sides of an operator, compilers differ in which comes first. A
// vector that is exhausted reads as zeros. A zero is the simplest choice everywhere, and small
// numbers are simpler than large ones. So RapidCheck, or whoever else shortens or lowers genes,
// comes to a simpler case. The vector is read in blocks of a fixed length, one for each node: what
// a gene means does not depend on how many the node before took.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphgate::fuzz {

using GeneVector = std::vector<std::uint32_t>;

// The genes of the case with this number in the campaign with this seed. The same on every
// platform.
[[nodiscard]] GeneVector genes_of(std::uint64_t seed, std::uint64_t index);

// The first kHeaderGenes are about the case as a whole, kNodeGenes belong to each node behind them.
inline constexpr std::size_t kHeaderGenes = 200;
inline constexpr std::size_t kNodeGenes = 16;
inline constexpr std::size_t kMostNodeBlocks = 64;
// The gene of the header that a case's data is drawn from: inputs and weights, and nothing else.
inline constexpr std::size_t kDataGene = kHeaderGenes - 4;

// The same programs, scenario and configuration with the `set`-th other data; 0: their own.
void choose_data_set(GeneVector& genes, std::uint64_t set);

// Reads genes in order.
class GeneReader {
 public:
  GeneReader() = default;
  explicit GeneReader(std::span<const std::uint32_t> genes) : genes_(genes) {}

  [[nodiscard]] std::uint32_t next() { return at_ < genes_.size() ? genes_[at_++] : 0; }
  // A number from [0, count); 0 if count is 0.
  [[nodiscard]] std::uint32_t below(std::size_t count) {
    const std::uint32_t gene = next();
    return count == 0 ? 0 : gene % static_cast<std::uint32_t>(count);
  }
  // True in `percent` of a hundred; false for a gene of 0, if percent < 100.
  [[nodiscard]] bool chance(std::uint32_t percent) { return next() % 100 >= 100 - percent; }
  template <class T, std::size_t N>
  [[nodiscard]] const T& of(const T (&choices)[N]) {
    return choices[below(N)];
  }
  // The genes of block `index` of `length` genes, counted from `first`.
  [[nodiscard]] GeneReader block(std::size_t first, std::size_t length) const {
    if (first >= genes_.size()) return GeneReader();
    return GeneReader(genes_.subspan(first, std::min(length, genes_.size() - first)));
  }

 private:
  std::span<const std::uint32_t> genes_;
  std::size_t at_ = 0;
};

}  // namespace graphgate::fuzz
