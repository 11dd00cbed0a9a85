// Affine quantization to 8 and 16 bits and back, and the choice of its parameters.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct QuantizedDType {
  DType dtype;
  std::int64_t low;
  std::int64_t high;
};
constexpr QuantizedDType kQuantizedDTypes[] = {
    {DType::kInt8, -128, 127}, {DType::kUInt8, 0, 255}, {DType::kInt16, -32768, 32767}};

const QuantizedDType& draw_quantized(GeneReader& genes) {
  return kQuantizedDTypes[genes.next() % std::size(kQuantizedDTypes)];
}

// Between what quantized numbers are clamped: all that the dtype holds, or four bits.
Bounds draw_limits(GeneReader& genes, const QuantizedDType& quantized) {
  if (genes.chance(70)) return {quantized.low, quantized.high};
  return quantized.low < 0 ? Bounds{-8, 7} : Bounds{0, 15};
}

void add_limits(NodeBuilder& node, const Bounds& limits, DType dtype) {
  node.integer("quant_min", limits.least).integer("quant_max", limits.most).dtype("dtype", dtype);
}

double draw_scale(GeneReader& genes) {
  static constexpr double kScales[] = {0.5, 0.25, 0.1, 2.0, 0.03125, 0.7};
  return kScales[genes.next() % std::size(kScales)];
}

bool is_up_to_single(const DrawnTensor& tensor) {
  return is_computed_float(tensor.dtype) && tensor.dtype != DType::kFloat64;
}

std::optional<TensorIndex> pick_quantizable(Draft& draft, GeneReader& genes, int least_rank) {
  return draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_up_to_single(tensor) && tensor.sizes.rank >= least_rank;
  });
}

bool is_quantized(const DrawnTensor& tensor) {
  return tensor.dtype == DType::kInt8 || tensor.dtype == DType::kUInt8 ||
         tensor.dtype == DType::kInt16;
}

const QuantizedDType& quantized_of(DType dtype) {
  for (const QuantizedDType& known : kQuantizedDTypes) {
    if (known.dtype == dtype) return known;
  }
  return kQuantizedDTypes[0];
}

// With numbers, or with tensors of one element.
bool draw_quantize(Draft& draft, GeneReader& genes, std::size_t by_tensors) {
  const auto self = pick_quantizable(draft, genes, 0);
  if (!self) return false;
  const QuantizedDType& quantized = draw_quantized(genes);
  const Bounds limits = draw_limits(genes, quantized);
  const Shape sizes = draft.tensor(*self).sizes;
  const Layout layout = row_major_like(draft, {*self}, sizes);
  const auto zero_point = static_cast<std::int64_t>(genes.next() % 8);
  if (by_tensors == 0) {
    NodeBuilder node(draft, "quantized_decomposed.quantize_per_tensor.default");
    node.tensor("input", *self).real("scale", draw_scale(genes)).integer("zero_point", zero_point);
    add_limits(node, limits, quantized.dtype);
    draft.set_range(node.fresh(quantized.dtype, sizes, layout), limits);
    return true;
  }
  const TensorIndex scale = draft.add_filled(genes.chance(50) ? DType::kFloat32 : DType::kFloat64,
                                             Shape{1}, 1 + genes.next() % 3);
  const TensorIndex zero = draft.add_filled(DType::kInt64, Shape{1}, zero_point);
  NodeBuilder node(draft, "quantized_decomposed.quantize_per_tensor.tensor");
  node.tensor("input", *self).tensor("scale", scale).tensor("zero_point", zero);
  add_limits(node, limits, quantized.dtype);
  draft.set_range(node.fresh(quantized.dtype, sizes, layout), limits);
  return true;
}

bool draw_dequantize(Draft& draft, GeneReader& genes, std::size_t by_tensors) {
  const auto self = draft.pick(genes, is_quantized);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const QuantizedDType& quantized = quantized_of(from.dtype);
  const Layout layout = row_major_like(draft, {*self}, from.sizes);
  const auto zero_point = static_cast<std::int64_t>(genes.next() % 8);
  std::optional<DType> asked;
  if (genes.chance(30)) asked = draft.draw_floating(genes);
  std::optional<TensorIndex> scale;
  std::optional<TensorIndex> zero;
  if (by_tensors == 1) {
    scale = draft.add_filled(DType::kFloat64, Shape{1}, 1 + genes.next() % 3);
    zero = draft.add_filled(DType::kInt64, Shape{1}, zero_point);
  }
  NodeBuilder node(draft, by_tensors == 1 ? "quantized_decomposed.dequantize_per_tensor.tensor"
                                          : "quantized_decomposed.dequantize_per_tensor.default");
  node.tensor("input", *self);
  if (scale) {
    node.tensor("scale", *scale).tensor("zero_point", *zero);
  } else {
    node.real("scale", draw_scale(genes)).integer("zero_point", zero_point);
  }
  add_limits(node, {quantized.low, quantized.high}, from.dtype);
  if (asked) node.dtype("out_dtype", *asked);
  node.fresh(asked.value_or(DType::kFloat32), from.sizes, layout);
  return true;
}

// A parameter for each index of one dimension.
struct ChannelParameters {
  int axis = 0;
  TensorIndex scales = 0;
  TensorIndex zero_points = 0;
};
ChannelParameters add_channel_parameters(Draft& draft, GeneReader& genes, const Shape& sizes) {
  ChannelParameters out;
  out.axis = static_cast<int>(genes.next() % static_cast<unsigned>(sizes.rank));
  const Shape channels{sizes[out.axis]};
  out.scales = draft.add_filled(genes.chance(70) ? DType::kFloat32 : DType::kFloat64, channels,
                                1 + genes.next() % 3);
  out.zero_points = draft.add_filled(genes.chance(50) ? DType::kInt64 : DType::kInt32, channels,
                                     static_cast<std::int64_t>(genes.next() % 5));
  return out;
}

bool draw_quantize_channels(Draft& draft, GeneReader& genes, std::size_t and_back) {
  const auto self = pick_quantizable(draft, genes, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  if (and_back == 1 && from.dtype != DType::kFloat32) return false;
  const QuantizedDType& quantized = draw_quantized(genes);
  const Bounds limits = draw_limits(genes, quantized);
  const ChannelParameters by = add_channel_parameters(draft, genes, from.sizes);
  NodeBuilder node(draft, and_back == 1 ? "quantized_decomposed.fake_quant_per_channel.default"
                                        : "quantized_decomposed.quantize_per_channel.default");
  node.tensor("input", *self).tensor("scales", by.scales).tensor("zero_points", by.zero_points);
  node.integer("axis", by.axis);
  if (and_back == 1) {
    node.integer("quant_min", limits.least).integer("quant_max", limits.most);
    node.fresh(DType::kFloat32, from.sizes, Layout{});
  } else {
    add_limits(node, limits, quantized.dtype);
    draft.set_range(node.fresh(quantized.dtype, from.sizes, Layout{}), limits);
  }
  return true;
}

bool draw_dequantize_channels(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [](const DrawnTensor& tensor) {
    return is_quantized(tensor) && tensor.sizes.rank > 0;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const QuantizedDType& quantized = quantized_of(from.dtype);
  const ChannelParameters by = add_channel_parameters(draft, genes, from.sizes);
  NodeBuilder node(draft, "quantized_decomposed.dequantize_per_channel.default");
  node.tensor("input", *self).tensor("scales", by.scales);
  if (genes.chance(70)) {
    node.tensor("zero_points", by.zero_points);
  } else {
    node.none("zero_points");
  }
  node.integer("axis", by.axis);
  add_limits(node, {quantized.low, quantized.high}, from.dtype);
  node.fresh(DType::kFloat32, from.sizes, Layout{});
  return true;
}

// No element has no range.
bool may_be_empty(Draft& draft, const DrawnTensor& tensor) {
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    if (draft.table().bounds(tensor.sizes[d]).least < 1) return true;
  }
  return false;
}

// Parameters for each row of the last dimension, chosen from what it holds.
bool draw_tokens(Draft& draft, GeneReader& genes, std::size_t is_symmetric) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  if (may_be_empty(draft, from)) return false;
  Shape sizes = from.sizes;
  sizes[sizes.rank - 1] = 1;
  const DType dtype = from.dtype == DType::kFloat16 ? DType::kFloat32 : from.dtype;
  NodeBuilder node(draft, is_symmetric == 1
                              ? "quantized_decomposed.choose_qparams_per_token.default"
                              : "quantized_decomposed.choose_qparams_per_token_asymmetric.default");
  node.tensor("input", self).dtype("dtype", DType::kInt8);
  node.fresh(is_symmetric == 1 ? dtype : DType::kFloat64, sizes, Layout{});
  const TensorIndex zero = node.fresh(is_symmetric == 1 ? dtype : DType::kInt64, sizes, Layout{});
  if (is_symmetric == 0) draft.set_range(zero, {-128, 127});
  return true;
}

// The same for the whole tensor.
bool draw_parameters(Draft& draft, GeneReader& genes, std::size_t is_symmetric) {
  const auto self = pick_quantizable(draft, genes, 0);
  if (!self) return false;
  if (may_be_empty(draft, draft.tensor(*self))) return false;
  const QuantizedDType& quantized = draw_quantized(genes);
  NodeBuilder node(draft, is_symmetric == 1 ? "quantized_decomposed.choose_qparams_symmetric.tensor"
                                            : "quantized_decomposed.choose_qparams.tensor");
  node.tensor("input", *self);
  node.integer("quant_min", quantized.low).integer("quant_max", quantized.high);
  node.real("eps", 0x1p-20).dtype("dtype", quantized.dtype);
  node.fresh(DType::kFloat64, Shape{1});
  draft.set_range(node.fresh(DType::kInt64, Shape{1}), {quantized.low, quantized.high});
  return true;
}

// Tokens to int8 and back.
bool draw_quantize_tokens(Draft& draft, GeneReader& genes, std::size_t back) {
  const auto self = back == 1 ? draft.pick(genes,
                                           [](const DrawnTensor& tensor) {
                                             return is_quantized(tensor) && tensor.sizes.rank > 0;
                                           })
                              : pick_quantizable(draft, genes, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Shape tokens = from.sizes;
  tokens[tokens.rank - 1] = 1;
  const TensorIndex scales = draft.add_filled(genes.chance(50) ? DType::kFloat32 : DType::kFloat64,
                                              tokens, 1 + genes.next() % 3);
  const TensorIndex zero_points =
      draft.add_filled(DType::kInt64, tokens, static_cast<std::int64_t>(genes.next() % 5));
  NodeBuilder node(draft, back == 1 ? "quantized_decomposed.dequantize_per_token.default"
                                    : "quantized_decomposed.quantize_per_token.default");
  node.tensor("input", *self).tensor("scales", scales).tensor("zero_points", zero_points);
  const QuantizedDType& quantized = back == 1 ? quantized_of(from.dtype) : draw_quantized(genes);
  const Bounds limits = {quantized.low, quantized.high};
  add_limits(node, limits, quantized.dtype);
  if (back == 1) {
    node.dtype("output_dtype", DType::kFloat32).fresh(DType::kFloat32, from.sizes, Layout{});
  } else {
    draft.set_range(node.fresh(quantized.dtype, from.sizes, Layout{}), limits);
  }
  return true;
}

constexpr DrawnOp kQuantizationRows[] = {
    {"quantized_decomposed.quantize_per_tensor", 3, draw_quantize, 0, 6},
    {"quantized_decomposed.quantize_per_tensor", 1, draw_quantize, 1, 6},
    {"quantized_decomposed.dequantize_per_tensor", 4, draw_dequantize, 0, 6},
    {"quantized_decomposed.dequantize_per_tensor", 1, draw_dequantize, 1, 6},
    {"quantized_decomposed.quantize_per_channel", 2, draw_quantize_channels, 0, 6},
    {"quantized_decomposed.fake_quant_per_channel", 1, draw_quantize_channels, 1, 6},
    {"quantized_decomposed.dequantize_per_channel", 2, draw_dequantize_channels, 0, 6},
    {"quantized_decomposed.quantize_per_token", 1, draw_quantize_tokens, 0, 6},
    {"quantized_decomposed.dequantize_per_token", 1, draw_quantize_tokens, 1, 6},
    {"quantized_decomposed.choose_qparams", 1, draw_parameters, 0, 6},
    {"quantized_decomposed.choose_qparams_symmetric", 1, draw_parameters, 1, 6},
    {"quantized_decomposed.choose_qparams_per_token_asymmetric", 1, draw_tokens, 0, 6},
    {"quantized_decomposed.choose_qparams_per_token", 1, draw_tokens, 1, 6},
};

}  // namespace

std::span<const DrawnOp> quantization_rows() { return kQuantizationRows; }

}  // namespace graphgate::fuzz
