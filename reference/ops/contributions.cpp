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

namespace {

// Sums of complex numbers are those of their parts.
void accumulate_parts(Mode mode, Tensor& target, const std::vector<Picked>& picked,
                      const Tensor& source, const std::vector<std::int64_t>& source_positions,
                      const Accumulation& how) {
  if (how.reduction != Combining::kSum) {
    throw Undecidable("complex numbers that an index reduces are added, or not supported");
  }
  if (source.dtype != target.dtype) throw OpError("expected source and target to have one dtype");
  std::vector<Picked> parts;
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    for (const std::int64_t part : {0, 1}) {
      parts.push_back({2 * picked[i].position + part, picked[i].undecided});
      positions.push_back(2 * source_positions[i] + part);
    }
  }
  Tensor reals = as_components(target);
  accumulate(mode, reals, parts, as_components(source), positions, how);
}

}  // namespace

void accumulate(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
                const std::vector<std::int64_t>& source_positions, const Accumulation& how) {
  if (spec::is_complex(target.dtype)) {
    return accumulate_parts(mode, target, picked, source, source_positions, how);
  }
  with_number(mode, target.dtype, [&]<class N>() {
    const Array<N> elements = load<N>(source, target.dtype);
    std::vector<N> terms;
    terms.reserve(source_positions.size());
    for (const std::int64_t position : source_positions) terms.push_back(elements[position]);
    accumulate(target, picked, terms, how);
  });
}

}  // namespace graphgate::reference
