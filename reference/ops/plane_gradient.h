// Gradients of ops that take each result from some elements of a plane: what every result was taken
// from gets its part of the result's gradient, and the parts that meet are added.
#pragma once

#include <utility>

#include "reference/ops/contributions.h"
#include "reference/ops/window.h"

namespace graphgate::reference {

// Returns an array of `sizes` whose last `rank` dimensions are planes. parts_of(place, send) is
// called for each place of a plane of `gradient`. It calls send(position, part) for each element of
// the plane that the place was taken from: part(g) is what of the gradient g goes there. They are
// added in any order, in the gradient's dtype where `partials` says so. Throws OpError where the
// tensors have other planes than each other.
template <class N, class PartsOf>
Array<N> plane_gradient(const Tensor& gradient, const Sizes& sizes, std::size_t rank,
                        Partials partials, PartsOf parts_of) {
  if (gradient.sizes.size() != sizes.size() ||
      !std::equal(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(rank),
                  gradient.sizes.begin())) {
    throw OpError("grad_output has other planes than the result");
  }
  const Accumulation how{Combining::kSum, partials};
  const Array<N> from = load<N>(gradient, gradient.dtype);
  const Sizes places = spatial_sizes(gradient, rank);
  const std::int64_t area =
      count_of({sizes.end() - static_cast<std::ptrdiff_t>(rank), sizes.end()});
  const std::int64_t planes = planes_of(gradient, rank).count;
  Array<N> out(sizes, N(0));
  std::int64_t i = 0;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    std::vector<detail::Slot<N>> sums(container_size({area}));
    for_each_index(places, [&](const Sizes& place) {
      parts_of(place, [&](std::int64_t position, const auto& part) {
        sums[static_cast<std::size_t>(position)].add(part(from[i]), how, gradient.dtype);
      });
      ++i;
    });
    for (std::int64_t p = 0; p < area; ++p) {
      const N sum = sums[static_cast<std::size_t>(p)].result(how, gradient.dtype);
      if constexpr (std::is_same_v<N, Whole>) {
        out[plane * area + p] = sum;
      } else {
        out[plane * area + p] = held_in(sum, gradient.dtype);
      }
    }
  }
  return out;
}

}  // namespace graphgate::reference
