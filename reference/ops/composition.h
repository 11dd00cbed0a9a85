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

// Steps that many compositions have.
[[nodiscard]] inline TensorRef to_dtype(const Composition& run, const TensorRef& tensor,
                                        spec::DType dtype) {
  return run("aten.to.dtype", {{tensor}, {dtype}});
}
[[nodiscard]] inline TensorRef reshaped(const Composition& run, const TensorRef& tensor,
                                        const Sizes& sizes) {
  return run("aten.reshape.default", {{tensor}, list_of(sizes)});
}
[[nodiscard]] inline TensorRef transposed(const Composition& run, const TensorRef& tensor,
                                          std::int64_t a, std::int64_t b) {
  return run("aten.transpose.int", {{tensor}, {a}, {b}});
}
[[nodiscard]] inline TensorRef unsqueezed(const Composition& run, const TensorRef& tensor,
                                          std::int64_t dim) {
  return run("aten.unsqueeze.default", {{tensor}, {dim}});
}
// Elements [start, end) along `dim`; both may count from the end.
[[nodiscard]] inline TensorRef part(const Composition& run, const TensorRef& tensor,
                                    std::int64_t dim, std::int64_t start, std::int64_t end) {
  return run("aten.slice.Tensor", {{tensor}, {dim}, {start}, {end}});
}
[[nodiscard]] inline TensorRef sum_of(const Composition& run, const TensorRef& tensor,
                                      const Sizes& dims, bool keeps) {
  return run("aten.sum.dim_IntList", {{tensor}, list_of(dims), {keeps}});
}

}  // namespace graphgate::reference
