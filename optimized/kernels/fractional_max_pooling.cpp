// fractional_max_pool2d and fractional_max_pool3d: greatest elements of windows at places that
// samples tell. The sample of a dimension is scaled and cut in the dtype of the elements.
#include "optimized/geometry/planes.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

struct Fractional {
  Extents kernel, in, out;
};

Fractional fractional_of(const KernelCall& call, int spatial) {
  const Tensor& self = call.tensor("self");
  return {spatial_values(call.integers("kernel_size"), spatial, 1),
          plane_extents(self.sizes, spatial),
          spatial_values(call.integers("output_size"), spatial, 1)};
}

template <int spatial>
void infer_fractional(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& samples = call.tensor("random_samples");
  check_planes(self, spatial);
  if (!spec::is_floating_point(self.dtype) || samples.dtype != self.dtype) {
    throw OpError("the elements and the samples are not floats of one dtype");
  }
  const Fractional pool = fractional_of(call, spatial);
  for (std::size_t d = 0; d < kSpatialDims; ++d) {
    const std::int64_t room = pool.in[d] - pool.kernel[d];
    if (pool.kernel[d] < 1 || pool.out[d] < 0 || room < 0 ||
        pool.out[d] > room + (spatial == 2 ? 1 : 0)) {
      throw OpError("windows of " + print_sizes(call.integers("kernel_size")) +
                    " do not fit sizes " + print_sizes(self.sizes));
    }
  }
  const std::int64_t lead = self.rank() - spatial;
  const std::int64_t batch = lead == 2 ? self.sizes[0] : 1;
  if (samples.rank() != 3 || samples.sizes[0] < batch ||
      samples.sizes[1] != self.sizes[at(lead - 1)] || samples.sizes[2] != spatial) {
    throw OpError("samples of sizes " + print_sizes(samples.sizes));
  }
  call.want_workspace(scratch_bytes(volume(pool.in)) + 2 * scratch_bytes(volume(pool.out)));
  const Sizes sizes = with_plane(self, pool.out, spatial);
  call.make(self.dtype, sizes);
  call.make(spec::DType::kInt64, sizes);
}

template <class C>
C held(spec::DType dtype, C x) {
  std::array<std::byte, 8> element{};
  store_element(dtype, x, element.data());
  return load_element<C>(dtype, element.data());
}

// The first elements of the windows along a dimension.
template <class C>
std::vector<std::int64_t> starts_of(spec::DType dtype, C sample, std::int64_t in, std::int64_t out,
                                    std::int64_t kernel) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(out), in - kernel);
  if (out < 2) return starts;
  const C step =
      held(dtype, held(dtype, static_cast<C>(in - kernel)) / held(dtype, static_cast<C>(out - 1)));
  const auto begin = static_cast<std::int64_t>(held(dtype, sample * step));
  for (std::int64_t i = 0; i + 1 < out; ++i) {
    const C shifted = held(dtype, held(dtype, static_cast<C>(i)) + sample);
    const std::int64_t start = static_cast<std::int64_t>(held(dtype, shifted * step)) - begin;
    if (start < 0 || start > in - kernel) {
      throw OpError("a window begins at " + std::to_string(start) + " of " + std::to_string(in));
    }
    starts[static_cast<std::size_t>(i)] = start;
  }
  return starts;
}

template <int spatial>
Launch bind_fractional(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Fractional pool = fractional_of(call, spatial);
  return with_real(self.dtype, [&]<class C>() -> Launch {
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* values = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(pool.in)));
    auto* places = reinterpret_cast<std::int64_t*>(
        call.workspace() + scratch_bytes(volume(pool.in)) + scratch_bytes(volume(pool.out)));
    return [=, dtype = self.dtype, planes = Rows(self, plane_dims(self, spatial)),
            samples = Rows(call.tensor("random_samples"), {2}),
            to_values = Rows(call.result(0), plane_dims(call.result(0), spatial)),
            to_places = Rows(call.result(1), plane_dims(call.result(1), spatial))] {
      const auto read = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        return plane[(z * pool.in[1] + y) * pool.in[2] + x];
      };
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        std::array<C, kSpatialDims> sample{};  // two dimensions: of the width first
        samples.load(p, sample.data());
        if (spatial == 2) sample = {C{0}, sample[1], sample[0]};
        std::array<std::vector<std::int64_t>, kSpatialDims> starts;
        for (std::size_t d = 0; d < kSpatialDims; ++d) {
          starts[d] = starts_of(dtype, sample[d], pool.in[d], pool.out[d], pool.kernel[d]);
        }
        for_each_place(pool.out, [&](const Extents& at, std::int64_t i) {
          element::PlanePart part{{}, {}, {1, 1, 1}, 1};
          for (std::size_t d = 0; d < kSpatialDims; ++d) {
            part.begin[d] = starts[d][static_cast<std::size_t>(at[d])];
            part.end[d] = part.begin[d] + pool.kernel[d];
          }
          const auto best = element::greatest_of_part<C>(read, pool.in, part,
                                                         -std::numeric_limits<C>::infinity());
          values[i] = best.value;
          places[i] = best.place;
        });
        to_values.store(p, values);
        to_places.store(p, places);
      }
    };
  });
}

}  // namespace

std::span<const Kernel> fractional_max_pooling_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.fractional_max_pool2d", infer_fractional<2>, bind_fractional<2>},
      {"aten.fractional_max_pool3d", infer_fractional<3>, bind_fractional<3>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
