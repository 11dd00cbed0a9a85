// quantized_decomposed: affine quantization and back, for a whole tensor, its channels, its tokens
// or groups of its elements, and the choice of scales and zero points.
//
// A quantization is x times the inverse scale, in the arithmetic that both promote to, a zero
// point, a rounding to whole numbers and a clamp. Where that arithmetic is one wide dtype all of it
// is one loop. Where a step rounds to a dtype of its own (bfloat16 scales of bfloat16 tokens),
// steps go through scratch tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "optimized/analysis/row_rules.h"
#include "optimized/converted_rows.h"
#include "optimized/gemm.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/scratch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

struct IntegerLimits {
  double low = 0;
  double high = 0;
};

// What a quantized dtype holds. Throws OpError for other dtypes.
IntegerLimits limits_of_quantized(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt8:
      return {-0x1p7, 0x1p7 - 1};
    case DType::kInt16:
      return {-0x1p15, 0x1p15 - 1};
    case DType::kInt32:
      return {-0x1p31, 0x1p31 - 1};
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return {-greatest_finite(dtype), greatest_finite(dtype)};
    default:
      throw OpError(std::string(spec::torch_name(dtype)) + " is no dtype of quantized numbers");
  }
}

// Where the limits are tensors they are seen when the call runs, and clamp as they are.
void check_quantized_limits(const KernelCall& call) {
  const IntegerLimits held = limits_of_quantized(*call.optional_dtype("dtype"));
  const bool is_below = !call.is_tensor("quant_min") && call.real("quant_min") < held.low;
  const bool is_above = !call.is_tensor("quant_max") && call.real("quant_max") > held.high;
  if (is_below || is_above) {
    throw OpError("quant_min and quant_max must lie within the quantized dtype");
  }
}

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// A tensor as its copy in another dtype would lie.
Tensor as_converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  Tensor out = tensor;
  out.dtype = dtype;
  out.strides = strides_like(tensor, spec::MemoryFormat::kPreserve);
  return out;
}

// Floats of 16 bits are widened to float32 before anything else.
Tensor widened_input(const Tensor& input) {
  if (input.dtype != DType::kFloat32 && !is_half(input.dtype)) {
    throw OpError("what is quantized must be float32 or narrower, not " +
                  std::string(spec::torch_name(input.dtype)));
  }
  return as_converted(input, DType::kFloat32);
}

DType promoted(const Tensor& a, const Tensor& b) {
  const std::array<const Tensor*, 2> tensors = {&a, &b};
  return result_type(tensors);
}

Tensor described_as(DType dtype, Sizes sizes, Sizes strides) {
  Tensor out;
  out.dtype = dtype;
  out.sizes = std::move(sizes);
  out.strides = std::move(strides);
  return out;
}

// A loop over operands that are cast to `dtype` first, and a result that is rounded to it.
template <class F, class... Items>
Launch quantization_step(const Binding& call, const Tensor& result, DType dtype, F f,
                         const Items&... items) {
  return with_real(dtype, [&]<class C>() {
    std::array<Source<C>, sizeof...(Items)> sources = {Source<C>(items, dtype)...};
    return launch_sources<C>(call.listener(), result, dtype, std::move(sources), f);
  });
}

// 1 / scale for each scale, in the scales' own dtype (float32 where they are integers).
Launch inverse_step(const Binding& call, const Tensor& inverses, const Tensor& scales) {
  return quantization_step(call, inverses, inverses.dtype, element::Reciprocal(), Item{scales});
}

// One quantization of a tensor by tensors of parameters, which stretch over it.
struct ParameterizedQuantization {
  Tensor input;  // as it is read
  Tensor scales;
  Tensor zero_points;
  bool shifts_first = false;  // the zero points go in before the rounding
  DType inverse = DType::kFloat32;
  DType scaled = DType::kFloat32;   // of x times the inverse scale
  DType shifted = DType::kFloat32;  // of that plus the zero point
  Sizes sizes;
  Sizes strides;

  // `converted` is the input in the dtype that it is computed in.
  ParameterizedQuantization(const Tensor& from, const Tensor& converted, Tensor by, Tensor zeros,
                            bool is_shifted_first)
      : input(from),
        scales(std::move(by)),
        zero_points(std::move(zeros)),
        shifts_first(is_shifted_first),
        inverse(to_floating(scales.dtype)) {
    const Tensor inverses =
        described_as(inverse, scales.sizes, pointwise_strides({&scales}, scales.sizes));
    scaled = promoted(converted, inverses);
    const std::array<const Tensor*, 3> all = {&converted, &scales, &zero_points};
    sizes = broadcast_sizes(all);
    const Sizes product = broadcast_sizes(converted.sizes, scales.sizes);
    const Tensor first =
        described_as(scaled, product, pointwise_strides({&converted, &inverses}, product));
    shifted = promoted(first, zero_points);
    strides = pointwise_strides({&first, &zero_points}, sizes);
    for (const DType dtype : {scaled, shifted}) {
      if (spec::is_floating_point(dtype) && dtype != DType::kFloat8E4M3FN &&
          dtype != DType::kFloat8E5M2) {
        continue;
      }
      throw OpError("a quantization is not computed in " + std::string(spec::torch_name(dtype)));
    }
  }

  // Whether one loop does it: no step rounds otherwise than the loop's arithmetic does.
  [[nodiscard]] bool is_one_loop() const { return scaled == shifted && !is_half(scaled); }

  void want_scratch(Inference& call) const {
    call.want_workspace(scratch_bytes(inverse, scales.sizes));
    if (is_one_loop()) return;
    call.want_workspace(scratch_bytes(scaled, sizes));
    if (shifts_first) call.want_workspace(scratch_bytes(shifted, sizes));
  }

  [[nodiscard]] Launch launch(const Binding& call, const Tensor& result) const {
    const Item& low = call.item("quant_min");
    const Item& high = call.item("quant_max");
    const Item x{input};
    const Item zeros{zero_points};
    std::byte* workspace = call.workspace();
    const Tensor inverses = scratch_tensor(inverse, scales.sizes, workspace);
    std::vector<Launch> steps;
    steps.push_back(inverse_step(call, inverses, scales));
    const Item by{inverses};
    if (is_one_loop()) {
      steps.push_back(shifts_first
                          ? quantization_step(call, result, shifted, element::QuantizeShifted(), x,
                                              by, zeros, low, high)
                          : quantization_step(call, result, shifted, element::Quantize(), x, by,
                                              zeros, low, high));
      return in_turn(std::move(steps));
    }
    const Tensor product = scratch_tensor(scaled, sizes, workspace);
    steps.push_back(quantization_step(call, product, scaled, element::Multiply(), x, by));
    if (shifts_first) {
      const Tensor sum = scratch_tensor(shifted, sizes, workspace);
      steps.push_back(quantization_step(call, sum, shifted, element::Add(), Item{product}, zeros));
      steps.push_back(
          quantization_step(call, result, shifted, element::RoundClamp(), Item{sum}, low, high));
    } else {
      steps.push_back(quantization_step(call, result, shifted, element::RoundShiftClamp(),
                                        Item{product}, zeros, low, high));
    }
    return in_turn(std::move(steps));
  }
};

// One element of a tensor, for all elements of others.
Item single_item(const KernelCall& call, std::string_view name) {
  if (!call.is_tensor(name)) return call.item(name);
  Tensor tensor = call.tensor(name);
  if (tensor.count() != 1) {
    throw OpError("'" + std::string(name) + "' must have one element, not sizes " +
                  print_sizes(tensor.sizes));
  }
  tensor.sizes = {};
  tensor.strides = {};
  return {tensor};
}

void infer_quantize_per_tensor(Inference& call) {
  check_quantized_limits(call);
  const Tensor input = widened_input(call.tensor("input"));
  for (const char* name : {"scale", "zero_point", "quant_min", "quant_max"}) {
    (void)single_item(call, name);
  }
  if (call.is_tensor("scale")) {
    call.want_workspace(scratch_bytes(DType::kFloat32, {}));
  } else if (call.real("scale") == 0) {
    throw OpError("a scale of 0 has no inverse");
  }
  call.make(*call.optional_dtype("dtype"), input.sizes, pointwise_strides({&input}, input.sizes));
}

Launch bind_quantize_per_tensor(const Binding& call) {
  Item scale = single_item(call, "scale");
  std::vector<Launch> steps;
  Item inverse;
  if (scale.as<Tensor>()) {
    std::byte* workspace = call.workspace();
    inverse.value = scratch_tensor(DType::kFloat32, {}, workspace);
    steps.push_back(quantization_step(call, *inverse.as<Tensor>(), DType::kFloat64,
                                      element::Reciprocal(), scale));
  } else {
    inverse.value = 1.0 / call.real("scale");
  }
  steps.push_back(quantization_step(call, call.result(), DType::kFloat32, element::Quantize(),
                                    Item{call.tensor("input")}, inverse,
                                    single_item(call, "zero_point"), single_item(call, "quant_min"),
                                    single_item(call, "quant_max")));
  return in_turn(std::move(steps));
}

// The dtype that a whole tensor is dequantized in, and that of the result.
struct DequantizedDTypes {
  DType converted;  // before the zero point is taken off
  DType result;
};
DequantizedDTypes dequantized_dtypes(const KernelCall& call) {
  const DType converted = call.optional_dtype("out_dtype").value_or(DType::kFloat32);
  if (converted == DType::kBool || limits_of_quantized(*call.optional_dtype("dtype")).high == 0) {
    throw OpError("a zero point cannot be taken off bool numbers");
  }
  return {converted, to_floating(converted)};
}

void check_quantized_input(const KernelCall& call) {
  if (call.tensor("input").dtype == *call.optional_dtype("dtype")) return;
  throw OpError("the input is not of the dtype that it is said to have");
}

void infer_dequantize_per_tensor(Inference& call) {
  check_quantized_input(call);
  for (const char* name : {"scale", "zero_point"}) (void)single_item(call, name);
  const DequantizedDTypes dtypes = dequantized_dtypes(call);
  const Tensor input = as_converted(call.tensor("input"), dtypes.converted);
  const Item& zero_point = call.item("zero_point");
  const bool is_whole =
      zero_point.as<std::int64_t>() != nullptr ||
      (call.is_tensor("zero_point") && !spec::is_floating_point(call.tensor("zero_point").dtype));
  if (!is_whole && !spec::is_floating_point(dtypes.converted)) {
    throw Unsupported("integers less a zero point that is none");
  }
  if (dtypes.converted == DType::kFloat8E4M3FN || dtypes.converted == DType::kFloat8E5M2) {
    throw OpError("a zero point cannot be taken off 8-bit floats");
  }
  if (dtypes.converted != DType::kFloat32 && dtypes.converted != DType::kFloat64) {
    call.want_workspace(scratch_bytes(dtypes.converted, input.sizes));
  }
  call.make(dtypes.result, input.sizes, pointwise_strides({&input}, input.sizes));
}

Launch bind_dequantize_per_tensor(const Binding& call) {
  const auto [converted, rounds_to] = dequantized_dtypes(call);
  const Item x{call.tensor("input")};
  const Item zero_point = single_item(call, "zero_point");
  const Item scale = single_item(call, "scale");
  if (converted == DType::kFloat32 || converted == DType::kFloat64) {
    return quantization_step(call, call.result(), converted, element::Dequantize(), x, zero_point,
                             scale);
  }
  std::byte* workspace = call.workspace();
  const Tensor shifted = scratch_tensor(converted, call.tensor("input").sizes, workspace);
  std::vector<Launch> steps;
  steps.push_back(with_compute(converted, [&, dtype = converted]<class C>() {
    std::array<Source<C>, 2> sources = {Source<C>(x, dtype), Source<C>(zero_point, dtype)};
    return launch_sources<C>(call.listener(), shifted, dtype, std::move(sources),
                             element::Subtract());
  }));
  // A scale beside 16-bit numbers is not rounded to them.
  std::array<Source<float>, 2> sources = {Source<float>(shifted, DType::kFloat32),
                                          Source<float>(scale, DType::kFloat32)};
  steps.push_back(launch_sources<float>(call.listener(), call.result(), rounds_to,
                                        std::move(sources), element::Multiply()));
  return in_turn(std::move(steps));
}

// The axis of a per-channel op in [0, rank).
std::int64_t channel_axis_of(const KernelCall& call) {
  const std::int64_t rank = call.tensor("input").rank();
  if (rank == 0) throw OpError("a tensor without dimensions has no channels");
  return wrap_dim(call.integer("axis"), rank);
}

// Parameters of channels, along dimension `axis` of `rank`.
Tensor along_channels(const Tensor& parameters, std::int64_t axis, std::int64_t rank) {
  const std::int64_t channels = parameters.rank() == 0 ? 0 : parameters.sizes[0];
  if (parameters.rank() == 0 || parameters.count() != channels) {
    throw OpError("parameters of channels must have one dimension, not sizes " +
                  print_sizes(parameters.sizes));
  }
  Tensor out = parameters;
  out.sizes = Sizes(at(rank), 1);
  out.sizes[at(axis)] = channels;
  out.strides = Sizes(at(rank), parameters.strides[0]);
  return out;
}

// Steps over an input whose channels come first.
ParameterizedQuantization channel_quantization(const KernelCall& call) {
  const std::int64_t axis = channel_axis_of(call);
  const Tensor& input = call.tensor("input");
  const Tensor converted = widened_input(input);
  return {swapped(input, axis, 0), swapped(converted, axis, 0),
          along_channels(call.tensor("scales"), 0, input.rank()),
          along_channels(call.tensor("zero_points"), 0, input.rank()), false};
}

void infer_quantize_per_channel(Inference& call) {
  check_quantized_limits(call);
  const ParameterizedQuantization steps = channel_quantization(call);
  steps.want_scratch(call);
  Tensor result = described_as(DType::kInt8, steps.sizes, steps.strides);
  result = swapped(std::move(result), channel_axis_of(call), 0);
  call.make(*call.optional_dtype("dtype"), result.sizes, result.strides);
}

Launch bind_quantize_per_channel(const Binding& call) {
  return channel_quantization(call).launch(call, swapped(call.result(), channel_axis_of(call), 0));
}

// Numbers less their zero points, times their scales, with each step in the dtype that its operands
// promote to.
struct ParameterizedDequantization {
  Tensor input;
  std::optional<Tensor> zero_points;
  Tensor scales;
  DType shifted = DType::kInt8;
  DType scaled = DType::kFloat32;
  Sizes shifted_sizes;
  Sizes sizes;
  Sizes strides;

  ParameterizedDequantization(Tensor from, std::optional<Tensor> zeros, Tensor by)
      : input(std::move(from)), zero_points(std::move(zeros)), scales(std::move(by)) {
    Tensor first = input;
    if (zero_points) {
      shifted_sizes = broadcast_sizes(input.sizes, zero_points->sizes);
      first = described_as(promoted(input, *zero_points), shifted_sizes,
                           pointwise_strides({&input, &*zero_points}, shifted_sizes));
      if (first.dtype == DType::kFloat8E4M3FN || first.dtype == DType::kFloat8E5M2 ||
          first.dtype == DType::kBool) {
        throw OpError("a zero point cannot be taken off numbers of " +
                      std::string(spec::torch_name(first.dtype)));
      }
    }
    shifted = first.dtype;
    scaled = promoted(first, scales);
    sizes = broadcast_sizes(first.sizes, scales.sizes);
    strides = pointwise_strides({&first, &scales}, sizes);
  }

  void want_scratch(Inference& call) const {
    if (zero_points) call.want_workspace(scratch_bytes(shifted, shifted_sizes));
  }

  [[nodiscard]] Launch launch(const Binding& call, const Tensor& result) const {
    std::vector<Launch> steps;
    Tensor first = input;
    if (zero_points) {
      std::byte* workspace = call.workspace();
      first = scratch_tensor(shifted, shifted_sizes, workspace);
      steps.push_back(with_compute(shifted, [&]<class C>() {
        std::array<Source<C>, 2> sources = {Source<C>(input, shifted),
                                            Source<C>(*zero_points, shifted)};
        return launch_sources<C>(call.listener(), first, shifted, std::move(sources),
                                 element::Subtract());
      }));
    }
    steps.push_back(with_compute(scaled, [&]<class C>() {
      std::array<Source<C>, 2> sources = {Source<C>(first, scaled), Source<C>(scales, scaled)};
      return launch_sources<C>(call.listener(), result, scaled, std::move(sources),
                               element::Multiply());
    }));
    return in_turn(std::move(steps));
  }
};

ParameterizedDequantization channel_dequantization(const KernelCall& call) {
  const std::int64_t axis = channel_axis_of(call);
  const Tensor& input = call.tensor("input");
  std::optional<Tensor> zero_points;
  if (const Tensor* given = call.optional_tensor("zero_points")) {
    zero_points = along_channels(*given, 0, input.rank());
  }
  return {swapped(input, axis, 0), std::move(zero_points),
          along_channels(call.tensor("scales"), 0, input.rank())};
}

void infer_dequantize_per_channel(Inference& call) {
  check_quantized_input(call);
  check_quantized_limits(call);
  const ParameterizedDequantization steps = channel_dequantization(call);
  steps.want_scratch(call);
  const Tensor result =
      swapped(described_as(DType::kInt8, steps.sizes, steps.strides), channel_axis_of(call), 0);
  call.make(call.optional_dtype("out_dtype").value_or(DType::kFloat32), result.sizes,
            result.strides);
}

Launch bind_dequantize_per_channel(const Binding& call) {
  return channel_dequantization(call).launch(call,
                                             swapped(call.result(), channel_axis_of(call), 0));
}

void infer_fake_quant_per_channel(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (input.dtype != DType::kFloat32) throw OpError("what is quantized must be float32");
  const std::int64_t axis = channel_axis_of(call);
  if (axis != call.integer("axis")) throw OpError("the axis counts from the front");
  Tensor scales = along_channels(call.tensor("scales"), axis, input.rank());
  Tensor zero_points = along_channels(call.tensor("zero_points"), axis, input.rank());
  scales.dtype = DType::kFloat32;
  zero_points.dtype = DType::kInt32;
  const ParameterizedQuantization steps(input, input, scales, zero_points, false);
  call.want_workspace(scratch_bytes(DType::kFloat32, scales.sizes));
  call.want_workspace(scratch_bytes(DType::kInt32, zero_points.sizes));
  call.want_workspace(scratch_bytes(DType::kFloat32, scales.sizes));
  call.make(DType::kFloat32, steps.sizes, steps.strides);
}

Launch bind_fake_quant_per_channel(const Binding& call) {
  const std::int64_t axis = channel_axis_of(call);
  const std::int64_t rank = call.tensor("input").rank();
  const Tensor given_scales = along_channels(call.tensor("scales"), axis, rank);
  const Tensor given_zeros = along_channels(call.tensor("zero_points"), axis, rank);
  std::byte* workspace = call.workspace();
  const Tensor scales = scratch_tensor(DType::kFloat32, given_scales.sizes, workspace);
  const Tensor zero_points = scratch_tensor(DType::kInt32, given_zeros.sizes, workspace);
  const Tensor inverses = scratch_tensor(DType::kFloat32, given_scales.sizes, workspace);
  std::vector<Launch> steps;
  steps.push_back(copy_launch(call.listener(), scales, given_scales));
  steps.push_back(copy_launch(call.listener(), zero_points, given_zeros));
  steps.push_back(inverse_step(call, inverses, scales));
  steps.push_back(quantization_step(call, call.result(), DType::kFloat32, element::FakeQuantize(),
                                    Item{call.tensor("input")}, Item{inverses}, Item{zero_points},
                                    Item{scales}, call.item("quant_min"), call.item("quant_max")));
  return in_turn(std::move(steps));
}

ParameterizedQuantization token_quantization(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  std::int64_t tokens = 1;
  for (std::int64_t d = 0; d + 1 < input.rank(); ++d) tokens *= input.size(d);
  const Tensor& scales = call.tensor("scales");
  const Tensor& zero_points = call.tensor("zero_points");
  if (scales.count() != tokens || zero_points.count() != tokens) {
    throw OpError("scales of sizes " + print_sizes(scales.sizes) + " are not those of " +
                  std::to_string(tokens) + " tokens");
  }
  return {input, input, scales, zero_points, true};
}

void infer_quantize_per_token(Inference& call) {
  check_quantized_limits(call);
  const ParameterizedQuantization steps = token_quantization(call);
  steps.want_scratch(call);
  call.make(*call.optional_dtype("dtype"), steps.sizes, steps.strides);
}

Launch bind_quantize_per_token(const Binding& call) {
  return token_quantization(call).launch(call, call.result());
}

ParameterizedDequantization token_dequantization(const KernelCall& call) {
  return {call.tensor("input"), call.tensor("zero_points"), call.tensor("scales")};
}

void infer_dequantize_per_token(Inference& call) {
  const ParameterizedDequantization steps = token_dequantization(call);
  steps.want_scratch(call);
  call.make(*call.optional_dtype("output_dtype"), steps.sizes, steps.strides);
}

Launch bind_dequantize_per_token(const Binding& call) {
  return token_dequantization(call).launch(call, call.result());
}

// The rows of a matrix in groups: [rows, groups, elements].
struct Groups {
  std::int64_t rows = 0;
  std::int64_t groups = 0;
  std::int64_t length = 0;
};

Groups groups_of(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& scales = call.tensor("scales");
  std::int64_t length = call.integer("group_size");
  if (length <= 1 || input.rank() != 2) {
    throw OpError("groups of " + std::to_string(length) + " elements of sizes " +
                  print_sizes(input.sizes));
  }
  const std::int64_t width = input.size(1);
  if (length > width && scales.rank() > 0 && scales.size(-1) == 1) length = width;
  if (length == 0 || width % length != 0) {
    throw OpError("rows of " + std::to_string(width) + " have no groups of " +
                  std::to_string(length));
  }
  return {input.size(0), width / length, length};
}

Tensor in_groups(const Tensor& matrix, const Groups& groups) {
  Tensor out = matrix;
  out.sizes = {groups.rows, groups.groups, groups.length};
  out.strides = {matrix.strides[0], matrix.strides[1] * groups.length, matrix.strides[1]};
  return out;
}

// Parameters of groups, in row-major order: one for each, or one for all.
Tensor of_groups(const Tensor& parameters, const Groups& groups) {
  Tensor out = parameters;
  if (parameters.count() == 1) {
    out.sizes = {1, 1, 1};
    out.strides = {0, 0, 0};
    return out;
  }
  if (parameters.count() != groups.rows * groups.groups) {
    throw OpError("parameters of sizes " + print_sizes(parameters.sizes) + " are not those of " +
                  std::to_string(groups.rows * groups.groups) + " groups");
  }
  out.sizes = {groups.rows, groups.groups, 1};
  if (parameters.sizes == Sizes{groups.rows, groups.groups}) {
    out.strides = {parameters.strides[0], parameters.strides[1], 0};
  } else if (is_contiguous(parameters)) {
    out.strides = {groups.groups, 1, 0};
  } else {
    throw Unsupported("parameters of groups whose elements do not lie in order");
  }
  return out;
}

// The strides of what is made of groups and shaped as the matrix again. Where each row is one
// group the matrix is its own groups, and its layout shows.
Sizes strides_of_groups(const Tensor& matrix, const Groups& groups, DType dtype) {
  const Sizes sizes = {groups.rows, groups.groups * groups.length};
  if (groups.groups != 1) return row_major_strides(sizes);
  const Tensor column = described_as(dtype, {groups.rows, 1}, {1, 1});
  const Tensor first = described_as(dtype, sizes, pointwise_strides({&matrix, &column}, sizes));
  return pointwise_strides({&first, &column}, sizes);
}

ParameterizedQuantization group_quantization(const KernelCall& call, const Groups& groups) {
  const Tensor input = in_groups(call.tensor("input"), groups);
  return {input, input, of_groups(call.tensor("scales"), groups),
          of_groups(call.tensor("zero_points"), groups), true};
}

void infer_quantize_per_channel_group(Inference& call) {
  const Groups groups = groups_of(call);
  (void)limits_of_quantized(*call.optional_dtype("dtype"));
  const ParameterizedQuantization steps = group_quantization(call, groups);
  steps.want_scratch(call);
  const Tensor& input = call.tensor("input");
  call.make(*call.optional_dtype("dtype"), input.sizes,
            strides_of_groups(input, groups, input.dtype));
}

// What is quantized must hold no NaN: seen when the call runs.
Launch bind_quantize_per_channel_group(const Binding& call) {
  const Groups groups = groups_of(call);
  const Tensor& input = call.tensor("input");
  Launch launch = group_quantization(call, groups).launch(call, in_groups(call.result(), groups));
  if (!spec::is_floating_point(input.dtype)) return launch;
  return [rows = Rows(input, {1}), quantize = std::move(launch)] {
    std::vector<double> row(at(rows.length()));
    for (std::int64_t r = 0; r < rows.count(); ++r) {
      rows.load<double>(r, row.data());
      const bool has_nan = std::any_of(row.begin(), row.end(), [](double x) { return x != x; });
      if (has_nan) throw OpError("what is quantized holds a NaN");
    }
    if (quantize) quantize.run();
  };
}

ParameterizedDequantization group_dequantization(const KernelCall& call, const Groups& groups) {
  std::optional<Tensor> zero_points;
  if (const Tensor* given = call.optional_tensor("zero_points")) {
    zero_points = of_groups(*given, groups);
  }
  return {in_groups(call.tensor("input"), groups), std::move(zero_points),
          of_groups(call.tensor("scales"), groups)};
}

void infer_dequantize_per_channel_group(Inference& call) {
  const Groups groups = groups_of(call);
  group_dequantization(call, groups).want_scratch(call);
  const Tensor& input = call.tensor("input");
  call.make(*call.optional_dtype("output_dtype"), input.sizes,
            strides_of_groups(input, groups, input.dtype));
}

Launch bind_dequantize_per_channel_group(const Binding& call) {
  const Groups groups = groups_of(call);
  return group_dequantization(call, groups).launch(call, in_groups(call.result(), groups));
}

template <class C>
C rounded_in(DType dtype, C value) {
  round_values(dtype, &value, 1);
  return value;
}

// The range of the elements of `rows` from `begin` to `end`, and 0. NaN wins.
template <class C>
struct Span {
  C low{0};
  C high{0};

  void include(const C* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const C x = values[i];
      if (!(x >= low) && low == low) low = x;
      if (!(x <= high) && high == high) high = x;
    }
  }
};

// As a conversion of this machine cuts: what int32 does not hold is its least number.
std::int64_t cut_to_int32(double x) {
  constexpr double kMost = 0x1p31;
  const bool is_held = x > -kMost - 1 && x < kMost;
  return is_held ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int32_t>::min();
}

void infer_choose_qparams(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (input.dtype != DType::kFloat32 && !is_half(input.dtype)) {
    throw OpError("parameters are chosen for float32 or narrower");
  }
  (void)limits_of_quantized(*call.optional_dtype("dtype"));
  const std::int64_t low = call.integer("quant_min");
  const std::int64_t high = call.integer("quant_max");
  if (low > 0 || high < 0 || low >= high) throw OpError("quantized numbers must hold 0");
  if (input.count() == 0) throw OpError("no parameters suit a tensor without elements");
  call.make(DType::kFloat64, {1});
  call.make(DType::kInt64, {1});
}

template <bool is_symmetric>
Launch bind_choose_qparams(const Binding& call) {
  const Tensor& input = call.tensor("input");
  std::vector<std::int64_t> last;
  if (input.rank() > 0) last.push_back(input.rank() - 1);
  return [rows = Rows(input, last), dtype = input.dtype, low = call.integer("quant_min"),
          high = call.integer("quant_max"), eps = static_cast<float>(call.real("eps")),
          is_unsigned = *call.optional_dtype("dtype") == DType::kUInt8,
          scale_result = Rows(call.result(0), {0}), zero_result = Rows(call.result(1), {0})] {
    std::vector<float> row(at(rows.length()));
    Span<float> span;
    for (std::int64_t r = 0; r < rows.count(); ++r) {
      rows.load<float>(r, row.data());
      span.include(row.data(), rows.length());
    }
    const auto steps = static_cast<float>(high - low);
    float width = 0;
    if (is_symmetric) {
      const float below = -span.low;
      width = below != below || below > span.high ? below : span.high;
      width = rounded_in(dtype, width / (steps / 2));
    } else {
      width = rounded_in(dtype, rounded_in(dtype, span.high - span.low) / steps);
    }
    const float scale = width != width || width > eps ? width : eps;
    scale_result.store_one<double>(0, scale);
    std::int64_t zero_point = is_unsigned ? 128 : 0;
    if (!is_symmetric) {
      const std::int64_t steps_below = cut_to_int32(std::nearbyint(span.low / scale));
      const auto wrapped = static_cast<std::int32_t>(low - steps_below);
      zero_point = std::clamp<std::int64_t>(wrapped, low, high);
    }
    zero_result.store_one<std::int64_t>(0, zero_point);
  };
}

// The sizes of one number for each token.
Sizes token_sizes(const Tensor& input) {
  if (!spec::is_floating_point(input.dtype) || input.item_bytes() == 1) {
    throw OpError("parameters of tokens are chosen for floating point numbers");
  }
  Sizes sizes = input.sizes;
  if (!sizes.empty()) {
    if (sizes.back() == 0) throw OpError("no parameters suit a token without elements");
    sizes.back() = 1;
  }
  return sizes;
}

std::vector<std::int64_t> token_dims(const Tensor& input) {
  return input.rank() == 0 ? std::vector<std::int64_t>{} : std::vector{input.rank() - 1};
}

DType token_scale_dtype(const Tensor& input) {
  return input.dtype == DType::kFloat16 ? DType::kFloat32 : input.dtype;
}

void infer_choose_qparams_per_token(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (*call.optional_dtype("dtype") != DType::kInt8) throw OpError("tokens become int8 alone");
  const Sizes sizes = token_sizes(input);
  call.make(token_scale_dtype(input), sizes);
  call.make(token_scale_dtype(input), sizes);
}

Launch bind_choose_qparams_per_token(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const std::vector<std::int64_t> dims = token_dims(input);
  return with_real(input.dtype, [&]<class C>() -> Launch {
    return [rows = Rows(input, dims), scales = Rows(call.result(0), dims),
            zeros = Rows(call.result(1), dims), dtype = token_scale_dtype(input)] {
      std::vector<C> row(at(rows.length()));
      const C least = rounded_in(dtype, static_cast<C>(1e-5));
      for (std::int64_t r = 0; r < rows.count(); ++r) {
        rows.template load<C>(r, row.data());
        C greatest = 0;
        for (const C x : row) {
          const C magnitude = std::fabs(x);
          if (!(magnitude <= greatest) && greatest == greatest) greatest = magnitude;
        }
        if (greatest < least) greatest = least;
        scales.template store_one<C>(r, greatest / C(127));
        zeros.template store_one<C>(r, C(0));
      }
    };
  });
}

void infer_choose_qparams_per_token_asymmetric(Inference& call) {
  const Sizes sizes = token_sizes(call.tensor("input"));
  call.make(DType::kFloat64, sizes);
  call.make(DType::kInt64, sizes);
}

Launch bind_choose_qparams_per_token_asymmetric(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const std::vector<std::int64_t> dims = token_dims(input);
  return with_real(input.dtype, [&]<class C>() -> Launch {
    return [rows = Rows(input, dims), scales = Rows(call.result(0), dims),
            zeros = Rows(call.result(1), dims), dtype = input.dtype] {
      const auto in = [dtype](C x) { return rounded_in(dtype, x); };
      std::vector<C> row(at(rows.length()));
      for (std::int64_t r = 0; r < rows.count(); ++r) {
        rows.template load<C>(r, row.data());
        Span<C> span;
        span.include(row.data(), rows.length());
        C scale = in(in(span.high - span.low) / C(255));
        const C eps = in(C(0x1p-23));
        if (scale < eps) scale = eps;
        const C low = in(span.low / scale);
        const C high = in(span.high / scale);
        const C error = in(in(low + C(-128)) + in(high + C(127)));
        const C zero = error > 0 ? in(C(-128) - low) : in(C(127) - high);
        const C clamped = element::Clamp()(zero, C(-128), C(127));
        scales.template store_one<double>(r, static_cast<double>(scale));
        zeros.template store_one<double>(r, std::nearbyint(static_cast<double>(clamped)));
      }
    };
  });
}

void infer_convert_element_type(Inference& call) {
  const Tensor& input = call.tensor("input");
  call.make(*call.optional_dtype("dtype"), input.sizes,
            strides_like(input, spec::MemoryFormat::kPreserve), input.device);
}

Launch bind_convert_element_type(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("input"));
}

}  // namespace

std::span<const Kernel> quantization_kernels() {
  static const Kernel kKernels[] = {
      {"quantized_decomposed._choose_qparams_per_token_asymmetric_impl",
       infer_choose_qparams_per_token_asymmetric, bind_choose_qparams_per_token_asymmetric},
      {"quantized_decomposed.choose_qparams", infer_choose_qparams, bind_choose_qparams<false>},
      {"quantized_decomposed.choose_qparams_per_token", infer_choose_qparams_per_token,
       bind_choose_qparams_per_token},
      {"quantized_decomposed.choose_qparams_per_token_asymmetric",
       infer_choose_qparams_per_token_asymmetric, bind_choose_qparams_per_token_asymmetric},
      {"quantized_decomposed.choose_qparams_symmetric", infer_choose_qparams,
       bind_choose_qparams<true>},
      Kernel{"quantized_decomposed.convert_element_type", infer_convert_element_type,
             bind_convert_element_type}
          .rows(row_rules::pointwise)
          .copies("input"),
      {"quantized_decomposed.dequantize_per_channel", infer_dequantize_per_channel,
       bind_dequantize_per_channel},
      {"quantized_decomposed.dequantize_per_channel_group", infer_dequantize_per_channel_group,
       bind_dequantize_per_channel_group},
      Kernel{"quantized_decomposed.dequantize_per_tensor", infer_dequantize_per_tensor,
             bind_dequantize_per_tensor}
          .rows(row_rules::pointwise),
      {"quantized_decomposed.dequantize_per_token", infer_dequantize_per_token,
       bind_dequantize_per_token},
      {"quantized_decomposed.fake_quant_per_channel", infer_fake_quant_per_channel,
       bind_fake_quant_per_channel},
      {"quantized_decomposed.quantize_per_channel", infer_quantize_per_channel,
       bind_quantize_per_channel},
      {"quantized_decomposed.quantize_per_channel_group", infer_quantize_per_channel_group,
       bind_quantize_per_channel_group},
      Kernel{"quantized_decomposed.quantize_per_tensor", infer_quantize_per_tensor,
             bind_quantize_per_tensor}
          .rows(row_rules::pointwise),
      {"quantized_decomposed.quantize_per_token", infer_quantize_per_token,
       bind_quantize_per_token},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
