#include "reference/ops/contributions.h"

namespace graphgate::reference {

Combining reduction_of(std::string_view name) {
  if (name == "sum" || name == "add") return Combining::kSum;
  if (name == "prod" || name == "multiply") return Combining::kProduct;
  if (name == "mean") return Combining::kMean;
  if (name == "amax") return Combining::kLargest;
  if (name == "amin") return Combining::kSmallest;
  throw OpError("reduce argument must be either sum, prod, mean, amax or amin, got " +
                std::string(name));
}

namespace detail {

Whole wrapped(Whole x, spec::DType dtype) { return {wrap_to(x.value, dtype), x.undecided}; }

}  // namespace detail

void accumulate(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
                const std::vector<std::int64_t>& source_positions, const Accumulation& how) {
  with_number(mode, target.dtype, [&]<class N>() {
    const Array<N> elements = load<N>(source, target.dtype);
    std::vector<N> terms;
    terms.reserve(source_positions.size());
    for (const std::int64_t position : source_positions) terms.push_back(elements[position]);
    accumulate(target, picked, terms, how);
  });
}

}  // namespace graphgate::reference
