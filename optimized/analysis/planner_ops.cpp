#include "optimized/analysis/planner_ops.h"

namespace graphgate::optimized {

PlannerOps::PlannerOps(const spec::OpTable& ops, const spec::DeviationSet& deviations) : ops_(ops) {
  if (!deviations.has(spec::Deviation::kIgnoresUndeclaredWrites)) return;
  std::string text;
  for (const auto& [name, row] : ops.rows()) {
    spec::OpRow declared = *row;
    declared.undeclared_writes.clear();
    text += spec::print_row(declared) + "\n";
  }
  declared_.emplace();
  GRAPHGATE_CHECK(declared_->add_text(text, "declared").ok());
}

}  // namespace graphgate::optimized
