// Ops that PyTorch itself composes of other ops, step by step, as its Python source has them: each
// step runs the body of its op on tensors of its own.
//
//   const Composition run(call);
//   const TensorRef scaled = run("aten.mul.Tensor", {{input}, {2.0}});
//
// Steps promote, broadcast, round and lay out as they do in a program; a bound follows them as it
// follows nodes. For ops whose rules are such a list of steps, and no others: an op that a kernel
// computes at once rounds less often.
#pragma once

#include <string_view>
#include <vector>

#include "reference/registry.h"

namespace graphgate::reference {

class Composition {
 public:
  explicit Composition(const Call& call) : mode_(call.mode()) {}

  // The results of `op`, a qualified name. Arguments go by position; those that are left out have
  // the schema's defaults.
  [[nodiscard]] std::vector<Datum> all(std::string_view op, std::vector<Datum> arguments) const;
  // The first of them.
  [[nodiscard]] Datum datum(std::string_view op, std::vector<Datum> arguments) const {
    return all(op, std::move(arguments)).front();
  }
  // The same of ops that give a tensor.
  [[nodiscard]] TensorRef operator()(std::string_view op, std::vector<Datum> arguments) const {
    return *datum(op, std::move(arguments)).as<TensorRef>();
  }

 private:
  Mode mode_;
};

// Integers as an argument: sizes, dimensions.
[[nodiscard]] inline Datum list_of(const Sizes& integers) {
  Datum::List out;
  for (const std::int64_t integer : integers) out.push_back({integer});
  return {std::move(out)};
}
// Tensors as an argument.
[[nodiscard]] inline Datum list_of(const std::vector<TensorRef>& tensors) {
  Datum::List out;
  for (const TensorRef& tensor : tensors) out.push_back({tensor});
  return {std::move(out)};
}

}  // namespace graphgate::reference
