// Gradients of what was taken from planes: every element of a plane adds up what the places that
// were taken from it send back.
#pragma once

#include <algorithm>
#include <utility>

#include "optimized/geometry/planes.h"
#include "optimized/kernel.h"

namespace graphgate::optimized {

// Asks for the workspace that plane_gradient() takes, and makes a result of `sizes` and `strides`
// in the dtype of grad_output. Throws OpError unless grad_output has such planes, and `places`
// elements in each.
inline void make_plane_gradient(Inference& call, int spatial, const Sizes& sizes, Sizes strides,
                                const Extents& places) {
  const Tensor& gradient = call.tensor("grad_output");
  if (gradient.sizes.size() != sizes.size() ||
      !std::equal(sizes.begin(), sizes.end() - spatial, gradient.sizes.begin()) ||
      plane_extents(gradient.sizes, spatial) != places) {
    throw OpError("grad_output has sizes " + print_sizes(gradient.sizes) + " for a result of " +
                  print_sizes(sizes));
  }
  call.want_workspace(scratch_bytes(volume(plane_extents(sizes, spatial))) +
                      scratch_bytes(volume(places)));
  call.make(gradient.dtype, sizes, std::move(strides));
}

// Returns a launch that fills the result plane by plane, with sums in the order of the places.
// send(place, g, add) calls add(position, part) for each element of the result's plane that the
// place was taken from, where `part` is what of its gradient `g`, in the compute type, goes there.
template <class Send>
Launch plane_gradient(const Binding& call, int spatial, Send send) {
  const Tensor& gradient = call.tensor("grad_output");
  const Tensor& result = call.result();
  const Extents out = plane_extents(gradient.sizes, spatial);
  const std::int64_t area = volume(plane_extents(result.sizes, spatial));
  return with_compute(gradient.dtype, [&]<class C>() -> Launch {
    auto* sums = reinterpret_cast<C*>(call.workspace());
    auto* grads = reinterpret_cast<C*>(call.workspace() + scratch_bytes(area));
    return [=, from = Rows(gradient, plane_dims(gradient, spatial)),
            to = Rows(result, plane_dims(result, spatial))] {
      for (std::int64_t p = 0; p < to.count(); ++p) {
        from.load(p, grads);
        std::fill(sums, sums + area, C{0});
        const auto add = [sums](std::int64_t position, C part) { sums[position] += part; };
        for_each_place(out, [&](const Extents& at, std::int64_t i) { send(at, grads[i], add); });
        to.store(p, sums);
      }
    };
  });
}

}  // namespace graphgate::optimized
