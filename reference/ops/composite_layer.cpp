// Layers, window functions and grids that PyTorch defines by others (ATen's Normalization.cpp,
// EmbeddingBag.cpp, TensorFactories.cpp, AffineGridGenerator.cpp).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace composite {
namespace {

using spec::DType;

// --- batch normalization that writes no argument ---

// Runs the op that moves running statistics on copies of them, which are results, too.
void batch_norm_on_copies(Call& call, std::string_view op, std::vector<Datum> rest) {
  const Composition run(call);
  const auto copy_of = [&](std::string_view name) {
    return run("aten.clone.default", {{call.tensor(name)}});
  };
  const TensorRef mean = copy_of("running_mean");
  const TensorRef variance = copy_of("running_var");
  std::vector<Datum> arguments = {
      {call.tensor("input")}, call.datum("weight"), call.datum("bias"), {mean}, {variance}};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  for (Datum& result : run.all(op, std::move(arguments))) call.emit_datum(std::move(result));
  call.emit_datum({mean});
  call.emit_datum({variance});
}

void batch_norm_functional(Call& call) {
  batch_norm_on_copies(call, "aten._native_batch_norm_legit.default",
                       {call.datum("training"), call.datum("momentum"), call.datum("eps")});
}
void batch_norm_with_update_functional(Call& call) {
  batch_norm_on_copies(call, "aten._batch_norm_with_update.default",
                       {call.datum("momentum"), call.datum("eps")});
}

// By the running statistics; nothing is reserved for a gradient.
void batch_norm_no_update(Call& call) {
  const Composition run(call);
  const std::vector<Datum> all =
      run.all("aten._native_batch_norm_legit_no_training.default", {{call.tensor("input")},
                                                                    call.datum("weight"),
                                                                    call.datum("bias"),
                                                                    call.datum("running_mean"),
                                                                    call.datum("running_var"),
                                                                    call.datum("momentum"),
                                                                    call.datum("eps")});
  for (const Datum& result : all) call.emit_datum(result);
  call.emit_datum({new_tensor(DType::kUInt8, {0}, call.tensor("input")->device)});
}

// --- embedding ---

void whole_embedding_bag(Call& call) {
  const Composition run(call);
  std::int64_t padding = -1;
  if (const auto given =
          call.has("padding_idx") ? call.optional_integer("padding_idx") : std::nullopt) {
    padding = wrap_dim(*given, call.tensor("weight")->sizes.at(0));
  }
  const std::vector<Datum> all =
      run.all("aten._embedding_bag_forward_only.default", {{call.tensor("weight")},
                                                           {call.tensor("indices")},
                                                           {call.tensor("offsets")},
                                                           call.datum("scale_grad_by_freq"),
                                                           call.datum("mode"),
                                                           call.datum("sparse"),
                                                           call.datum("per_sample_weights"),
                                                           call.datum("include_last_offset"),
                                                           {padding}});
  for (const Datum& result : all) call.emit_datum(result);
}

// --- convolution over time ---

// Time, batch and channels in this order. One product of matrices is added for each place of the
// kernel.
void conv_tbc(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& weight = call.tensor("weight");
  const TensorRef& bias = call.tensor("bias");
  const std::int64_t pad = call.integer("pad");
  if (self->rank() != 3 || weight->rank() != 3 || bias->rank() != 1) {
    throw OpError("conv_tbc: input and weight must have 3 dims, bias one");
  }
  const std::int64_t times = self->sizes[0];
  const std::int64_t batch = self->sizes[1];
  const std::int64_t in_channels = self->sizes[2];
  const std::int64_t out_channels = weight->sizes[2];
  const std::int64_t out_times = times - weight->sizes[0] + 1 + 2 * pad;
  if (in_channels != weight->sizes[1] || out_channels != bias->sizes[0]) {
    throw OpError("conv_tbc: the channels of input, weight and bias do not fit");
  }
  const TensorRef stretched =
      run("aten.expand.default", {{bias}, list_of(Sizes{out_times, batch, out_channels})});
  const TensorRef out = run("aten.clone.default", {{stretched}, {spec::MemoryFormat::kContiguous}});
  for (std::int64_t k = 0; k < weight->sizes[0]; ++k) {
    const std::int64_t from = std::max<std::int64_t>(k - pad, 0);
    const std::int64_t to = std::max<std::int64_t>(pad - k, 0);
    const std::int64_t count = std::min(times + pad - k, out_times) - to;
    if (count <= 0) continue;
    const TensorRef rows =
        reshaped(run, part(run, self, 0, from, from + count), {count * batch, in_channels});
    const TensorRef target =
        run("aten.view.default",
            {{part(run, out, 0, to, to + count)}, list_of(Sizes{count * batch, out_channels})});
    const TensorRef factor = run("aten.select.int", {{weight}, {std::int64_t{0}}, {k}});
    (void)run("aten.addmm_.default", {{target}, {rows}, {factor}});
  }
  call.emit_datum({out});
}

// --- window functions ---

// Elements 0 to n - 1 of a window over `n` elements, of one that begins anew after `length`
// elements over one more. Steps round to the window's dtype.
class Window {
 public:
  explicit Window(const Call& call)
      : run_(call),
        length_(call.integer("window_length")),
        is_periodic_(!call.has("periodic") || call.boolean("periodic")),
        options_{{call.optional_dtype("dtype").value_or(DType::kFloat32)},
                 call.datum("layout"),
                 {call.device_or({})}} {
    if (length_ < 0) throw OpError("requires non-negative window_length");
    if (!spec::is_floating_point(*options_.front().as<DType>())) {
      throw OpError("a window function expects floating point dtypes");
    }
  }

  // The elements before the last of the window, which a periodic one has besides.
  [[nodiscard]] std::int64_t count() const { return length_ + (is_periodic_ ? 1 : 0); }
  [[nodiscard]] TensorRef scaled(const TensorRef& tensor, double factor) const {
    return run_("aten.mul.Scalar", {{tensor}, {factor}});
  }
  [[nodiscard]] TensorRef shifted(const TensorRef& tensor, double offset) const {
    return run_("aten.add.Scalar", {{tensor}, {offset}});
  }
  [[nodiscard]] TensorRef cosine(const TensorRef& tensor) const {
    return run_("aten.cos.default", {{tensor}});
  }
  [[nodiscard]] TensorRef places() const {
    std::vector<Datum> arguments = {{count()}};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    return run_("aten.arange.default", std::move(arguments));
  }
  [[nodiscard]] const Composition& run() const { return run_; }

  // Emits formula(), of windows of more than one element; `kept` of what it gives.
  template <class Formula>
  void emit(Call& call, const Formula& formula) const {
    if (length_ < 2) {
      std::vector<Datum> arguments = {list_of(Sizes{length_}), {1.0}};
      arguments.insert(arguments.end(), options_.begin(), options_.end());
      return call.emit_datum({run_("aten.full.default", std::move(arguments))});
    }
    const TensorRef all = formula();
    call.emit_datum({is_periodic_ ? part(run_, all, 0, 0, length_) : all});
  }

 private:
  Composition run_;
  std::int64_t length_;
  bool is_periodic_;
  std::vector<Datum> options_;
};

void emit_hamming(Call& call, double alpha, double beta) {
  const Window window(call);
  window.emit(call, [&] {
    const double step = std::numbers::pi * 2 / static_cast<double>(window.count() - 1);
    const TensorRef cosine = window.cosine(window.scaled(window.places(), step));
    return window.shifted(window.scaled(cosine, -beta), alpha);
  });
}
void hann_window(Call& call) { emit_hamming(call, 0.5, 0.5); }
void hamming_window(Call& call) {
  emit_hamming(call, call.has("alpha") ? call.real("alpha") : 0.54,
               call.has("beta") ? call.real("beta") : 0.46);
}

void blackman_window(Call& call) {
  const Window window(call);
  window.emit(call, [&] {
    const TensorRef angles =
        window.scaled(window.places(), std::numbers::pi / static_cast<double>(window.count() - 1));
    const auto term = [&](double frequency, double weight) {
      return window.scaled(window.cosine(window.scaled(angles, frequency)), weight);
    };
    const TensorRef difference = window.run()("aten.sub.Tensor", {{term(4, 0.08)}, {term(2, 0.5)}});
    return window.shifted(difference, 0.42);
  });
}

void bartlett_window(Call& call) {
  const Window window(call);
  window.emit(call, [&] {
    const std::int64_t last = window.count() - 1;
    const TensorRef slope = window.scaled(window.places(), 2.0 / static_cast<double>(last));
    const std::int64_t rising = last / 2 + 1;
    const TensorRef first = part(window.run(), slope, 0, 0, rising);
    const TensorRef second = part(window.run(), slope, 0, rising, window.count());
    const TensorRef falling = window.shifted(window.scaled(second, -1), 2);
    return window.run()("aten.cat.default", {list_of(std::vector{first, falling})});
  });
}

// i0(beta sqrt(1 - ((x - alpha) / alpha)^2)) / i0(beta), alpha half way.
void kaiser_window(Call& call) {
  const Window window(call);
  const double beta = call.has("beta") ? call.real("beta") : 12.0;
  window.emit(call, [&] {
    const Composition& run = window.run();
    const double alpha = static_cast<double>(window.count() - 1) / 2;
    const TensorRef places = window.places();
    const DType dtype = places->dtype;
    // Every element is computed in float32 at least, and rounded once.
    const TensorRef wide = to_dtype(run, places, compute_dtype(dtype));
    const TensorRef ratio = run("aten.div.Scalar", {{window.shifted(wide, -alpha)}, {alpha}});
    const TensorRef square = run("aten.mul.Tensor", {{ratio}, {ratio}});
    const TensorRef rest = run("aten.rsub.Scalar", {{square}, {1.0}});
    const TensorRef root = run("aten.sqrt.default", {{run("aten.relu.default", {{rest}})}});
    const TensorRef most = run("aten.full_like.default", {{wide}, {beta}});
    const TensorRef out =
        run("aten.div.Tensor", {{run("aten.i0.default", {{window.scaled(root, beta)}})},
                                {run("aten.i0.default", {{most}})}});
    return to_dtype(run, out, dtype);
  });
}

// --- grids ---

// Numbers from -1 to 1, of which the ends are the middles of the outer elements (align_corners) or
// their edges.
TensorRef grid_places(const Composition& run, const TensorRef& like, std::int64_t count,
                      bool aligns) {
  const Datum dtype = {like->dtype};
  const Datum device = {like->device};
  if (count <= 1) {
    return run("aten.zeros.default", {list_of(Sizes{count}), dtype, {}, device});
  }
  TensorRef all = run("aten.linspace.default",
                      {{std::int64_t{-1}}, {std::int64_t{1}}, {count}, dtype, {}, device});
  if (aligns) return all;
  const TensorRef scaled = run("aten.mul.Scalar", {{all}, {count - 1}});
  return run("aten.div.Scalar", {{scaled}, {count}});
}

// Coordinates (x, y, 1) or (x, y, z, 1) of each element, times the matrix of each image.
void affine_grid_generator(Call& call) {
  const Composition run(call);
  const TensorRef& theta = call.tensor("theta");
  const Sizes size = call.integers("size");
  if (size.size() != 4 && size.size() != 5) {
    throw OpError("affine_grid_generator: size must be of 4 or 5 elements");
  }
  const std::int64_t spatial = std::ssize(size) - 2;
  if (theta->sizes != Sizes{size[0], spatial, spatial + 1}) {
    throw OpError("affine_grid_generator: theta does not fit the size");
  }
  const bool aligns = call.boolean("align_corners");
  Sizes places(size.begin() + 2, size.end());
  std::int64_t count = 1;
  for (const std::int64_t each : places) count *= each;
  Sizes full = places;
  full.insert(full.begin(), size[0]);
  std::vector<TensorRef> coordinates;
  for (std::int64_t d = spatial - 1; d >= 0; --d) {
    Sizes view(places.size(), 1);
    view[static_cast<std::size_t>(d)] = -1;
    const TensorRef along = run(
        "aten.view.default",
        {{grid_places(run, theta, places[static_cast<std::size_t>(d)], aligns)}, list_of(view)});
    coordinates.push_back(run("aten.expand.default", {{along}, list_of(full)}));
  }
  coordinates.push_back(run("aten.ones_like.default", {{coordinates.front()}}));
  const TensorRef base = run("aten.stack.default", {list_of(coordinates), {std::int64_t{-1}}});
  const TensorRef grid =
      run("aten.bmm.default",
          {{reshaped(run, base, {size[0], count, spatial + 1})}, {transposed(run, theta, 1, 2)}});
  full.push_back(spatial);
  call.emit_datum({run("aten.view.default", {{grid}, list_of(full)})});
}

// --- quantization and back, as training sees it ---

// What quantizes a tensor: scales and zero points, which stretch over it, and the range of what is
// quantized.
struct FakeQuantizer {
  TensorRef scale;
  TensorRef zero_point;
  std::int64_t low;
  std::int64_t high;
  bool is_whole = true;  // one scale for all elements
};

// One element of float32 or int64.
TensorRef one_number(const Composition& run, const Datum& number, DType dtype,
                     const spec::Device& device) {
  return run("aten.full.default", {list_of(Sizes{}), number, {dtype}, {}, {device}});
}

// Emits (clamp(q) - zero_point) * scale of q = round(x / scale) + zero_point, and with `has_mask`
// where q needs no clamp. Scales are float32, and so are their inverses, and the last product where
// one scale is that of all; a zero point that is no integer goes in before the rounding.
void emit_fake_quantized(Call& call, const FakeQuantizer& by, bool has_mask) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (by.low > by.high) throw OpError("`quant_min` should be less than or equal to `quant_max`.");
  const DType wide = compute_dtype(self->dtype);
  const auto binary = [&](std::string_view op, const TensorRef& a, const TensorRef& b) {
    return run(op, {{a}, {b}});
  };
  const TensorRef scale = to_dtype(run, by.scale, DType::kFloat32);
  const TensorRef inverse = to_dtype(run, run("aten.reciprocal.default", {{scale}}), wide);
  const TensorRef zero_point = to_dtype(run, by.zero_point, wide);
  TensorRef whole = binary("aten.mul.Tensor", to_dtype(run, self, wide), inverse);
  if (spec::is_floating_point(by.zero_point->dtype)) {
    whole = run("aten.round.default", {{binary("aten.add.Tensor", whole, zero_point)}});
  } else {
    whole = binary("aten.add.Tensor", run("aten.round.default", {{whole}}), zero_point);
  }
  const TensorRef held = run("aten.clamp.default", {{whole}, {by.low}, {by.high}});
  const DType last = by.is_whole ? DType::kFloat32 : wide;
  const TensorRef steps = to_dtype(run, binary("aten.sub.Tensor", held, zero_point), last);
  const TensorRef out = binary("aten.mul.Tensor", steps, to_dtype(run, scale, last));
  call.emit_datum({to_dtype(run, out, self->dtype)});
  if (!has_mask) return;
  call.emit_datum({binary("aten.logical_and.default", run("aten.ge.Scalar", {{whole}, {by.low}}),
                          run("aten.le.Scalar", {{whole}, {by.high}}))});
}

void check_zero_points(const TensorRef& zero_point, std::int64_t low, std::int64_t high) {
  if (spec::is_floating_point(zero_point->dtype)) return;
  for (const Whole each : load<Whole>(*zero_point, DType::kInt64).data) {
    if (each.value < low || each.value > high) {
      throw OpError("`zero_point` must be between `quant_min` and `quant_max`.");
    }
  }
}

void fake_quantize_tensor(Call& call, bool has_mask) {
  const Composition run(call);
  const spec::Device device = call.tensor("self")->device;
  const auto parameter = [&](std::string_view name, DType dtype) {
    const Datum& given = call.datum(name);
    if (const auto* tensor = given.as<TensorRef>()) return *tensor;
    return one_number(run, given, dtype, device);
  };
  const FakeQuantizer by{parameter("scale", DType::kFloat32),
                         parameter("zero_point", DType::kInt64), call.integer("quant_min"),
                         call.integer("quant_max")};
  if (call.datum("zero_point").as<TensorRef>() == nullptr) {
    check_zero_points(by.zero_point, by.low, by.high);
  }
  emit_fake_quantized(call, by, has_mask);
}
void fake_quantize_per_tensor(Call& call) { fake_quantize_tensor(call, false); }
void fake_quantize_per_tensor_mask(Call& call) { fake_quantize_tensor(call, true); }

// Parameters as tensors, and a tensor that says whether anything is quantized.
void fake_quantize_if_enabled(Call& call) {
  const Composition run(call);
  const Datum is_enabled = run.datum(
      "aten.item.default",
      {{run("aten.ne.Scalar", {{call.tensor("fake_quant_enabled")}, {std::int64_t{0}}})}});
  if (*is_enabled.as<bool>()) return fake_quantize_tensor(call, true);
  const TensorRef& self = call.tensor("self");
  call.emit_datum({run("aten.clone.default", {{self}})});
  call.emit_datum({run("aten.ones_like.default", {{self}, {DType::kBool}})});
}

void fake_quantize_channels(Call& call, bool has_mask) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::int64_t axis = call.integer("axis");
  if (axis < 0 || axis >= self->rank()) {
    throw OpError("`axis` must be between 0 and number of dimensions of input");
  }
  const auto along_axis = [&](std::string_view name) {
    const TensorRef& parameters = call.tensor(name);
    if (parameters->rank() != 1 ||
        parameters->count() != self->sizes[static_cast<std::size_t>(axis)]) {
      throw OpError("dimensions of scale and zero-point are not consistent with input tensor");
    }
    Sizes sizes(static_cast<std::size_t>(self->rank()), 1);
    sizes[static_cast<std::size_t>(axis)] = parameters->count();
    return reshaped(run, parameters, sizes);
  };
  const FakeQuantizer by{along_axis("scale"), along_axis("zero_point"), call.integer("quant_min"),
                         call.integer("quant_max"), /*is_whole=*/false};
  check_zero_points(by.zero_point, by.low, by.high);
  emit_fake_quantized(call, by, has_mask);
}
void fake_quantize_per_channel(Call& call) { fake_quantize_channels(call, false); }
void fake_quantize_per_channel_mask(Call& call) { fake_quantize_channels(call, true); }

constexpr OpBody kCompositeLayerOps[] = {
    OpBody{"aten._batch_norm_no_update", batch_norm_no_update},
    OpBody{"aten._batch_norm_with_update_functional", batch_norm_with_update_functional},
    OpBody{"aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
           fake_quantize_if_enabled},
    OpBody{"aten._native_batch_norm_legit_functional", batch_norm_functional},
    OpBody{"aten.affine_grid_generator", affine_grid_generator},
    OpBody{"aten.bartlett_window", bartlett_window},
    OpBody{"aten.blackman_window", blackman_window},
    OpBody{"aten.conv_tbc", conv_tbc},
    OpBody{"aten.embedding_bag", whole_embedding_bag},
    OpBody{"aten.fake_quantize_per_channel_affine", fake_quantize_per_channel},
    OpBody{"aten.fake_quantize_per_channel_affine_cachemask", fake_quantize_per_channel_mask},
    OpBody{"aten.fake_quantize_per_tensor_affine", fake_quantize_per_tensor},
    OpBody{"aten.fake_quantize_per_tensor_affine_cachemask", fake_quantize_per_tensor_mask},
    OpBody{"aten.hamming_window", hamming_window},
    OpBody{"aten.hann_window", hann_window},
    OpBody{"aten.kaiser_window", kaiser_window},
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_layer_ops() { return composite::kCompositeLayerOps; }

}  // namespace graphgate::reference
