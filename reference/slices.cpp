#include "reference/slices.h"

#include <algorithm>

namespace graphgate::reference {
namespace {

std::optional<Sizes> dims_argument(const Call& call) {
  return call.has("dim") ? call.optional_integers("dim") : std::nullopt;
}

bool keepdim_argument(const Call& call) { return call.has("keepdim") && call.boolean("keepdim"); }

}  // namespace

Reduction::Reduction(const Call& call, const Tensor& input)
    : Reduction(input.sizes, dims_argument(call), keepdim_argument(call)) {}

Reduction::Reduction(const Sizes& input, const std::optional<Sizes>& dims, bool keepdim)
    : input_(input), is_reduced_(input.size(), !dims || dims->empty()), steps_(input.size(), 0) {
  const auto rank = static_cast<std::int64_t>(input.size());
  Sizes seen;
  for (const std::int64_t dim : dims.value_or(Sizes{})) {
    const std::int64_t at = wrap_dim(dim, rank);
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) {
      throw OpError("dim " + std::to_string(at) + " appears multiple times in the list of dims");
    }
    seen.push_back(at);
    if (rank > 0) is_reduced_[static_cast<std::size_t>(at)] = true;
  }
  std::int64_t step = 1;
  for (std::size_t d = input.size(); d-- > 0;) {
    if (is_reduced_[d]) {
      slice_length_ *= input[d];
      if (keepdim) sizes_.push_back(1);
      continue;
    }
    steps_[d] = step;
    step *= input[d];
    sizes_.push_back(input[d]);
  }
  std::reverse(sizes_.begin(), sizes_.end());
}

Tensor Reduction::with_dims(const Tensor& input, bool reduced) const {
  Tensor out = input;
  out.sizes.clear();
  out.strides.clear();
  for (std::size_t d = 0; d < input_.size(); ++d) {
    if (is_reduced_[d] != reduced) continue;
    out.sizes.push_back(input.sizes[d]);
    out.strides.push_back(input.strides[d]);
  }
  return out;
}

void Reduction::expect_elements(std::string_view op) const {
  if (slice_length_ > 0 || count_of(sizes_) == 0) return;
  throw OpError(std::string(op) + "(): the reduced dimensions hold no element, and " +
                std::string(op) + " has no identity");
}

Lines::Lines(const Sizes& sizes, std::int64_t dim) {
  const auto at = static_cast<std::size_t>(dim);
  if (!sizes.empty()) length = sizes[at];
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (d < at) outer *= sizes[d];
    if (d > at) step *= sizes[d];
  }
}

std::int64_t line_length(const Tensor& tensor, std::int64_t dim) {
  return tensor.rank() == 0 ? 1 : tensor.sizes[static_cast<std::size_t>(dim)];
}

Tensor line_along(const Tensor& tensor, std::int64_t dim) {
  Tensor out = tensor;
  if (tensor.rank() == 0) return out;
  out.sizes = {tensor.sizes[static_cast<std::size_t>(dim)]};
  out.strides = {tensor.strides[static_cast<std::size_t>(dim)]};
  return out;
}

Tensor beside_line(const Tensor& tensor, std::int64_t dim) {
  Tensor out = tensor;
  if (tensor.rank() == 0) return out;
  out.sizes.erase(out.sizes.begin() + dim);
  out.strides.erase(out.strides.begin() + dim);
  return out;
}

Sizes with_length(Sizes sizes, std::int64_t dim, std::int64_t length) {
  if (!sizes.empty()) sizes[static_cast<std::size_t>(dim)] = length;
  return sizes;
}

}  // namespace graphgate::reference
