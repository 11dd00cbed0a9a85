// Maximum pooling over windows of one size whose beginnings a random sample tells.
//
// A dimension of `in` elements gets `out` windows of k. Their beginnings lie alpha = (in - k) /
// (out - 1) apart, shifted by the sample u: the i-th is floor((i + u) alpha) - floor(u alpha), and
// the last window ends with the dimension. PyTorch computes in the input's dtype, each step rounded
// to it.
#include <array>
#include <limits>

#include "reference/number/left_open.h"
#include "reference/ops/open_order.h"
#include "reference/ops/window.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The arithmetic is PyTorch's, which decides ties: exact here.
Sizes window_starts(double sample, std::int64_t in, std::int64_t out, std::int64_t kernel,
                    DType dtype) {
  Sizes starts(static_cast<std::size_t>(out), in - kernel);
  if (out < 2) return starts;
  const auto held = [dtype](double x) { return round_to_dtype(x, dtype); };
  const auto whole = [&](std::int64_t n) { return held(static_cast<double>(n)); };
  const double alpha = held(whole(in - kernel) / whole(out - 1));
  const std::int64_t shift = to_whole(held(sample * alpha)).value;
  for (std::int64_t i = 0; i + 1 < out; ++i) {
    const std::int64_t at = to_whole(held(held(sample + whole(i)) * alpha)).value;
    // Beyond the input where the sample is no number in [0, 1).
    const bool is_inside = at >= shift && at - shift <= in - kernel && shift >= 0;
    if (!is_inside) {
      throw OpError("fractional_max_pool: a sample puts a window outside of the input");
    }
    starts[static_cast<std::size_t>(i)] = at - shift;
  }
  return starts;
}

// The greatest of a window: of equal elements the first, of NaNs the last.
template <class N>
struct WindowMaximum {
  N value;
  Whole place;
};
template <class N>
WindowMaximum<N> window_maximum(const N* plane, const Sizes& in, const Sizes& low,
                                const Sizes& kernel) {
  std::vector<N> offered;
  std::vector<std::int64_t> places;
  Sizes high = low;
  for (std::size_t d = 0; d < low.size(); ++d) high[d] += kernel[d];
  N value = -std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for_each_in_box(in, low, high, Sizes(low.size(), 1), [&](std::int64_t position) {
    const N& x = plane[position];
    const bool is_first = offered.empty();
    if (is_first || is_nan(x).value != 0 || less(offered[best], x).value != 0) {
      best = offered.size();
    }
    value = is_first ? x : maximum(value, x);
    offered.push_back(x);
    places.push_back(position);
  });
  return {value, {places[best], has_rival(std::span<const N>(offered), best, false)}};
}

// Samples are [N, C, dimensions]: the last dimension's is the first of two; of three dimensions
// each has its own in their order.
std::int64_t sample_of(std::size_t d, std::size_t rank) {
  return static_cast<std::int64_t>(rank == 2 ? 1 - d : d);
}

void check_samples(const Tensor& samples, const Tensor& self, std::size_t rank) {
  if (samples.dtype != self.dtype) {
    throw OpError("expect _random_samples to have the same dtype as input");
  }
  const auto at = self.sizes.end() - static_cast<std::ptrdiff_t>(rank) - 1;
  const std::int64_t batch = self.sizes.size() == rank + 2 ? self.sizes.front() : 1;
  if (samples.rank() != 3 || samples.sizes[0] < batch || samples.sizes[1] != *at ||
      samples.sizes[2] != static_cast<std::int64_t>(rank)) {
    throw OpError("_random_samples must have a number for each dimension of each channel");
  }
}

void fractional_max_pool(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const Tensor& samples = *call.tensor("random_samples");
  const Sizes in = spatial_sizes(self, rank);
  const Sizes kernel = per_dimension(call.integers("kernel_size"), rank, "kernel_size");
  const Sizes out = per_dimension(call.integers("output_size"), rank, "output_size");
  if (!spec::is_floating_point(self.dtype)) throw OpError("fractional_max_pool wants floats");
  for (std::size_t d = 0; d < rank; ++d) {
    // In three dimensions PyTorch wants one window more to fit.
    const std::int64_t room = in[d] - kernel[d];
    if (kernel[d] < 1 || out[d] < 0 || room < 0 || out[d] > room + (rank == 2 ? 1 : 0)) {
      throw OpError("fractional_max_pool: the windows are too large relative to the input");
    }
  }
  check_samples(samples, self, rank);
  const bool is_known = is_decided(samples);  // else nobody knows which windows there are
  const Array<double> random = load<double>(samples, self.dtype);
  const Planes planes = planes_of(self, rank);
  const std::int64_t channels = samples.sizes[1];
  const Sizes sizes = with_spatial(self.sizes, out);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, self.dtype);
    Array<N> values(sizes);
    Array<Whole> places(sizes);
    std::int64_t i = 0;
    for (std::int64_t plane = 0; plane < planes.count; ++plane) {
      const std::int64_t batch = self.sizes.size() == rank + 2 ? plane / channels : 0;
      std::vector<Sizes> starts;
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t at =
            (batch * channels + plane % channels) * static_cast<std::int64_t>(rank) +
            sample_of(d, rank);
        starts.push_back(
            window_starts(is_known ? random[at] : 0.0, in[d], out[d], kernel[d], self.dtype));
      }
      for_each_index(out, [&](const Sizes& index) {
        Sizes low(rank);
        for (std::size_t d = 0; d < rank; ++d) {
          low[d] = starts[d][static_cast<std::size_t>(index[d])];
        }
        const auto most = window_maximum(x.data.data() + plane * planes.area_in, in, low, kernel);
        values[i] = is_known ? most.value : left_open(most.value);
        places[i++] = is_known ? most.place : left_open(most.place);
      });
    }
    call.emit(values, self.dtype);
    call.emit(places, DType::kInt64);
  });
}
void fractional_max_pool2d(Call& call) { fractional_max_pool(call, 2); }
void fractional_max_pool3d(Call& call) { fractional_max_pool(call, 3); }

constexpr std::array kFractionalMaxPoolingOps = {
    OpBody{"aten.fractional_max_pool2d", fractional_max_pool2d},
    OpBody{"aten.fractional_max_pool3d", fractional_max_pool3d},
};

}  // namespace

std::span<const OpBody> fractional_max_pooling_ops() { return kFractionalMaxPoolingOps; }

}  // namespace graphgate::reference
