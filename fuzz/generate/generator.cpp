#include "fuzz/generate/generator.h"

#include <algorithm>

#include "base/split_mix.h"
#include "fuzz/generate/drawn_program.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// Where the parts of a case have their genes in the header.
constexpr std::size_t kStyleGenes = 24;
constexpr std::size_t kOptionGenes = 32;
constexpr std::size_t kScenarioGenes = 64;
constexpr std::size_t kInputGenes = 24;
constexpr std::size_t kStaticGenes = 4;
constexpr std::size_t kOptionsAt = kStyleGenes;
constexpr std::size_t kScenarioAt = kOptionsAt + kOptionGenes;
constexpr std::size_t kInputsAt = kScenarioAt + kScenarioGenes;
static_assert(kInputsAt + 3 * kInputGenes + kStaticGenes <= kDataGene);

CaseStyle draw_style(GeneReader genes, const Alphabet& alphabet) {
  const auto has = [&](Trait trait) { return genes.chance(alphabet.chance(trait)); };
  CaseStyle style;
  style.has_symbol = has(Trait::kSymbolicSizes);
  style.has_second_symbol = has(Trait::kSecondSymbol);
  style.on_accelerator = has(Trait::kAccelerator);
  style.has_buffer = has(Trait::kBuffer);
  static constexpr std::int64_t kLeast[] = {2, 1};
  static constexpr std::int64_t kMost[] = {64, 16};
  style.least_size = genes.of(kLeast);
  style.most_size = genes.of(kMost);
  // Two sizes, seldom three: what has the same size can take the same place.
  static constexpr std::int32_t kDims[] = {4, 8, 2, 16, 3, 5, 4, 8, 1};
  const std::int32_t first = genes.of(kDims);
  const std::int32_t second = genes.of(kDims);
  style.constant_dims = {first};
  if (second != first) style.constant_dims.push_back(second);
  if (genes.chance(25)) style.constant_dims.push_back(genes.of(kDims));
  static constexpr DType kFirst[] = {DType::kFloat32,  DType::kFloat32, DType::kFloat32,
                                     DType::kFloat32,  DType::kFloat32, DType::kFloat32,
                                     DType::kBFloat16, DType::kFloat16, DType::kFloat64};
  static constexpr DType kSecond[] = {DType::kBFloat16, DType::kFloat16, DType::kFloat64,
                                      DType::kFloat32};
  style.dtypes = {genes.of(kFirst)};
  const DType other = genes.of(kSecond);
  if (has(Trait::kMixedDtypes) && other != style.dtypes.front()) style.dtypes.push_back(other);
  // Half of the cases draw from a part of the families only: they go deeper there.
  const std::uint64_t low = genes.next();
  const std::uint64_t high = genes.next();
  if (genes.chance(50)) style.families = low | high << 32U;
  style.has_empty_size = has(Trait::kEmptySizes);
  return style;
}

}  // namespace

void redraw(GeneVector& genes, CasePart part, std::uint64_t number) {
  const bool is_scenario = part == CasePart::kScenario;
  const std::size_t begin = is_scenario ? kScenarioAt : kOptionsAt;
  const std::size_t count = is_scenario ? kScenarioGenes : kOptionGenes;
  genes.resize(std::max(genes.size(), kHeaderGenes));
  SplitMix64 random(number);
  for (std::size_t i = 0; i < count; ++i)
    genes[begin + i] = static_cast<std::uint32_t>(random.next());
}

spec::CaseFile draw_case(std::span<const std::uint32_t> genes, const Alphabet& alphabet) {
  const GeneReader all(genes);
  GeneReader style_genes = all.block(0, kStyleGenes);
  const CaseStyle style = draw_style(style_genes, alphabet);
  GeneReader few = all.block(kDataGene, kHeaderGenes - kDataGene);
  spec::CaseFile the_case;
  the_case.seed = few.next();
  std::size_t count = 1;
  if (few.chance(alphabet.chance(Trait::kSeveralPrograms))) count = few.chance(25) ? 3 : 2;
  const auto blocks =
      genes.size() > kHeaderGenes ? genes.subspan(kHeaderGenes) : std::span<const std::uint32_t>();
  const std::size_t nodes =
      std::min((blocks.size() + kNodeGenes - 1) / kNodeGenes, kMostNodeBlocks);
  count = std::max<std::size_t>(1, std::min(count, nodes / 2));
  the_case.name = "drawn";
  std::vector<DrawnProgram> programs;
  programs.reserve(count);
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t begin = std::min(nodes * p / count * kNodeGenes, blocks.size());
    const std::size_t end = std::min(nodes * (p + 1) / count * kNodeGenes, blocks.size());
    programs.push_back(draw_program("g" + std::to_string(p), style,
                                    all.block(kInputsAt + p * kInputGenes, kInputGenes),
                                    blocks.subspan(begin, end - begin), alphabet));
  }
  draw_options(all.block(kOptionsAt, kOptionGenes), alphabet, programs, the_case);
  draw_static_inputs(all.block(kDataGene - kStaticGenes, kStaticGenes), alphabet, programs,
                     the_case);
  draw_scenario(all.block(kScenarioAt, kScenarioGenes), alphabet, programs, the_case);
  for (DrawnProgram& program : programs) {
    if (program.has_state) {
      the_case.weights.push_back({program.program.name, spec::SeededData{the_case.seed % 1000}});
    }
    for (const std::string_view row : program.custom_ops) {
      if (std::find(the_case.ops.begin(), the_case.ops.end(), row) == the_case.ops.end()) {
        the_case.ops.emplace_back(row);
      }
    }
    the_case.programs.push_back(std::move(program.program));
  }
  return the_case;
}

}  // namespace graphgate::fuzz
