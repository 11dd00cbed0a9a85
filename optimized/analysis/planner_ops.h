// The op table as the planner reads it.
//
// It is the program's, but with the deviation ignores_undeclared_writes: then ops write what their
// schema declares and nothing else. The runtime always has the program's: values stay what they
// are.
#pragma once

#include <optional>

#include "spec/deviation.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

class PlannerOps {
 public:
  // `ops` outlives it, and it outlives every SizedGraph that is made with it.
  PlannerOps(const spec::OpTable& ops, const spec::DeviationSet& deviations);

  [[nodiscard]] const spec::OpTable& table() const { return declared_ ? *declared_ : ops_; }

 private:
  const spec::OpTable& ops_;
  std::optional<spec::OpTable> declared_;
};

}  // namespace graphgate::optimized
