// quantized_decomposed: affine quantization, with scales and zero points as plain arguments.
//
// PyTorch has no kernels for these ops: each is a list of steps over tensors, and rounds as its
// steps do. Source: torch/ao/quantization/fx/_decomposed.py and determine_qparams of
// torch/ao/quantization/utils.py.
#include <algorithm>
#include <array>
#include <optional>

#include "reference/ops/composition.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The quantized dtypes, and between what their numbers lie.
struct QuantizedRange {
  DType dtype;
  double low;
  double high;
};
constexpr std::array kQuantizedRanges = {
    QuantizedRange{DType::kUInt8, 0, 255},
    QuantizedRange{DType::kInt8, -128, 127},
    QuantizedRange{DType::kInt16, -32768, 32767},
    QuantizedRange{DType::kInt32, -2147483648.0, 2147483647.0},
    QuantizedRange{DType::kFloat8E5M2, -57344, 57344},
    QuantizedRange{DType::kFloat8E4M3FN, -448, 448},
};

const QuantizedRange& quantized_range(DType dtype) {
  const auto* found =
      std::find_if(kQuantizedRanges.begin(), kQuantizedRanges.end(),
                   [&](const QuantizedRange& range) { return range.dtype == dtype; });
  if (found == kQuantizedRanges.end()) {
    throw OpError("numbers are not quantized to " + std::string(spec::torch_name(dtype)));
  }
  return *found;
}

DType dtype_of(const Call& call) { return *call.optional_dtype("dtype"); }

// Throws OpError unless the quantized dtype holds both numbers.
void check_limits(const Datum& low, const Datum& high, DType dtype) {
  const QuantizedRange& range = quantized_range(dtype);
  const bool is_held = is_fitting(low, [&](long double x) { return x >= range.low; }) &&
                       is_fitting(high, [&](long double x) { return x <= range.high; });
  if (!is_held) {
    throw OpError("quant_min or quant_max is out of bounds for " +
                  std::string(spec::torch_name(dtype)));
  }
}

void check_source(const Tensor& input, DType dtype) {
  if (input.dtype != dtype) {
    throw OpError("expected an input of " + std::string(spec::torch_name(dtype)) + ", not of " +
                  std::string(spec::torch_name(input.dtype)));
  }
}

// float16 and bfloat16 are widened first; other dtypes are refused.
TensorRef single_input(const Composition& run, const Call& call) {
  const TensorRef& input = call.tensor("input");
  if (input->dtype == DType::kFloat16 || input->dtype == DType::kBFloat16) {
    return to_dtype(run, input, DType::kFloat32);
  }
  check_source(*input, DType::kFloat32);
  return input;
}

// A number argument, or the one element of a tensor.
Datum number_argument(const Composition& run, const Call& call, std::string_view name) {
  const Datum& datum = call.datum(name);
  return datum.as<TensorRef>() ? run.datum("aten.item.default", {datum}) : datum;
}

// 1 / scale in Python's arithmetic, as a number that is rounded to float32 where it is used.
Datum inverse_of(const Composition& run, const Datum& scale) {
  if (const auto* rounded = scale.as<RoundedFloat>()) {
    const TensorRef wide = to_dtype(run, rounded->element, DType::kFloat64);
    return {to_dtype(run, run("aten.reciprocal.default", {{wide}}), DType::kFloat32)};
  }
  const double divisor = number<double>(scale, DType::kFloat64);
  if (divisor == 0) throw OpError("ZeroDivisionError: the scale is 0");
  return {1.0 / divisor};
}

TensorRef inverses_of(const Composition& run, const TensorRef& scales) {
  return run("aten.reciprocal.default", {{scales}});
}

// clamp(round(input * inverse) + zero_point, low, high)
TensorRef quantized(const Composition& run, const TensorRef& input, const Datum& inverse,
                    const Datum& zero_point, const Datum& low, const Datum& high) {
  const TensorRef scaled = run("aten.mul.Tensor", {{input}, inverse});
  const TensorRef shifted =
      run("aten.add.Tensor", {{run("aten.round.default", {{scaled}})}, zero_point});
  return run("aten.clamp.default", {{shifted}, low, high});
}

void quantize_per_tensor(Call& call) {
  const Composition run(call);
  const TensorRef input = single_input(run, call);
  const Datum scale = number_argument(run, call, "scale");
  const Datum zero_point = number_argument(run, call, "zero_point");
  const Datum low = number_argument(run, call, "quant_min");
  const Datum high = number_argument(run, call, "quant_max");
  check_limits(low, high, dtype_of(call));
  const TensorRef out = quantized(run, input, inverse_of(run, scale), zero_point, low, high);
  call.emit_datum({to_dtype(run, out, dtype_of(call))});
}

void dequantize_per_tensor(Call& call) {
  const Composition run(call);
  const DType dtype = dtype_of(call);
  check_source(*call.tensor("input"), dtype);
  (void)quantized_range(dtype);
  const Datum scale = number_argument(run, call, "scale");
  const Datum zero_point = number_argument(run, call, "zero_point");
  const TensorRef wide = to_dtype(run, call.tensor("input"),
                                  call.optional_dtype("out_dtype").value_or(DType::kFloat32));
  const TensorRef shifted = run("aten.sub.Tensor", {{wide}, zero_point});
  call.emit_datum({run("aten.mul.Tensor", {{shifted}, scale})});
}

// The axis of a per-channel op. Throws OpError.
std::int64_t channel_axis(const Call& call, const Tensor& input) {
  const std::int64_t axis = call.integer("axis");
  if (axis >= input.rank() || axis < -input.rank()) {
    throw OpError("axis " + std::to_string(axis) + " of an input of rank " +
                  std::to_string(input.rank()));
  }
  return wrap_dim(axis, input.rank());
}

// One parameter a channel, as a view that stretches over an input whose first dimension is the
// channels'.
TensorRef leading(const Composition& run, const TensorRef& parameters, std::int64_t rank) {
  if (parameters->rank() == 0) throw OpError("a scale for each channel wants a dimension");
  Sizes sizes(static_cast<std::size_t>(rank), 1);
  sizes[0] = parameters->sizes[0];
  return run("aten.view.default", {{parameters}, list_of(sizes)});
}

// The channels first, or back where they were.
TensorRef with_axis_first(const Composition& run, const TensorRef& tensor, std::int64_t axis) {
  return run("aten.transpose.int", {{tensor}, {axis}, {std::int64_t{0}}});
}

void quantize_per_channel(Call& call) {
  const Composition run(call);
  const TensorRef input = single_input(run, call);
  const std::int64_t axis = channel_axis(call, *input);
  check_limits(call.datum("quant_min"), call.datum("quant_max"), dtype_of(call));
  const TensorRef scales = leading(run, call.tensor("scales"), input->rank());
  const TensorRef zero_points = leading(run, call.tensor("zero_points"), input->rank());
  const TensorRef out =
      quantized(run, with_axis_first(run, input, axis), {inverses_of(run, scales)}, {zero_points},
                call.datum("quant_min"), call.datum("quant_max"));
  call.emit_datum({to_dtype(run, with_axis_first(run, out, axis), dtype_of(call))});
}

void dequantize_per_channel(Call& call) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  check_source(*input, dtype_of(call));
  const std::int64_t axis = channel_axis(call, *input);
  check_limits(call.datum("quant_min"), call.datum("quant_max"), dtype_of(call));
  TensorRef out = with_axis_first(run, input, axis);
  const TensorRef scales = leading(run, call.tensor("scales"), input->rank());
  if (const TensorRef zero_points = call.optional_tensor("zero_points")) {
    out = run("aten.sub.Tensor", {{out}, {leading(run, zero_points, input->rank())}});
  }
  out = run("aten.mul.Tensor", {{out}, {scales}});
  out = to_dtype(run, out, call.optional_dtype("out_dtype").value_or(DType::kFloat32));
  call.emit_datum({with_axis_first(run, out, axis)});
}

// Quantized numbers and back, in float32: what training sees of a quantization.
void fake_quant_per_channel(Call& call) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  check_source(*input, DType::kFloat32);
  const std::int64_t axis = channel_axis(call, *input);
  if (axis != call.integer("axis")) throw OpError("axis counts from the front");
  const auto along_axis = [&](std::string_view name, DType dtype) {
    const TensorRef parameters = to_dtype(run, call.tensor(name), dtype);
    if (parameters->rank() != 1) throw OpError("expected one parameter for each channel");
    Sizes sizes(input->sizes.size(), 1);
    sizes[static_cast<std::size_t>(axis)] = parameters->sizes[0];
    return run("aten.view.default", {{parameters}, list_of(sizes)});
  };
  const TensorRef scales = along_axis("scales", DType::kFloat32);
  const TensorRef zero_points = along_axis("zero_points", DType::kInt32);
  const TensorRef out = quantized(run, input, {inverses_of(run, scales)}, {zero_points},
                                  call.datum("quant_min"), call.datum("quant_max"));
  const TensorRef shifted = run("aten.sub.Tensor", {{out}, {zero_points}});
  call.emit_datum({run("aten.mul.Tensor", {{shifted}, {scales}})});
}

// clamp(round(input / scales + zero_points)): here the zero point goes in before the rounding.
TensorRef quantized_behind_shift(const Composition& run, const Call& call, const TensorRef& input,
                                 const TensorRef& scales, const TensorRef& zero_points) {
  const TensorRef scaled = run("aten.mul.Tensor", {{input}, {inverses_of(run, scales)}});
  const TensorRef shifted = run("aten.add.Tensor", {{scaled}, {zero_points}});
  const TensorRef out = run(
      "aten.clamp.default",
      {{run("aten.round.default", {{shifted}})}, call.datum("quant_min"), call.datum("quant_max")});
  return to_dtype(run, out, dtype_of(call));
}

void quantize_per_token(Call& call) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  check_limits(call.datum("quant_min"), call.datum("quant_max"), dtype_of(call));
  std::int64_t tokens = 1;
  for (std::int64_t d = 0; d + 1 < input->rank(); ++d) {
    tokens *= input->sizes[static_cast<std::size_t>(d)];
  }
  for (const std::string_view name : {"scales", "zero_points"}) {
    if (call.tensor(name)->count() == tokens) continue;
    throw OpError(std::string(name) + " has not one element for each of " + std::to_string(tokens) +
                  " tokens");
  }
  call.emit_datum({quantized_behind_shift(run, call, input, call.tensor("scales"),
                                          call.tensor("zero_points"))});
}

void dequantize_per_token(Call& call) {
  const Composition run(call);
  const TensorRef shifted =
      run("aten.sub.Tensor", {{call.tensor("input")}, {call.tensor("zero_points")}});
  const TensorRef out = run("aten.mul.Tensor", {{shifted}, {call.tensor("scales")}});
  call.emit_datum({to_dtype(run, out, *call.optional_dtype("output_dtype"))});
}

// The elements of one group of a matrix's row. One group that is asked to be longer than the row,
// with one scale a row, is the row.
std::int64_t group_size_of(const Call& call, const Tensor& input, const Tensor& scales) {
  std::int64_t size = call.integer("group_size");
  if (size <= 1) throw OpError("group_size must be more than 1");
  if (input.rank() != 2) throw OpError("groups are parts of the rows of a matrix");
  const bool is_one_a_row = scales.rank() > 0 && scales.sizes.back() == 1;
  if (size > input.sizes[1] && is_one_a_row) size = input.sizes[1];
  if (size == 0 || input.sizes[1] % size != 0) {
    throw OpError("rows of " + std::to_string(input.sizes[1]) + " have no groups of " +
                  std::to_string(size));
  }
  return size;
}

void quantize_per_channel_group(Call& call) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  const std::int64_t size = group_size_of(call, *input, *call.tensor("scales"));
  const TensorRef groups = reshaped(run, input, {-1, size});
  const TensorRef nans = run("aten.any.default", {{run("aten.isnan.default", {{groups}})}});
  if (*run.datum("aten.item.default", {{nans}}).as<bool>()) {
    throw OpError("what is quantized must not hold NaNs");
  }
  const TensorRef out =
      quantized_behind_shift(run, call, groups, reshaped(run, call.tensor("scales"), {-1, 1}),
                             reshaped(run, call.tensor("zero_points"), {-1, 1}));
  call.emit_datum({reshaped(run, out, input->sizes)});
}

void dequantize_per_channel_group(Call& call) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  const std::int64_t size = group_size_of(call, *input, *call.tensor("scales"));
  TensorRef out = reshaped(run, input, {-1, size});
  const TensorRef zero_points = call.optional_tensor("zero_points");
  const TensorRef shift = zero_points ? reshaped(run, zero_points, {-1, 1})
                                      : new_tensor(DType::kInt32, {}, input->device);
  out = run("aten.sub.Tensor", {{out}, {shift}});
  out = run("aten.mul.Tensor", {{out}, {reshaped(run, call.tensor("scales"), {-1, 1})}});
  call.emit_datum(
      {to_dtype(run, reshaped(run, out, input->sizes), *call.optional_dtype("output_dtype"))});
}

// Two numbers that hold the range of an input and 0.
struct CoveredRange {
  TensorRef low;
  TensorRef high;
};

CoveredRange covered_range(const Composition& run, const TensorRef& least,
                           const TensorRef& greatest) {
  const auto zeros = [&](const TensorRef& like) {
    return Datum{run("aten.zeros_like.default", {{like}})};
  };
  return {run("aten.minimum.default", {{least}, zeros(least)}),
          run("aten.maximum.default", {{greatest}, zeros(greatest)})};
}

TensorRef one_element(DType dtype, double value, const spec::Device& device) {
  const TensorRef out = new_tensor(dtype, {1}, device);
  store(*out, Array<double>({1}, value));
  return out;
}

// Scale and zero point of the whole tensor.
void choose_per_tensor(Call& call, bool is_symmetric) {
  const Composition run(call);
  const TensorRef& input = call.tensor("input");
  if (!spec::is_floating_point(input->dtype) || input->dtype == DType::kFloat64 ||
      is_float8(input->dtype)) {
    throw OpError("expected an input of float32, float16 or bfloat16");
  }
  (void)quantized_range(dtype_of(call));
  const std::int64_t low = call.integer("quant_min");
  const std::int64_t high = call.integer("quant_max");
  if (low > 0 || high < 0 || low >= high) {
    throw OpError("a range of quantized numbers holds 0 and more");
  }
  const std::vector<Datum> ends = run.all("aten.aminmax.default", {{input}});
  const CoveredRange range = covered_range(run, *ends[0].as<TensorRef>(), *ends[1].as<TensorRef>());
  const TensorRef eps = one_element(DType::kFloat32, call.real("eps"), input->device);
  const auto length = static_cast<double>(high - low);
  TensorRef width;
  if (is_symmetric) {
    const TensorRef below = run("aten.neg.default", {{range.low}});
    width = run("aten.div.Tensor",
                {{run("aten.maximum.default", {{below}, {range.high}})}, {length / 2}});
  } else {
    width =
        run("aten.div.Tensor", {{run("aten.sub.Tensor", {{range.high}, {range.low}})}, {length}});
  }
  const TensorRef scale = run("aten.maximum.default", {{width}, {eps}});
  call.emit_datum({to_dtype(run, scale, DType::kFloat64)});
  if (is_symmetric) {
    const double zero_point = dtype_of(call) == DType::kUInt8 ? 128 : 0;
    return call.emit_datum({one_element(DType::kInt64, zero_point, input->device)});
  }
  const TensorRef steps =
      run("aten.round.default", {{run("aten.div.Tensor", {{range.low}, {scale}})}});
  const TensorRef zero_point =
      run("aten.rsub.Scalar", {{to_dtype(run, steps, DType::kInt32)}, {low}});
  call.emit_datum(
      {to_dtype(run, run("aten.clamp.default", {{zero_point}, {low}, {high}}), DType::kInt64)});
}

void choose_qparams(Call& call) { choose_per_tensor(call, false); }
void choose_qparams_symmetric(Call& call) { choose_per_tensor(call, true); }

const TensorRef& token_input(const Call& call) {
  const TensorRef& input = call.tensor("input");
  if (!spec::is_floating_point(input->dtype) || is_float8(input->dtype)) {
    throw OpError("tokens are quantized from floating point numbers");
  }
  return input;
}

// A scale for each token, by its greatest magnitude.
void choose_qparams_per_token(Call& call) {
  const Composition run(call);
  if (dtype_of(call) != DType::kInt8) throw OpError("tokens are quantized to int8");
  const TensorRef magnitudes = run("aten.abs.default", {{token_input(call)}});
  TensorRef greatest = run("aten.amax.default", {{magnitudes}, list_of(Sizes{-1}), {true}});
  if (greatest->dtype == DType::kFloat16) greatest = to_dtype(run, greatest, DType::kFloat32);
  const TensorRef scales =
      run("aten.div.Tensor", {{run("aten.clamp.default", {{greatest}, {1e-5}})}, {127.0}});
  call.emit_datum({scales});
  call.emit_datum({run("aten.zeros_like.default", {{scales}})});
}

// Scale and zero point for each token; the zero point by the end of the range that errs less.
void choose_qparams_per_token_asymmetric(Call& call) {
  const Composition run(call);
  constexpr std::int64_t kLow = -128;
  constexpr std::int64_t kHigh = 127;
  constexpr double kEps = 0x1p-23;
  const TensorRef& input = token_input(call);
  const CoveredRange range =
      covered_range(run, run("aten.amin.default", {{input}, list_of(Sizes{-1}), {true}}),
                    run("aten.amax.default", {{input}, list_of(Sizes{-1}), {true}}));
  const TensorRef width = run("aten.sub.Tensor", {{range.high}, {range.low}});
  const TensorRef scale =
      run("aten.clamp.default",
          {{run("aten.div.Tensor", {{width}, {static_cast<double>(kHigh - kLow)}})}, {kEps}});
  const Datum low = {run("aten.div.Tensor", {{range.low}, {scale}})};
  const Datum high = {run("aten.div.Tensor", {{range.high}, {scale}})};
  const TensorRef error = run("aten.add.Tensor", {{run("aten.add.Tensor", {low, {kLow}})},
                                                  {run("aten.add.Tensor", {high, {kHigh}})}});
  const TensorRef zero_point =
      run("aten.where.self", {{run("aten.gt.Scalar", {{error}, {std::int64_t{0}}})},
                              {run("aten.rsub.Scalar", {low, {kLow}})},
                              {run("aten.rsub.Scalar", {high, {kHigh}})}});
  const TensorRef clamped = run("aten.clamp.default", {{zero_point}, {kLow}, {kHigh}});
  call.emit_datum({to_dtype(run, scale, DType::kFloat64)});
  call.emit_datum({to_dtype(run, run("aten.round.default", {{clamped}}), DType::kInt64)});
}

void convert_element_type(Call& call) {
  const Composition run(call);
  call.emit_datum({run("aten._to_copy.default", {{call.tensor("input")}, {dtype_of(call)}})});
}

constexpr std::array kQuantizationOps = {
    OpBody{"quantized_decomposed._choose_qparams_per_token_asymmetric_impl",
           choose_qparams_per_token_asymmetric},
    OpBody{"quantized_decomposed.choose_qparams", choose_qparams},
    OpBody{"quantized_decomposed.choose_qparams_per_token", choose_qparams_per_token},
    OpBody{"quantized_decomposed.choose_qparams_per_token_asymmetric",
           choose_qparams_per_token_asymmetric},
    OpBody{"quantized_decomposed.choose_qparams_symmetric", choose_qparams_symmetric},
    OpBody{"quantized_decomposed.convert_element_type", convert_element_type}.moves("input"),
    OpBody{"quantized_decomposed.dequantize_per_channel", dequantize_per_channel},
    OpBody{"quantized_decomposed.dequantize_per_channel_group", dequantize_per_channel_group},
    OpBody{"quantized_decomposed.dequantize_per_tensor", dequantize_per_tensor},
    OpBody{"quantized_decomposed.dequantize_per_token", dequantize_per_token},
    OpBody{"quantized_decomposed.fake_quant_per_channel", fake_quant_per_channel},
    OpBody{"quantized_decomposed.quantize_per_channel", quantize_per_channel},
    OpBody{"quantized_decomposed.quantize_per_channel_group", quantize_per_channel_group},
    OpBody{"quantized_decomposed.quantize_per_tensor", quantize_per_tensor},
    OpBody{"quantized_decomposed.quantize_per_token", quantize_per_token},
};

}  // namespace

std::span<const OpBody> quantization_ops() { return kQuantizationOps; }

}  // namespace graphgate::reference
