#include "optimized/geometry/convolution_shape.h"

#include "optimized/gemm.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

// Element `i` of a list that may have one element for all.
std::int64_t pick(const Sizes& list, std::int64_t i, std::int64_t rank) {
  if (list.size() == 1) return list.front();
  if (static_cast<std::int64_t>(list.size()) != rank) {
    throw OpError("a list of a convolution has " + std::to_string(list.size()) + " elements for " +
                  std::to_string(rank) + " dimensions");
  }
  return list[at(i)];
}

// Sets `padding` and the padded size less the kernel's reach.
std::int64_t padded_room(const KernelCall& call, Axis& axis, std::int64_t i, std::int64_t rank) {
  const std::int64_t reach = axis.dilation * (axis.kernel - 1);
  if (const auto* word = call.item("padding").as<std::string>()) {
    if (*word == "valid") return axis.in - reach - 1;
    if (*word != "same") throw OpError("padding is \"same\", \"valid\" or numbers");
    if (axis.stride != 1) throw OpError("padding \"same\" wants a stride of 1");
    axis.padding = reach / 2;
    return axis.in - 1;
  }
  axis.padding = pick(call.integers("padding"), i, rank);
  if (axis.padding < 0) throw OpError("a padding is negative");
  return axis.in + 2 * axis.padding - reach - 1;
}

Axis read_axis(const KernelCall& call, const ConvolutionShape& shape, std::int64_t i,
               std::int64_t rank) {
  Axis axis{.in = shape.input.sizes[at(i + 2)],
            .kernel = shape.weight.sizes[at(i + 2)],
            .stride = pick(call.integers("stride"), i, rank),
            .dilation = pick(call.integers("dilation"), i, rank),
            .is_transposed = shape.is_transposed};
  if (axis.stride <= 0 || axis.dilation <= 0) throw OpError("stride and dilation are positive");
  const std::int64_t room = padded_room(call, axis, i, rank);
  if (shape.is_transposed) {
    axis.out = (axis.in - 1) * axis.stride - 2 * axis.padding + axis.dilation * (axis.kernel - 1) +
               pick(call.integers("output_padding"), i, rank) + 1;
  } else {
    axis.out = room < 0 ? 0 : room / axis.stride + 1;
  }
  if (axis.out <= 0 || axis.kernel <= 0) {
    throw OpError("the kernel is larger than the padded input " + print_sizes(shape.input.sizes));
  }
  return axis;
}

void check_channels(const KernelCall& call, const ConvolutionShape& shape) {
  const std::int64_t in_of_weight =
      shape.is_transposed ? shape.weight.sizes[0] : shape.weight.sizes[1] * shape.groups;
  if (shape.groups <= 0 || in_of_weight != shape.channels_in ||
      shape.weight.sizes[0] % shape.groups != 0) {
    throw OpError("weight " + print_sizes(shape.weight.sizes) + " with " +
                  std::to_string(shape.groups) + " groups does not fit input " +
                  print_sizes(shape.input.sizes));
  }
  const Tensor* bias = call.optional_tensor("bias");
  if (bias && bias->sizes != Sizes{shape.channels_out}) {
    throw OpError("the bias has one element per channel of the result");
  }
  if (shape.input.dtype != shape.weight.dtype || (bias && bias->dtype != shape.input.dtype)) {
    throw OpError("input, weight and bias must have one dtype");
  }
}

}  // namespace

Sizes ConvolutionShape::result_sizes() const {
  Sizes out;
  if (is_batched) out.push_back(input.sizes[0]);
  out.push_back(channels_out);
  const std::size_t spatial = input.sizes.size() - 2;
  for (std::size_t i = 3 - spatial; i < 3; ++i) out.push_back(axes[i].out);
  return out;
}

Sizes ConvolutionShape::result_strides() const {
  const Sizes sizes = result_sizes();
  const bool is_float64 = input.dtype == spec::DType::kFloat64;
  const bool is_plain_3d =
      input.rank() == 5 && (is_float64 || !spec::is_floating_point(input.dtype));
  if (input.rank() < 4 || input.count() == 0 || is_plain_3d) return row_major_strides(sizes);
  const auto format =
      input.rank() == 4 ? spec::MemoryFormat::kChannelsLast : spec::MemoryFormat::kChannelsLast3d;
  if (suggested_format(input) != format && suggested_format(weight) != format) {
    return row_major_strides(sizes);
  }
  if (is_batched) return strides_in_format(sizes, format);
  Sizes with_batch = sizes;
  with_batch.insert(with_batch.begin(), 1);
  Sizes strides = strides_in_format(with_batch, format);
  strides.erase(strides.begin());
  return strides;
}

Tensor ConvolutionShape::batched(const Tensor& result) const {
  return is_batched ? result : with_unit_dim(result, 0);
}

ConvolutionShape convolution_shape(const KernelCall& call) {
  ConvolutionShape shape;
  shape.input = call.tensor("input");
  shape.weight = call.tensor("weight");
  const std::int64_t rank = shape.weight.rank() - 2;
  if (rank < 1 || rank > 3) throw OpError("the weight of a convolution has rank 3, 4 or 5");
  shape.is_batched = shape.input.rank() == rank + 2;
  if (shape.input.rank() == rank + 1) {
    shape.input = with_unit_dim(std::move(shape.input), 0);
    shape.input.strides[0] = shape.input.strides[1] * shape.input.sizes[1];
  }
  if (shape.input.rank() != rank + 2) {
    throw OpError("input " + print_sizes(shape.input.sizes) + " does not fit weight " +
                  print_sizes(shape.weight.sizes));
  }
  shape.is_transposed = call.boolean_or("transposed", false) ||
                        call.row().schema.name.starts_with("conv_transpose");
  shape.groups = call.integer("groups");
  shape.channels_in = shape.input.sizes[1];
  shape.channels_out =
      shape.is_transposed ? shape.weight.sizes[1] * shape.groups : shape.weight.sizes[0];
  check_channels(call, shape);
  for (std::int64_t i = 0; i < rank; ++i) {
    shape.axes[at(3 - rank + i)] = read_axis(call, shape, i, rank);
  }
  for (std::int64_t i = 0; i < 3 - rank; ++i) shape.axes[at(i)].is_transposed = shape.is_transposed;
  return shape;
}

}  // namespace graphgate::optimized
