// How ops treat rows: for each op, when every row of its results depends on the same row of its
// operands alone.
//
//   pointwise            rows stay where they are
//   sum over dim 1       of f32[s0, 4]: each row is summed for itself
//   sum over dim 0       mixes rows: refused
//   mm of f32[s0, 4]     each row of the left factor gives one of the result
//   view as [12*s0, 7]   a row is twelve indices then: still whole
//
// A rule looks at the declared types of operands and results (row_dim.h) and at constant arguments.
// It speaks for one node; padding.cpp walks the graph, and watches storages and numbers. Ops
// without a rule mix rows, for all that is known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "optimized/analysis/row_dim.h"
#include "optimized/kernel.h"
#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

// What is known of a tensor of the graph. `rows` is absent where its sizes do not depend on the
// symbol, and then neither do its elements. `is_row_number`: each element is the number of its row.
struct RowFact {
  const spec::TensorType* type = nullptr;
  std::optional<RowDim> rows;
  bool is_row_number = false;
};

// Why rows cannot be added behind the last one, and what kind of op stands in the way.
struct Refusal {
  enum class Kind : std::uint8_t { kMixesRows, kScatters, kWritesState, kOther };
  Kind kind = Kind::kOther;
  std::string why;
};

// A node as a rule sees it.
class RowCall {
 public:
  using FactOf = std::function<const RowFact*(spec::ValueId)>;  // null for what is no tensor
  RowCall(const spec::OpRow& row, const spec::Node& node, FactOf fact_of);

  [[nodiscard]] const spec::OpRow& row() const { return row_; }
  // By the schema's name: null for None, and for what the schema lacks.
  [[nodiscard]] const RowFact* tensor(std::string_view name) const;
  [[nodiscard]] std::vector<const RowFact*> tensors(std::string_view name) const;
  // Every tensor that an argument, or a list in one, names.
  [[nodiscard]] const std::vector<const RowFact*>& operands() const { return operands_; }
  [[nodiscard]] const std::vector<const RowFact*>& results() const { return results_; }
  // Constant arguments, defaults included; nothing where None or not constant.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  // A lone integer is a list of one; elements that are not constant are absent.
  [[nodiscard]] std::optional<std::vector<std::optional<std::int64_t>>> integers(
      std::string_view name) const;
  [[nodiscard]] const spec::Argument* argument(std::string_view name) const;

 private:
  [[nodiscard]] const spec::SchemaDefault* default_of(std::string_view name) const;

  const spec::OpRow& row_;
  const spec::Node& node_;
  FactOf fact_of_;
  std::vector<const RowFact*> operands_;
  std::vector<const RowFact*> results_;
};

// That of the op's kernel, else what its tags say; null for ops that nothing is known of. `ops`: an
// in-place form follows its functional one.
[[nodiscard]] RowRule find_row_rule(const spec::OpRow& row, const spec::OpTable& ops);

// Arguments that may depend on the symbol without harm: they state sizes, which types tell anyway.
[[nodiscard]] bool is_size_argument(const spec::OpRow& row, std::string_view argument);

// The result numbers the rows (arange(s0)), or passes such numbers on.
[[nodiscard]] bool makes_row_numbers(const RowCall& call);

}  // namespace graphgate::optimized
