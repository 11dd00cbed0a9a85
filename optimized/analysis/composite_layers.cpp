// Composite ops of layers: batch norms that write no argument, bags of embeddings, windows, grids.
#include <cmath>
#include <numbers>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

// ---- batch normalization

// The running statistics are copied, and the copies are moved on.
struct RunningCopies {
  explicit RunningCopies(Parts& parts)
      : mean(parts.run("aten.clone.default", {parts["running_mean"]})),
        variance(parts.run("aten.clone.default", {parts["running_var"]})) {}

  [[nodiscard]] Values behind(Values results) const {
    results.push_back(mean);
    results.push_back(variance);
    return results;
  }

  Argument mean;
  Argument variance;
};

Values normalize_batch(Parts& parts) {
  const RunningCopies running(parts);
  return running.behind(
      parts.all("aten._native_batch_norm_legit.default",
                {parts["input"], parts["weight"], parts["bias"], running.mean, running.variance,
                 parts["training"], parts["momentum"], parts["eps"]}));
}

Values normalize_batch_and_update(Parts& parts) {
  const RunningCopies running(parts);
  return running.behind(parts.all("aten._batch_norm_with_update.default",
                                  {parts["input"], parts["weight"], parts["bias"], running.mean,
                                   running.variance, parts["momentum"], parts["eps"]}));
}

Values normalize_by_running(Parts& parts) {
  Values all = parts.all("aten._native_batch_norm_legit_no_training.default",
                         {parts["input"], parts["weight"], parts["bias"], parts["running_mean"],
                          parts["running_var"], parts["momentum"], parts["eps"]});
  all.push_back(parts.run("aten.new_empty.default",
                          {parts["input"], integers_argument({0}), {DType::kUInt8}}));
  return all;
}

// ---- bags of embeddings

Values bags(Parts& parts) {
  std::int64_t padding = -1;
  if (parts.has("padding_idx")) {
    padding = wrap_dim(parts.integer("padding_idx"), parts.tensor("weight").size(0));
  }
  return parts.all("aten._embedding_bag_forward_only.default", {parts["weight"],
                                                                parts["indices"],
                                                                parts["offsets"],
                                                                parts["scale_grad_by_freq"],
                                                                parts["mode"],
                                                                parts["sparse"],
                                                                parts["per_sample_weights"],
                                                                parts["include_last_offset"],
                                                                {padding}});
}

// ---- convolution over time

// The dimensions of a convolution are batch, channels and time; of its weight out, in and time.
Values convolve_time(Parts& parts) {
  if (parts.tensor("self").rank() != 3 || parts.tensor("weight").rank() != 3) {
    throw OpError("conv_tbc takes three dimensions");
  }
  const auto ordered = [&](const Argument& value, std::initializer_list<std::int64_t> dims) {
    return parts.run("aten.permute.default", {value, integers_argument(dims)});
  };
  const Argument input = ordered(parts["self"], {1, 2, 0});
  const Argument weight = ordered(parts["weight"], {2, 1, 0});
  const Argument out =
      parts.run("aten.convolution.default", {input,
                                             weight,
                                             parts["bias"],
                                             integers_argument({1}),
                                             integers_argument({parts.integer("pad")}),
                                             integers_argument({1}),
                                             {false},
                                             integers_argument({0}),
                                             {std::int64_t{1}}});
  return {parts.run("aten.clone.default",
                    {ordered(out, {2, 0, 1}), {spec::MemoryFormat::kContiguous}})};
}

// ---- window functions

// What every window asks for. A periodic one is all but the last element of one that is longer.
struct WindowOf {
  explicit WindowOf(Parts& parts)
      : length(parts.integer("window_length")),
        periodic(parts.boolean_or("periodic", true)),
        dtype(parts.optional_dtype("dtype").value_or(DType::kFloat32)),
        device(parts["device"]) {
    if (length < 0) throw OpError("a window has no negative length");
    if (!spec::is_floating_point(dtype)) throw OpError("a window is of floating point numbers");
  }

  [[nodiscard]] std::int64_t steps() const { return periodic ? length : length - 1; }

  std::int64_t length;
  bool periodic;
  DType dtype;
  Argument device;
};

Argument multiple(Parts& parts, const Argument& value, double factor) {
  return parts.run("aten.mul.Scalar", {value, {factor}});
}
Argument more(Parts& parts, const Argument& value, double summand) {
  return parts.run("aten.add.Scalar", {value, {summand}});
}

// The window that `formula` makes of the numbers 0, 1, ... steps().
template <class Formula>
Values window_of(Parts& parts, const Formula& formula) {
  const WindowOf window(parts);
  if (window.length < 2) {
    return {parts.run("aten.full.default", {integers_argument({window.length}),
                                            {1.0},
                                            {window.dtype},
                                            {spec::None{}},
                                            window.device})};
  }
  const Argument numbers = parts.run(
      "aten.arange.default", {{window.steps() + 1}, {window.dtype}, {spec::None{}}, window.device});
  const Argument all = formula(numbers, window);
  if (!window.periodic) return {all};
  return {
      parts.run("aten.slice.Tensor", {all, {std::int64_t{0}}, {std::int64_t{0}}, {window.length}})};
}

// alpha - beta cos(2 pi i / steps)
Values raised_cosine(Parts& parts, double alpha, double beta) {
  return window_of(parts, [&](const Argument& numbers, const WindowOf& window) {
    const double step = 2 * std::numbers::pi / static_cast<double>(window.steps());
    const Argument cosine = parts.run("aten.cos.default", {multiple(parts, numbers, step)});
    return more(parts, multiple(parts, cosine, -beta), alpha);
  });
}
Values window_of_hann(Parts& parts) { return raised_cosine(parts, 0.5, 0.5); }
Values window_of_hamming(Parts& parts) {
  return raised_cosine(parts, parts.optional_real("alpha").value_or(0.54),
                       parts.optional_real("beta").value_or(0.46));
}

// 0.42 - 0.5 cos(2 t) + 0.08 cos(4 t), t = pi i / steps
Values window_of_blackman(Parts& parts) {
  return window_of(parts, [&](const Argument& numbers, const WindowOf& window) {
    const Argument t =
        multiple(parts, numbers, std::numbers::pi / static_cast<double>(window.steps()));
    const auto wave = [&](double times, double height) {
      return multiple(parts, parts.run("aten.cos.default", {multiple(parts, t, times)}), height);
    };
    const Argument high = wave(4, 0.08);
    return more(parts, parts.run("aten.sub.Tensor", {high, wave(2, 0.5)}), 0.42);
  });
}

// 2 i / steps, and what is above 1 mirrored.
Values window_of_bartlett(Parts& parts) {
  return window_of(parts, [&](const Argument& numbers, const WindowOf& window) {
    const Argument rising = multiple(parts, numbers, 2.0 / static_cast<double>(window.steps()));
    const Argument falling = more(parts, parts.run("aten.neg.default", {rising}), 2);
    const Argument is_first = parts.run("aten.le.Scalar", {numbers, {window.steps() / 2}});
    return parts.run("aten.where.self", {is_first, rising, falling});
  });
}

Values window_of_kaiser(Parts& parts) {
  const double beta = parts.optional_real("beta").value_or(12);
  return window_of(parts, [&](const Argument& numbers, const WindowOf& window) {
    const bool is_narrow = spec::item_size_bytes(window.dtype) < 4;
    const Argument wide =
        is_narrow ? parts.run("aten.to.dtype", {numbers, {DType::kFloat32}}) : numbers;
    const double middle = static_cast<double>(window.steps()) / 2;
    const Argument distance = more(parts, wide, -middle);
    const Argument x = parts.run("aten.div.Scalar", {distance, {middle}});
    const Argument square = parts.run("aten.square.default", {x});
    const Argument rest = more(parts, parts.run("aten.neg.default", {square}), 1);
    const Argument root = parts.run("aten.sqrt.default", {rest});
    const Argument over = parts.run("aten.i0.default", {multiple(parts, root, beta)});
    const Argument under =
        parts.run("aten.i0.default", {parts.run("aten.full_like.default", {wide, {beta}})});
    const Argument out = parts.run("aten.div.Tensor", {over, under});
    return is_narrow ? parts.run("aten.to.dtype", {out, {window.dtype}}) : out;
  });
}

// ---- grids

// `count` numbers from -1 to 1; with `edges` these are the outer edges of as many cells.
Argument cell_places(Parts& parts, const Tensor& like, std::int64_t count, bool edges) {
  const Argument dtype = {like.dtype};
  const Argument device = {like.device};
  if (count < 2) {
    return parts.run("aten.zeros.default",
                     {integers_argument({count}), dtype, {spec::None{}}, device});
  }
  const Argument ends =
      parts.run("aten.linspace.default", {{-1.0}, {1.0}, {count}, dtype, {spec::None{}}, device});
  if (!edges) return ends;
  const Argument scaled = parts.run("aten.mul.Scalar", {ends, {count - 1}});
  return parts.run("aten.div.Scalar", {scaled, {count}});
}

// The places of all elements, as rows of coordinates and a 1, times each image's matrix.
Values affine_grid(Parts& parts) {
  const Tensor theta = parts.tensor("theta");
  const Sizes size = parts.integers("size");
  const auto spatial = static_cast<std::int64_t>(size.size()) - 2;
  if (spatial < 2 || spatial > 3) throw OpError("a grid has two dimensions or three");
  if (theta.sizes != Sizes{size[0], spatial, spatial + 1}) {
    throw OpError("theta does not fit the size of the grid");
  }
  std::vector<std::int64_t> sizes(size.begin() + 2, size.end());
  std::int64_t count = 1;
  for (const std::int64_t each : sizes) count *= each;
  Argument::List columns;
  for (std::int64_t d = spatial; d-- > 0;) {
    std::vector<std::int64_t> own(sizes.size(), 1);
    own[at(d)] = sizes[at(d)];
    const Argument places =
        cell_places(parts, theta, sizes[at(d)], !parts.boolean("align_corners"));
    const Argument along = parts.run("aten.view.default", {places, integers_argument(own)});
    const Argument all = parts.run("aten.expand.default", {along, integers_argument(sizes)});
    columns.push_back(parts.run("aten.reshape.default", {all, integers_argument({count})}));
  }
  columns.push_back(
      parts.run("aten.ones.default",
                {integers_argument({count}), {theta.dtype}, {spec::None{}}, {theta.device}}));
  const Argument rows = parts.run("aten.stack.default", {{std::move(columns)}, {std::int64_t{1}}});
  const Argument batch =
      parts.run("aten.expand.default", {rows, integers_argument({size[0], count, spatial + 1})});
  const Argument matrices =
      parts.run("aten.transpose.int", {parts["theta"], {std::int64_t{1}}, {std::int64_t{2}}});
  const Argument grid = parts.run("aten.bmm.default", {batch, matrices});
  sizes.insert(sizes.begin(), size[0]);
  sizes.push_back(spatial);
  return {parts.run("aten.view.default", {grid, integers_argument(sizes)})};
}

// ---- quantization and back

Argument in_dtype(Parts& parts, const Argument& value, DType dtype) {
  if (parts.of(value).dtype == dtype) return value;
  return parts.run("aten.to.dtype", {value, {dtype}});
}

// Returns what x is after a quantization, and which elements the range of the quantized numbers
// holds. A zero point that is a whole number is added to a whole number.
Values quantized_and_back(Parts& parts, const Argument& scale, const Argument& zero_point) {
  const DType dtype = parts.tensor("self").dtype;
  const DType wide = spec::item_size_bytes(dtype) < 4 ? DType::kFloat32 : dtype;
  const Argument low = parts["quant_min"];
  const Argument high = parts["quant_max"];
  const auto op = [&](std::string_view name, const Argument& a, const Argument& b) {
    return parts.run(name, {a, b});
  };
  const Argument single = in_dtype(parts, scale, DType::kFloat32);
  const Argument inverse = in_dtype(parts, parts.run("aten.reciprocal.default", {single}), wide);
  const bool is_whole = !spec::is_floating_point(parts.of(zero_point).dtype);
  const Argument zero = in_dtype(parts, zero_point, wide);
  const Argument x = in_dtype(parts, parts["self"], wide);
  Argument number = op("aten.mul.Tensor", x, inverse);
  if (!is_whole) number = op("aten.add.Tensor", number, zero);
  number = parts.run("aten.round.default", {number});
  if (is_whole) number = op("aten.add.Tensor", number, zero);
  const Argument held = parts.run("aten.clamp.default", {number, low, high});
  // One scale is multiplied with in its own dtype.
  const DType last = parts.has("axis") ? wide : DType::kFloat32;
  const Argument steps = in_dtype(parts, op("aten.sub.Tensor", held, zero), last);
  const Argument out = op("aten.mul.Tensor", steps, in_dtype(parts, single, last));
  const Argument is_held = op("aten.eq.Tensor", held, number);
  return {in_dtype(parts, out, dtype), is_held};
}

Values quantized_by_numbers(Parts& parts) {
  const auto parameter = [&](std::string_view name, DType dtype) -> Argument {
    if (parts.is_tensor(name)) return parts[name];
    return parts.run("aten.full.default", {integers_argument({}),
                                           parts[name],
                                           {dtype},
                                           {spec::None{}},
                                           {parts.tensor("self").device}});
  };
  const Argument scale = parameter("scale", DType::kFloat32);
  return quantized_and_back(parts, scale, parameter("zero_point", DType::kInt64));
}

Values quantized_channels(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const std::int64_t axis = parts.integer("axis");
  if (axis < 0 || axis >= self.rank()) throw OpError("the input has no such axis");
  std::vector<std::int64_t> sizes(at(self.rank()), 1);
  sizes[at(axis)] = self.size(axis);
  const auto channels = [&](std::string_view name) {
    return parts.run("aten.view.default", {parts[name], integers_argument(sizes)});
  };
  const Argument scales = channels("scale");
  return quantized_and_back(parts, scales, channels("zero_point"));
}

template <TakeApart kBoth>
Values without_mask(Parts& parts) {
  return {kBoth(parts).front()};
}

// As long as the switch is a tensor, both ways are computed.
Values quantized_if_enabled(Parts& parts) {
  const Values both = quantized_by_numbers(parts);
  const Argument is_off =
      parts.run("aten.eq.Scalar", {parts["fake_quant_enabled"], {std::int64_t{0}}});
  const Argument out = parts.run("aten.where.self", {is_off, parts["self"], both[0]});
  return {out, parts.run("aten.logical_or.default", {both[1], is_off})};
}

constexpr CompositeOp kCompositeLayers[] = {
    {"aten._batch_norm_no_update", normalize_by_running},
    {"aten._batch_norm_with_update_functional", normalize_batch_and_update},
    {"aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams", quantized_if_enabled},
    {"aten._native_batch_norm_legit_functional", normalize_batch},
    {"aten.affine_grid_generator", affine_grid},
    {"aten.bartlett_window", window_of_bartlett},
    {"aten.blackman_window", window_of_blackman},
    {"aten.conv_tbc", convolve_time},
    {"aten.embedding_bag", bags},
    {"aten.fake_quantize_per_channel_affine", without_mask<quantized_channels>},
    {"aten.fake_quantize_per_channel_affine_cachemask", quantized_channels},
    {"aten.fake_quantize_per_tensor_affine", without_mask<quantized_by_numbers>},
    {"aten.fake_quantize_per_tensor_affine_cachemask", quantized_by_numbers},
    {"aten.hamming_window", window_of_hamming},
    {"aten.hann_window", window_of_hann},
    {"aten.kaiser_window", window_of_kaiser},
};

}  // namespace

std::span<const CompositeOp> composite_layers() { return kCompositeLayers; }

}  // namespace graphgate::optimized
