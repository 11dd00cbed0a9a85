// Ops without a kernel that are taken apart when a graph is specialized: the sizes are known then,
// and every part is a node like others, which is planned, fused and captured.
//
// They are what PyTorch calls CompositeImplicitAutograd; torch.export leaves them in programs that
// nobody has decomposed.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>

#include "optimized/kernel.h"
#include "spec/graph.h"

namespace graphgate::optimized {

// How the elements of a view are read: as the conjugates or the negatives of what lies there.
enum class Turn : std::uint8_t { kNone, kConjugate, kNegative };

// One node of a composite op while it is taken apart.
class Parts : public KernelCall {
 public:
  // Adds a node to the graph and returns its results, numbers as constants.
  using Step = std::function<std::vector<spec::Argument>(
      const std::string& op, std::vector<spec::NamedArgument> arguments)>;
  using TensorOf = std::function<const Tensor&(spec::ValueId)>;
  using View = std::function<spec::Argument(const Tensor&, Turn)>;
  // The graph that parts go into.
  struct Target {
    Step step;
    TensorOf tensor_of;
    View view;
  };

  // All but the items outlive it.
  Parts(const spec::OpRow& row, std::vector<Item> items,
        const std::vector<spec::NamedArgument>& named, const spec::OpTable& ops,
        const Target& target);

  // The argument of that name as the node has it: a tensor is a value of the graph.
  [[nodiscard]] spec::Argument operator[](std::string_view name) const;
  // The values of a list of tensors. Throws OpError for an empty one.
  [[nodiscard]] std::vector<spec::Argument> values(std::string_view name) const;
  // What is known of a value; the reference ends with the next part or view.
  [[nodiscard]] const Tensor& of(const spec::Argument& value) const;
  // The value that return `index` is written into (in-place and out= forms), if it is.
  [[nodiscard]] std::optional<spec::Argument> written(std::size_t index = 0) const;

  // Adds a part. Arguments go by position in the schema; those that are left out have its defaults.
  // Returns the results.
  [[nodiscard]] std::vector<spec::Argument> all(std::string_view op,
                                                std::vector<spec::Argument> arguments);
  // Returns the first of them.
  [[nodiscard]] spec::Argument run(std::string_view op, std::vector<spec::Argument> arguments);
  // Adds a value without a part: another geometry over the storage that `tensor` names.
  [[nodiscard]] spec::Argument view(const Tensor& tensor, Turn turn = Turn::kNone);

 private:
  const std::vector<spec::NamedArgument>& named_;
  const spec::OpTable& ops_;
  const Target& target_;
};

// Takes a node apart: returns one argument per result, lists for lists of tensors. Throws OpError
// for what PyTorch refuses, Unsupported for what has no parts here.
using TakeApart = std::vector<spec::Argument> (*)(Parts& parts);

// Returns how an op is taken apart; null for ops that are not composite.
[[nodiscard]] TakeApart find_composite(const spec::OpRow& row);

struct CompositeOp {
  std::string_view base_name;
  TakeApart take_apart = nullptr;
  std::optional<std::string_view> only_overload = {};  // the others have kernels
};
// What composite.cpp looks through.
[[nodiscard]] std::span<const CompositeOp> composite_moves();  // elements elsewhere, as they are
[[nodiscard]] std::span<const CompositeOp> composite_arithmetic();  // sums, products, norms
[[nodiscard]] std::span<const CompositeOp> composite_gradients();   // of losses, norms, parts
[[nodiscard]] std::span<const CompositeOp> composite_layers();      // batch norms, windows, grids
[[nodiscard]] std::span<const CompositeOp> composite_linalg();      // norms, decompositions
[[nodiscard]] std::span<const CompositeOp> composite_losses();
[[nodiscard]] std::span<const CompositeOp> composite_complex();  // complex numbers and their parts
[[nodiscard]] std::span<const CompositeOp> composite_recurrent();   // layers over time, cells
[[nodiscard]] std::span<const CompositeOp> composite_slopes();      // gradients of activations
[[nodiscard]] std::span<const CompositeOp> composite_statistics();  // quantiles, covariances

// The same with the results of an out= form in what it writes.
template <TakeApart take_apart>
[[nodiscard]] std::vector<spec::Argument> written_where_asked(Parts& parts) {
  std::vector<spec::Argument> out = take_apart(parts);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto target = parts.written(i);
    if (target) out[i] = parts.run("aten.copy_.default", {*target, out[i]});
  }
  return out;
}

// Integers as an argument.
template <class Integers>
[[nodiscard]] spec::Argument integers_argument(const Integers& integers) {
  spec::Argument::List list;
  for (const std::int64_t integer : integers) list.push_back({integer});
  return {std::move(list)};
}
[[nodiscard]] inline spec::Argument integers_argument(
    std::initializer_list<std::int64_t> integers) {
  return integers_argument<std::initializer_list<std::int64_t>>(integers);
}

}  // namespace graphgate::optimized
