// Which values are row-major at every size, whatever the caller passes.
//
// Used by: passes that put one value in the place of another. A program's declared strides are
// no proof: the executor takes inputs of any strides, and pointwise ops hand them on. So this
// follows from what ops make. Products of matrices are row-major, and pointwise results of
// row-major operands are too. An out= argument stays what it is. Inputs, parameters and buffers are
// not known to be row-major.
#pragma once

#include "optimized/passes/graph_index.h"

namespace graphgate::optimized {

class RowMajor {
 public:
  // Near-linear; nodes stand in order, so one sweep decides.
  RowMajor(const spec::Graph& graph, PassContext& context);
  [[nodiscard]] bool operator()(spec::ValueId id) const { return is_known_[id.index]; }
  // Made by an op as a storage of its own, not as a view of another.
  [[nodiscard]] bool is_fresh(spec::ValueId id) const { return is_fresh_[id.index]; }

 private:
  [[nodiscard]] bool out_is_known(const spec::Node& node, const spec::OpRow& row) const;
  [[nodiscard]] bool follows(const spec::Graph& graph, const spec::Node& node,
                             const spec::OpRow& row) const;
  std::vector<bool> is_known_;
  std::vector<bool> is_fresh_;
};

// "aten.add" of "aten.add.Tensor": the op without its overload.
[[nodiscard]] std::string_view family_of_op(std::string_view qualified_name);

}  // namespace graphgate::optimized
