#include "reference/ops/window.h"

#include <algorithm>

namespace graphgate::reference {
namespace {

// How often a window fits; ceil_mode lets the last one pass the end, but not start there.
std::int64_t output_size(const Window& window, std::size_t d, bool ceil_mode) {
  const std::int64_t extent = window.dilation[d] * (window.kernel[d] - 1) + 1;
  const std::int64_t room = window.in[d] + 2 * window.padding[d] - extent;
  const std::int64_t stride = window.stride[d];
  const std::int64_t extra = ceil_mode ? stride - 1 : 0;
  const std::int64_t reach = room + extra;
  std::int64_t out = (reach >= 0 ? reach / stride : -((-reach + stride - 1) / stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= window.in[d] + window.padding[d]) --out;
  return out;
}

// ATen's pooling kernels take 32-bit options; within them no sum or product below overflows.
void check_option(std::int64_t value, std::int64_t least) {
  if (value >= least && value <= INT32_MAX) return;
  throw OpError("pooling: kernel size, stride, dilation or padding is out of range: " +
                std::to_string(value));
}

Sizes argument(const Call& call, std::string_view name, const Sizes& otherwise) {
  return call.has(name) ? call.integers(name) : otherwise;
}

}  // namespace

Sizes per_dimension(Sizes values, std::size_t rank, std::string_view name) {
  if (values.size() == 1) values.resize(rank, values.front());
  if (values.size() != rank) {
    throw OpError("argument '" + std::string(name) + "': expected one value or " +
                  std::to_string(rank));
  }
  return values;
}

Sizes adaptive_output(const Call& call, std::size_t rank) {
  Sizes sizes = per_dimension(call.integers("output_size"), rank, "output_size");
  for (const std::int64_t size : sizes) check_option(size, 0);
  return sizes;
}

Window::Window(const Call& call, const Tensor& input, std::size_t rank)
    : in(spatial_sizes(input, rank)), out(rank) {
  kernel = per_dimension(call.integers("kernel_size"), rank, "kernel_size");
  stride = argument(call, "stride", {});
  stride = stride.empty() ? kernel : per_dimension(stride, rank, "stride");
  padding = per_dimension(argument(call, "padding", {0}), rank, "padding");
  dilation = per_dimension(argument(call, "dilation", {1}), rank, "dilation");
  const bool ceil_mode = call.has("ceil_mode") && call.boolean("ceil_mode");
  for (std::size_t d = 0; d < rank; ++d) {
    for (const std::int64_t value : {kernel[d], stride[d], dilation[d]}) check_option(value, 1);
    check_option(padding[d], 0);
    if (padding[d] > (dilation[d] * (kernel[d] - 1) + 1) / 2) {
      throw OpError("pooling: padding must be at most half of the kernel size");
    }
    out[d] = output_size(*this, d, ceil_mode);
    if (out[d] < 1) throw OpError("pooling: the result would have no element");
  }
}

Planes planes_of(const Tensor& input, std::size_t rank) {
  const Sizes spatial = spatial_sizes(input, rank);
  const std::int64_t area = count_of(spatial);
  const Sizes lead(input.sizes.begin(),
                   input.sizes.end() - static_cast<std::ptrdiff_t>(spatial.size()));
  return {count_of(lead), area};
}

Sizes spatial_sizes(const Tensor& input, std::size_t rank) {
  const std::size_t dims = input.sizes.size();
  if (dims != rank + 1 && dims != rank + 2) {
    throw OpError("pooling: expected a tensor of " + std::to_string(rank + 1) + " or " +
                  std::to_string(rank + 2) + " dimensions");
  }
  return {input.sizes.end() - static_cast<std::ptrdiff_t>(rank), input.sizes.end()};
}

Sizes with_spatial(Sizes sizes, const Sizes& spatial) {
  std::copy(spatial.rbegin(), spatial.rend(), sizes.rbegin());
  return sizes;
}

}  // namespace graphgate::reference
