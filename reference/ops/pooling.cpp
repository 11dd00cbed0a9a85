// Average pooling: sums in float32 for 16-bit dtypes (but see Sums), one rounding at the end.
#include <algorithm>
#include <array>

#include "reference/number/sum.h"
#include "reference/ops/contributions.h"
#include "reference/ops/norm_parameters.h"
#include "reference/ops/plane_gradient.h"
#include "reference/ops/window.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

inline Whole quotient(Whole total, std::int64_t n) { return truncated_quotient(total, Whole(n)); }
template <class N>
N quotient(const N& total, std::int64_t n) {
  return total / N(static_cast<double>(n));
}

// A box of a plane, and what its sum is divided by, factor by factor.
struct Box {
  Sizes low;
  Sizes high;
  Sizes divisors;
};

// The elements' sum divided by each divisor in turn.
template <class N>
N average_of(const std::vector<N>& elements, const Sizes& divisors) {
  Sum<N> total;
  for (const N& x : elements) total.add(x);
  N value = total.result();
  for (const std::int64_t divisor : divisors) value = quotient(value, divisor);
  return value;
}

// The same, where every partial sum, in any order, and every quotient is a number of `dtype`.
template <class N>
N average_within(const std::vector<N>& elements, const Sizes& divisors, DType dtype) {
  if (compute_dtype(dtype) == dtype) return average_of(elements, divisors);
  const Accumulation how{Combining::kSum, Partials::kOwnDtype};
  detail::Slot<N> total;
  for (const N& x : elements) total.add(x, how, dtype);
  N value = held_in(total.result(how, dtype), dtype);
  for (const std::int64_t divisor : divisors) value = held_in(quotient(value, divisor), dtype);
  return value;
}

// out[plane][o] = average(elements of the box, its divisors), where box_of(index of o) gives the
// box.
template <class N, class BoxOf, class Average>
Array<N> average_boxes(const Tensor& self, const Sizes& out_sizes, BoxOf box_of, Average average) {
  const std::size_t rank = out_sizes.size();
  const Planes planes = planes_of(self, rank);
  const Sizes in = spatial_sizes(self, rank);
  const Sizes step(rank, 1);
  const Array<N> x = load<N>(self, self.dtype);
  Array<N> out(with_spatial(self.sizes, out_sizes));
  std::int64_t i = 0;
  for (std::int64_t plane = 0; plane < planes.count; ++plane) {
    for_each_index(out_sizes, [&](const Sizes& index) {
      const Box box = box_of(index);
      std::vector<N> elements;
      for_each_in_box(in, box.low, box.high, step, [&](std::int64_t position) {
        elements.push_back(x[plane * planes.area_in + position]);
      });
      out[i++] = average(elements, box.divisors);
    });
  }
  return out;
}

// --- avg_pool ---

// The window of an output, cut to the input; padding counts as elements when asked, but only up to
// the padded end.
Box window_box(const Window& window, const Sizes& index, bool counts_padding) {
  Box box;
  std::int64_t padded = 1;
  std::int64_t inside = 1;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t low = window.start(d, index[d]);
    const std::int64_t high = std::min(low + window.kernel[d], window.in[d] + window.padding[d]);
    box.low.push_back(std::max<std::int64_t>(low, 0));
    box.high.push_back(std::min(high, window.in[d]));
    padded *= high - low;
    inside *= std::max<std::int64_t>(box.high.back() - box.low.back(), 0);
  }
  box.divisors = {counts_padding ? padded : inside};
  return box;
}

// A line as an image of height 1.
TensorRef as_image(const Tensor& line) {
  if (line.rank() != 2 && line.rank() != 3) {
    throw OpError("pooling in one dimension: expected a tensor of 2 or 3 dimensions");
  }
  Sizes sizes = line.sizes;
  Sizes strides = line.strides;
  sizes.insert(sizes.end() - 1, 1);
  strides.insert(strides.end() - 1, line.sizes.back() * line.strides.back());
  return view_of(line, sizes, strides, line.offset);
}
// The strides that a result of an image has, without those of its height of 1.
Sizes line_strides(const Tensor& line, std::int64_t length) {
  const TensorRef image = as_image(line);
  Sizes strides = image_strides(*image, with_spatial(image->sizes, {1, length}));
  strides.erase(strides.end() - 2);
  return strides;
}

// The boxes of the call's windows, by the index of an output.
class WindowBoxes {
 public:
  WindowBoxes(const Call& call, const Tensor& self, std::size_t rank)
      : window_(call, self, rank), counts_padding_(call.boolean("count_include_pad")) {
    if (call.has("divisor_override")) divisor_ = call.optional_integer("divisor_override");
    if (divisor_ && *divisor_ == 0) throw OpError("avg_pool: the divisor must not be zero");
  }
  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] Box operator()(const Sizes& index) const {
    Box box = window_box(window_, index, counts_padding_);
    if (divisor_) box.divisors = {*divisor_};
    return box;
  }

 private:
  Window window_;
  bool counts_padding_;
  std::optional<std::int64_t> divisor_;
};

void avg_pool(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const WindowBoxes boxes(call, self, rank);
  const Window& window = boxes.window();
  const Sizes sizes = with_spatial(self.sizes, window.out);
  const Sizes strides = rank == 1   ? line_strides(self, window.out[0])
                        : rank == 2 ? image_strides(self, sizes)
                                    : spec::contiguous_strides(sizes);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    call.emit(average_boxes<N>(self, window.out, boxes, average_of<N>), self.dtype, strides);
  });
}
void avg_pool1d(Call& call) { avg_pool(call, 1); }
void avg_pool2d(Call& call) { avg_pool(call, 2); }
void avg_pool3d(Call& call) { avg_pool(call, 3); }

// --- adaptive average pooling ---

// Output o of n averages the inputs [floor(o in / n), ceil((o + 1) in / n)) of each dimension; the
// sum is divided by each extent in turn.
Box adaptive_box(const Sizes& in, const Sizes& out, const Sizes& index) {
  Box box;
  for (std::size_t d = 0; d < in.size(); ++d) {
    box.low.push_back(index[d] * in[d] / out[d]);
    box.high.push_back(((index[d] + 1) * in[d] + out[d] - 1) / out[d]);
    box.divisors.push_back(box.high.back() - box.low.back());
  }
  return box;
}

// What sums of 16-bit data are held in: float32, or (the kernel over three dimensions) the dtype.
enum class Sums { kWide, kOwn };

void emit_adaptive(Call& call, const Tensor& self, const Sizes& out, const Sizes& sizes,
                   const Sizes& strides, Sums sums = Sums::kWide) {
  if (!spec::is_floating_point(self.dtype))
    throw OpError("adaptive_avg_pool: wants floating point");
  const Sizes in = spatial_sizes(self, out.size());
  if (count_of(in) == 0) throw OpError("adaptive_avg_pool: the input has an empty plane");
  with_real(call.mode(), [&]<class N>() {
    const auto box_of = [&](const Sizes& index) { return adaptive_box(in, out, index); };
    const auto average = [&](const std::vector<N>& elements, const Sizes& divisors) {
      return sums == Sums::kWide ? average_of(elements, divisors)
                                 : average_within(elements, divisors, self.dtype);
    };
    Array<N> result = average_boxes<N>(self, out, box_of, average);
    result.sizes = sizes;
    call.emit(result, self.dtype, strides);
  });
}

void adaptive_avg_pool2d(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes out = adaptive_output(call, 2);
  const Sizes sizes = with_spatial(self.sizes, out);
  emit_adaptive(call, self, out, sizes, image_strides(self, sizes));
}

// The kernel gives contiguous results; the composite keeps channels-last where it takes a mean.
void adaptive_avg_pool3d_kernel(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes out = adaptive_output(call, 3);
  const Sizes sizes = with_spatial(self.sizes, out);
  emit_adaptive(call, self, out, sizes, spec::contiguous_strides(sizes), Sums::kOwn);
}
void adaptive_avg_pool3d(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes out = adaptive_output(call, 3);
  const Sizes sizes = with_spatial(self.sizes, out);
  if (out != Sizes{1, 1, 1}) return adaptive_avg_pool3d_kernel(call);
  emit_adaptive(call, self, out, sizes, image_strides(self, sizes));
}

// A composite: the input becomes an image of height 1, and the result loses that dimension again.
void adaptive_avg_pool1d(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes length = adaptive_output(call, 1);
  emit_adaptive(call, *as_image(self), {1, length[0]}, with_spatial(self.sizes, length),
                line_strides(self, length[0]));
}

// --- gradients ---

// Each element of a box gets the gradient of its average, divided as that was.
template <class N, class BoxOf>
Array<N> averaged_gradient(const Tensor& gradient, const Tensor& self, std::size_t rank,
                           BoxOf box_of) {
  const Sizes in = spatial_sizes(self, rank);
  const Sizes step(rank, 1);
  return plane_gradient<N>(gradient, self.sizes, rank, Partials::kOwnDtype,
                           [&](const Sizes& place, const auto& send) {
                             const Box box = box_of(place);
                             const auto part = [&](N g) {
                               for (const std::int64_t divisor : box.divisors) {
                                 g = quotient(g, divisor);
                                 if constexpr (!std::is_same_v<N, Whole>)
                                   g = held_in(g, gradient.dtype);
                               }
                               return g;
                             };
                             for_each_in_box(in, box.low, box.high, step,
                                             [&](std::int64_t position) { send(position, part); });
                           });
}

void avg_pool_backward(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const Tensor& gradient = *call.tensor("grad_output");
  const WindowBoxes boxes(call, self, rank);
  if (gradient.sizes != with_spatial(self.sizes, boxes.window().out)) {
    throw OpError("avg_pool_backward: grad_output has other sizes than the averages");
  }
  if (gradient.dtype != self.dtype) throw OpError("avg_pool_backward: two dtypes");
  const Sizes strides =
      rank == 2 ? image_strides(self, self.sizes) : spec::contiguous_strides(self.sizes);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    call.emit(averaged_gradient<N>(gradient, self, rank, boxes), self.dtype, strides);
  });
}
void avg_pool2d_backward(Call& call) { avg_pool_backward(call, 2); }
void avg_pool3d_backward(Call& call) { avg_pool_backward(call, 3); }

void adaptive_avg_pool_backward(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const Tensor& gradient = *call.tensor("grad_output");
  if (!spec::is_floating_point(self.dtype) || gradient.dtype != self.dtype) {
    throw OpError("adaptive_avg_pool_backward: wants floats of one dtype");
  }
  const Sizes in = spatial_sizes(self, rank);
  const Sizes out = spatial_sizes(gradient, rank);
  if (count_of(out) == 0) throw OpError("adaptive_avg_pool_backward: grad_output has empty planes");
  const Sizes strides =
      rank == 2 ? image_strides(self, self.sizes) : spec::contiguous_strides(self.sizes);
  with_real(call.mode(), [&]<class N>() {
    const auto box_of = [&](const Sizes& index) { return adaptive_box(in, out, index); };
    call.emit(averaged_gradient<N>(gradient, self, rank, box_of), self.dtype, strides);
  });
}
void adaptive_avg_pool2d_backward(Call& call) { adaptive_avg_pool_backward(call, 2); }
void adaptive_avg_pool3d_backward(Call& call) { adaptive_avg_pool_backward(call, 3); }

constexpr std::array kPoolingOps = {
    OpBody{"aten._adaptive_avg_pool2d", adaptive_avg_pool2d},
    OpBody{"aten._adaptive_avg_pool2d_backward", adaptive_avg_pool2d_backward},
    OpBody{"aten._adaptive_avg_pool3d", adaptive_avg_pool3d_kernel},
    OpBody{"aten._adaptive_avg_pool3d_backward", adaptive_avg_pool3d_backward},
    OpBody{"aten.adaptive_avg_pool1d", adaptive_avg_pool1d},
    OpBody{"aten.adaptive_avg_pool2d", adaptive_avg_pool2d},
    OpBody{"aten.adaptive_avg_pool3d", adaptive_avg_pool3d},
    OpBody{"aten.avg_pool1d", avg_pool1d},
    OpBody{"aten.avg_pool2d", avg_pool2d},
    OpBody{"aten.avg_pool2d_backward", avg_pool2d_backward},
    OpBody{"aten.avg_pool3d", avg_pool3d},
    OpBody{"aten.avg_pool3d_backward", avg_pool3d_backward},
};

}  // namespace

std::span<const OpBody> pooling_ops() { return kPoolingOps; }

}  // namespace graphgate::reference
