// Maximum pooling. Padding never wins; of equal elements the first counts, of NaNs the last.
// Indices are positions in the input's plane.
#include <algorithm>
#include <array>
#include <limits>

#include "reference/ops/contributions.h"
#include "reference/ops/norm_parameters.h"
#include "reference/ops/open_order.h"
#include "reference/ops/window.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

template <class N>
struct Pooled {
  Array<N> values;
  Array<Whole> indices;
};

// The largest element among positions of a plane.
template <class N>
class Best {
 public:
  explicit Best(const N* plane) : plane_(plane) {}

  void offer(std::int64_t position) {
    const N& x = plane_[position];
    const bool is_first = offered_.empty();
    if (is_first || is_nan(x).value != 0 || less(offered_[best_], x).value != 0) {
      best_ = offered_.size();
    }
    value_ = is_first ? x : maximum(value_, x);
    offered_.push_back(x);
    positions_.push_back(position);
  }
  [[nodiscard]] bool is_empty() const { return offered_.empty(); }
  [[nodiscard]] const N& value() const { return value_; }
  [[nodiscard]] Whole index() const {
    return {positions_[best_], has_rival(std::span<const N>(offered_), best_, false)};
  }

 private:
  const N* plane_;
  std::vector<N> offered_;
  std::vector<std::int64_t> positions_;
  std::size_t best_ = 0;  // in these
  N value_ = {};
};

// What a window without any element gives: the lowest value, at the place of its first tap.
template <class N>
N lowest(DType dtype) {
  if constexpr (std::is_same_v<N, Whole>) {
    const bool is_signed = dtype != DType::kUInt8 && dtype != DType::kBool;
    const auto bits = static_cast<int>(8 * spec::item_size_bytes(dtype));
    return is_signed ? INT64_MIN >> (64 - bits) : 0;
  } else {
    return -std::numeric_limits<double>::infinity();
  }
}

// box_of(index of an output, low, high, step) gives the box of its window.
template <class N, class BoxOf>
Pooled<N> pool_boxes(const Tensor& self, const Sizes& out_sizes, BoxOf box_of) {
  const std::size_t rank = out_sizes.size();
  const Planes planes = planes_of(self, rank);
  const Sizes in = spatial_sizes(self, rank);
  const Array<N> x = load<N>(self, self.dtype);
  const Sizes sizes = with_spatial(self.sizes, out_sizes);
  Pooled<N> out{Array<N>(sizes), Array<Whole>(sizes)};
  std::int64_t i = 0;
  for (std::int64_t plane = 0; plane < planes.count; ++plane) {
    for_each_index(out_sizes, [&](const Sizes& index) {
      Sizes low(rank), high(rank), step(rank, 1);
      box_of(index, low, high, step);
      Best<N> best(x.data.data() + plane * planes.area_in);
      for_each_in_box(in, low, high, step, [&](std::int64_t position) { best.offer(position); });
      std::int64_t first = 0;
      for (std::size_t d = 0; d < rank; ++d) first = first * in[d] + low[d];
      out.values[i] = best.is_empty() ? lowest<N>(self.dtype) : best.value();
      out.indices[i++] = best.is_empty() ? Whole(first) : best.index();
    });
  }
  return out;
}

// Box of a dilated window, cut to the input: its first element is the first tap inside.
void window_box(const Window& window, const Sizes& index, Sizes& low, Sizes& high, Sizes& step) {
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t dilation = window.dilation[d];
    const std::int64_t start = window.start(d, index[d]);
    const std::int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
    low[d] = start + skipped * dilation;
    high[d] = std::min(start + (window.kernel[d] - 1) * dilation + 1, window.in[d]);
    step[d] = dilation;
  }
}

// Of images, those of their format; with indices a line counts as an image of height 1. Else none:
// contiguous.
Sizes pooled_strides(const Tensor& self, const Window& window, bool with_indices) {
  const std::size_t rank = window.in.size();
  if (self.sizes.size() != rank + 2) return {};
  const Sizes sizes = with_spatial(self.sizes, window.out);
  if (rank > 1) return image_strides(self, sizes);
  if (!with_indices) return {};
  Tensor image = self;  // geometry alone
  image.sizes.insert(image.sizes.end() - 1, 1);
  image.strides.insert(image.strides.end() - 1, self.sizes.back() * self.strides.back());
  Sizes strides = image_strides(image, with_spatial(image.sizes, {1, window.out[0]}));
  strides.erase(strides.end() - 2);
  return strides;
}

void max_pool(Call& call, std::size_t rank, bool with_indices) {
  const Tensor& self = *call.tensor("self");
  const Window window(call, self, rank);
  const Sizes placed = pooled_strides(self, window, with_indices);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const auto box_of = [&](const Sizes& index, Sizes& low, Sizes& high, Sizes& step) {
      window_box(window, index, low, high, step);
    };
    const Pooled<N> out = pool_boxes<N>(self, window.out, box_of);
    call.emit(out.values, self.dtype, placed);
    if (with_indices) call.emit(out.indices, DType::kInt64, placed);
  });
}
// The kernel without indices gives contiguous results; the other takes the line for an image.
void max_pool1d(Call& call) {
  if (!spec::is_floating_point(call.tensor("self")->dtype))
    throw OpError("max_pool1d wants floats");
  max_pool(call, 1, false);
}
void max_pool1d_with_indices(Call& call) { max_pool(call, 1, true); }
void max_pool2d(Call& call) { max_pool(call, 2, false); }
void max_pool2d_with_indices(Call& call) { max_pool(call, 2, true); }
void max_pool3d(Call& call) { max_pool(call, 3, false); }
void max_pool3d_with_indices(Call& call) { max_pool(call, 3, true); }

void adaptive_max_pool(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const Sizes out_sizes = adaptive_output(call, rank);
  const Sizes in = spatial_sizes(self, rank);
  if (count_of(in) == 0) throw OpError("adaptive_max_pool: the input has an empty plane");
  const Sizes sizes = with_spatial(self.sizes, out_sizes);
  const Sizes strides = rank == 2 ? image_strides(self, sizes) : spec::contiguous_strides(sizes);
  with_real(call.mode(), [&]<class N>() {
    const auto box_of = [&](const Sizes& index, Sizes& low, Sizes& high, Sizes&) {
      for (std::size_t d = 0; d < rank; ++d) {
        low[d] = index[d] * in[d] / out_sizes[d];
        high[d] = ((index[d] + 1) * in[d] + out_sizes[d] - 1) / out_sizes[d];
      }
    };
    const Pooled<N> out = pool_boxes<N>(self, out_sizes, box_of);
    call.emit(out.values, self.dtype, strides);
    call.emit(out.indices, DType::kInt64, strides);
  });
}
void adaptive_max_pool2d(Call& call) { adaptive_max_pool(call, 2); }
void adaptive_max_pool3d(Call& call) { adaptive_max_pool(call, 3); }

// Each gradient goes to its maximum's place; those that meet there are added in the dtype itself,
// one rounding each, as PyTorch's CPU kernel does, in any order. An undecided index leaves its
// whole plane open.
void emit_maxima_gradient(Call& call, std::size_t rank, const Sizes& strides) {
  const Tensor& self = *call.tensor("self");
  const Planes planes = planes_of(self, rank);
  const Tensor& indices = *call.tensor("indices");
  const Array<Whole> places = load<Whole>(indices, DType::kInt64);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> grad = load<N>(*call.tensor("grad_output"), self.dtype);
    const bool fits = grad.sizes == places.sizes && planes_of(indices, rank).count == planes.count;
    if (!fits) throw OpError("max_pool backward: sizes do not agree");
    const Accumulation how{Combining::kSum, Partials::kOwnDtype};
    std::vector<detail::Slot<N>> sums(container_size(self.sizes));
    std::vector<bool> is_open(static_cast<std::size_t>(planes.count));
    const std::int64_t area =
        std::max<std::int64_t>(1, planes.count == 0 ? 0 : grad.count() / planes.count);
    for (std::int64_t i = 0; i < grad.count(); ++i) {
      const std::int64_t first = i / area * planes.area_in;
      if (places[i].value < 0 || places[i].value >= planes.area_in) {
        throw OpError("max_pool backward: an index is outside the plane");
      }
      sums[static_cast<std::size_t>(first + places[i].value)].add(grad[i], how, self.dtype);
      if (places[i].undecided) is_open[static_cast<std::size_t>(i / area)] = true;
    }
    Array<N> out(self.sizes, N(0));
    for (std::int64_t p = 0; p < out.count(); ++p) {
      const N sum = sums[static_cast<std::size_t>(p)].result(how, self.dtype);
      out[p] = is_open[static_cast<std::size_t>(p / planes.area_in)] ? left_open(sum) : sum;
    }
    call.emit(out, self.dtype, strides);
  });
}
template <std::size_t rank>
void max_pool_backward(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_maxima_gradient(call, rank, image_strides(self, self.sizes));
}
template <std::size_t rank>
void adaptive_max_pool_backward(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes strides =
      rank == 2 ? image_strides(self, self.sizes) : spec::contiguous_strides(self.sizes);
  emit_maxima_gradient(call, rank, strides);
}

constexpr std::array kMaxPoolingOps = {
    OpBody{"aten.adaptive_max_pool2d", adaptive_max_pool2d},
    OpBody{"aten.adaptive_max_pool2d_backward", adaptive_max_pool_backward<2>},
    OpBody{"aten.adaptive_max_pool3d", adaptive_max_pool3d},
    OpBody{"aten.adaptive_max_pool3d_backward", adaptive_max_pool_backward<3>},
    OpBody{"aten.max_pool1d", max_pool1d},
    OpBody{"aten.max_pool1d_with_indices", max_pool1d_with_indices},
    OpBody{"aten.max_pool2d", max_pool2d},
    OpBody{"aten.max_pool2d_with_indices", max_pool2d_with_indices},
    OpBody{"aten.max_pool2d_with_indices_backward", max_pool_backward<2>},
    OpBody{"aten.max_pool3d", max_pool3d},
    OpBody{"aten.max_pool3d_with_indices", max_pool3d_with_indices},
    OpBody{"aten.max_pool3d_with_indices_backward", max_pool_backward<3>},
};

}  // namespace

std::span<const OpBody> max_pooling_ops() { return kMaxPoolingOps; }

}  // namespace graphgate::reference
