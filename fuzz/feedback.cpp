#include "fuzz/feedback.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace graphgate::fuzz {
namespace {

constexpr std::uint32_t kCasesBetween = 64;  // reweighings
constexpr double kForgetting = 0.9;          // what counts is the recent past
constexpr std::uint32_t kScale = 16;         // weights grow and shrink in steps of a sixteenth
constexpr std::size_t kMostKept = 64;

// "aten.add_.Tensor" -> "aten.add".
std::string_view base_of(std::string_view op) {
  op = op.substr(0, op.rfind('.'));
  if (op.ends_with('_')) op.remove_suffix(1);
  return op;
}

}  // namespace

Feedback::Feedback(Alphabet usual)
    : usual_(std::move(usual)), now_(usual_), shares_(usual_.rows().size()) {}

void Feedback::note(const spec::CaseFile& the_case, std::size_t novel) {
  std::set<std::string_view> ops;
  for (const spec::Program& program : the_case.programs) {
    for (const spec::Node& node : program.graph.nodes) {
      ops.insert(node.op);
      ops.insert(base_of(node.op));
    }
  }
  for (std::size_t r = 0; r < shares_.size(); ++r) {
    if (!ops.contains(usual_.rows()[r].op->name)) continue;
    shares_[r].cases += 1;
    shares_[r].novel += static_cast<double>(novel);
  }
  if (++since_ < kCasesBetween) return;
  since_ = 0;
  reweigh();
}

// Each row's novelty for a case, beside the mean of all: half as much for none, up to eight times.
void Feedback::reweigh() {
  double cases = 0;
  double novel = 0;
  for (const Share& share : shares_) {
    cases += share.cases;
    novel += share.novel;
  }
  const double mean = cases > 0 ? novel / cases : 0;
  for (std::size_t r = 0; r < shares_.size(); ++r) {
    Share& share = shares_[r];
    // Rows that were hardly drawn are taken for good ones.
    const double rate = mean > 0 ? (share.novel + 4 * mean) / ((share.cases + 1) * mean) : 1;
    const double factor = std::clamp(rate, 0.5, 8.0);
    const std::uint32_t usual = usual_.rows()[r].weight;
    now_.set_weight(r, usual == 0 ? 0
                                  : std::max<std::uint32_t>(
                                        1, static_cast<std::uint32_t>(usual * kScale * factor)));
    share.cases *= kForgetting;
    share.novel *= kForgetting;
  }
}

void GenePool::offer(const GeneVector& genes, double merit) {
  if (kept_.size() >= kMostKept && merit < kept_.back().merit) return;
  const auto place = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& other) { return other.merit <= merit; });
  kept_.insert(place, {genes, merit});
  if (kept_.size() > kMostKept) kept_.pop_back();
}

double GenePool::best() const { return kept_.empty() ? 0 : kept_.front().merit; }

GeneVector GenePool::next() {
  const auto draw = [this] { return static_cast<std::uint32_t>(random_.next() >> 32U); };
  GeneVector genes = kept_[draw() % kept_.size()].genes;
  const std::uint32_t changes = 1 + draw() % 4;
  for (std::uint32_t c = 0; c < changes; ++c) {
    const std::size_t blocks = (genes.size() - std::min(genes.size(), kHeaderGenes)) / kNodeGenes;
    const std::size_t at = kHeaderGenes + (blocks > 0 ? draw() % blocks : 0) * kNodeGenes;
    const auto begin = genes.begin() + static_cast<std::ptrdiff_t>(std::min(at, genes.size()));
    switch (draw() % 6) {
      case 0:  // one gene of the header
        if (!genes.empty()) genes[draw() % std::min(genes.size(), kHeaderGenes)] = draw();
        break;
      case 1:
      case 2:  // a node drawn anew
        for (std::size_t g = 0; blocks > 0 && g < kNodeGenes; ++g) genes[at + g] = draw();
        break;
      case 3:  // one gene of a node
        if (blocks > 0) genes[at + draw() % kNodeGenes] = draw();
        break;
      case 4:  // a node less
        if (blocks > 1) genes.erase(begin, begin + static_cast<std::ptrdiff_t>(kNodeGenes));
        break;
      default: {  // a node more
        if (blocks >= kMostNodeBlocks) break;
        GeneVector block(kNodeGenes);
        for (std::uint32_t& gene : block) gene = draw();
        genes.insert(begin, block.begin(), block.end());
        break;
      }
    }
  }
  return genes;
}

}  // namespace graphgate::fuzz
