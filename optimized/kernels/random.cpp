// Ops that draw random numbers. Which ones they draw is in draws.h; each element has numbers of its
// own, whatever the layout of the result.
//
// Numbers are computed in float64 and rounded once into the result's dtype. Bounds and chances that
// stand in a tensor are looked at when the launch runs.
#include <cmath>
#include <numbers>
#include <random>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/draws.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/seeded.h"
#include "optimized/rows.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::DType;
using spec::MemoryFormat;

bool has_fraction(DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) >= 2;
}
bool is_float8(DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) == 1;
}
void want_fraction(DType dtype, const char* op) {
  if (!has_fraction(dtype)) {
    throw OpError(std::string(op) + " wants float16, bfloat16, float32 or float64");
  }
}
void refuse_float8(DType dtype, const char* op) {
  if (is_float8(dtype)) throw OpError(std::string(op) + " has no form for 8-bit floats");
}

// The dtype of the result: that of the tensor which is written, the one that is asked for, or
// another.
DType drawn_dtype(const KernelCall& call, DType otherwise) {
  if (const Tensor* written = call.written_result(0)) return written->dtype;
  return call.optional_dtype("dtype").value_or(otherwise);
}

void make_sized(Inference& call, DType dtype) {
  const Sizes sizes = call.integers("size");
  (void)checked_count(sizes);
  call.make(dtype, sizes, {}, call.device_or({}));
}
void make_like_self(Inference& call, MemoryFormat otherwise = MemoryFormat::kPreserve) {
  const Tensor& self = call.tensor("self");
  const MemoryFormat format = call.optional_format("memory_format").value_or(otherwise);
  call.make(drawn_dtype(call, self.dtype), self.sizes, strides_like(self, format),
            call.device_or(self.device));
}

// A tensor as rows of its last dimension, or one row of one element.
Rows last_rows(const Tensor& tensor) {
  if (tensor.rank() == 0) return {tensor, {}};
  return {tensor, {tensor.rank() - 1}};
}

// Calls element(draws, i) for each element of `result`, counted in row-major order, and stores what
// it says.
template <class C, class F>
Launch draw_each(const Tensor& result, F element) {
  if (result.count() == 0) return {};
  return [to = last_rows(result), element, source = draw_source()] {
    const Draws draws(source);
    std::vector<C> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      for (C& x : row) x = element(draws, i++);
      to.template store<C>(r, row.data());
    }
  };
}

// A number, or the elements of a tensor at the places of a result: float64 by rows.
class Chances {
 public:
  Chances(const Item& item, const Sizes& sizes) {
    if (const Tensor* tensor = item.as<Tensor>()) {
      rows_.emplace(last_rows(broadcast_to(*tensor, sizes)));
    } else {
      number_ = number_as<double>(item);
    }
  }
  void load(std::int64_t row, std::vector<double>& out) const {
    if (rows_) {
      rows_->load<double>(row, out.data());
    } else {
      std::ranges::fill(out, number_);
    }
  }

 private:
  std::optional<Rows> rows_;
  double number_ = 0;
};

// ---- numbers with a fraction ----

int fraction_bits(DType dtype) {
  if (dtype == DType::kFloat64) return 53;
  if (dtype == DType::kFloat32) return 24;
  return dtype == DType::kFloat16 ? 11 : 8;
}

void infer_rand(Inference& call) {
  const DType dtype = drawn_dtype(call, DType::kFloat32);
  want_fraction(dtype, "rand");
  make_sized(call, dtype);
}
void infer_rand_like(Inference& call) {
  want_fraction(drawn_dtype(call, call.tensor("self").dtype), "rand_like");
  make_like_self(call);
}
// Multiples of the spacing below 1, so that no rounding comes to 1.
Launch bind_rand(const Binding& call) {
  if (const Tensor* state = generator_state(call)) {
    return seeded_uniform(call.result(), *state, 0, 1);
  }
  const int drop = 64 - fraction_bits(call.result().dtype);
  const double step = std::ldexp(1.0, drop - 64);
  return draw_each<double>(call.result(), [drop, step](const Draws& draws, std::int64_t i) {
    return static_cast<double>(draws.bits(i) >> static_cast<unsigned>(drop)) * step;
  });
}

// CUDA's generator, whose state is seed and offset. PyTorch gives each of the first elements a
// thread, which counts in the upper half of the counter.
void infer_philox_rand(Inference& call) {
  const DType dtype = call.optional_dtype("dtype").value_or(DType::kFloat32);
  want_fraction(dtype, "philox_rand");
  for (const char* name : {"seed", "offset"}) {
    const Tensor& number = call.tensor(name);
    if (number.dtype != DType::kInt64 || number.count() != 1) {
      throw OpError("philox_rand wants a seed and an offset of int64");
    }
  }
  if (call.has("stride") || call.device_or({}).type != "cuda") {
    throw OpError("philox_rand draws on CUDA, and without strides");
  }
  make_sized(call, dtype);
  call.make(DType::kInt64, {}, {}, spec::Device{});
}
Launch bind_philox_rand(const Binding& call) {
  const Tensor& result = call.result(0);
  return [to = last_rows(result), moved = call.result(1), seed_at = call.tensor("seed"),
          offset_at = call.tensor("offset")] {
    const auto seed = load_element<std::int64_t>(DType::kInt64, seed_at.data());
    const auto offset = load_element<std::int64_t>(DType::kInt64, offset_at.data());
    if (offset % 4 != 0 || offset < 0)
      throw OpError("philox_rand wants a multiple of 4 for offset");
    const auto halves = [](std::int64_t x) {
      const auto bits = static_cast<std::uint64_t>(x);
      return std::array{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
    };
    const auto block = halves(offset / 4);
    std::vector<float> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      for (float& x : row) {
        const auto thread = halves(i++);
        const PhiloxWords words = philox({block[0], block[1], thread[0], thread[1]}, halves(seed));
        // Of (0, 1], as cuRAND draws; 1 is 0, once it is rounded.
        const float drawn = static_cast<float>(words[0]) * 0x1p-32F + 0x1p-33F;
        std::array<std::byte, sizeof(double)> stored;
        store_element<float>(to.dtype(), drawn, stored.data());
        x = load_element<float>(to.dtype(), stored.data());
        if (x == 1) x = 0;
      }
      to.store<float>(r, row.data());
    }
    store_element<std::int64_t>(DType::kInt64, 4, moved.data());
  };
}

// Box and Muller's, of two numbers for each element.
double standard_normal(const Draws& draws, std::int64_t i) {
  const double size = std::sqrt(-2 * log(draws.positive(i, 0)));
  return size * cos(2 * std::numbers::pi * draws.uniform(i, 1));
}
void infer_randn(Inference& call) {
  const DType dtype = drawn_dtype(call, DType::kFloat32);
  want_fraction(dtype, "randn");
  make_sized(call, dtype);
}
void infer_randn_like(Inference& call) {
  want_fraction(drawn_dtype(call, call.tensor("self").dtype), "randn_like");
  make_like_self(call);
}
Launch bind_randn(const Binding& call) {
  if (const Tensor* state = generator_state(call)) {
    return seeded_normal(call.result(), *state, {0.0}, {1.0});
  }
  return draw_each<double>(call.result(), standard_normal);
}

double greatest_finite(DType dtype) {
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::max();
  if (dtype == DType::kFloat32) return std::numeric_limits<float>::max();
  return dtype == DType::kFloat16 ? 65504.0 : 0x1.FEp127;
}
void infer_uniform(Inference& call) {
  const DType dtype = call.tensor("self").dtype;
  want_fraction(dtype, "uniform");
  const double from = call.real("from");
  const double to = call.real("to");
  const double most = greatest_finite(dtype);
  const bool are_held = std::abs(from) <= most && std::abs(to) <= most;
  if (!are_held || from > to || to - from > most) {
    throw OpError("uniform: from and to are no range of " + std::string(spec::torch_name(dtype)));
  }
  make_like_self(call);
}
Launch bind_uniform(const Binding& call) {
  const double from = call.real("from");
  if (const Tensor* state = generator_state(call)) {
    return seeded_uniform(call.result(), *state, from, call.real("to"));
  }
  const double width = call.real("to") - from;
  return draw_each<double>(call.result(), [from, width](const Draws& draws, std::int64_t i) {
    return from + draws.uniform(i) * width;
  });
}

// A parameter that has to be above 0; NaN is not.
double positive_parameter(const KernelCall& call, std::string_view name) {
  const double x = call.real(name);
  if (x > 0) return x;
  throw OpError(call.row().schema.base_name() + ": " + std::string(name) + " must be above 0");
}
void infer_continuous(Inference& call, std::string_view parameter, bool refuses_empty) {
  (void)positive_parameter(call, parameter);
  const Tensor& self = call.tensor("self");
  if (self.count() > 0 || refuses_empty) {
    want_fraction(self.dtype, call.row().schema.base_name().c_str());
  }
  make_like_self(call);
}
void infer_exponential(Inference& call) { infer_continuous(call, "lambd", false); }
Launch bind_exponential(const Binding& call) {
  const double rate = call.real("lambd");
  if (const Tensor* state = generator_state(call)) {
    return seeded_exponential(call.result(), *state, rate);
  }
  return draw_each<double>(call.result(), [rate](const Draws& draws, std::int64_t i) {
    return -log(draws.positive(i)) / rate;
  });
}
void infer_cauchy(Inference& call) { infer_continuous(call, "sigma", false); }
Launch bind_cauchy(const Binding& call) {
  const double median = call.real("median");
  const double sigma = call.real("sigma");
  if (const Tensor* state = generator_state(call)) {
    return seeded_cauchy(call.result(), *state, median, sigma);
  }
  return draw_each<double>(call.result(), [median, sigma](const Draws& draws, std::int64_t i) {
    return median + sigma * tan(std::numbers::pi * (draws.uniform(i) - 0.5));
  });
}
void infer_log_normal(Inference& call) { infer_continuous(call, "std", true); }
Launch bind_log_normal(const Binding& call) {
  const double mean = call.real("mean");
  const double deviation = call.real("std");
  if (const Tensor* state = generator_state(call)) {
    return seeded_log_normal(call.result(), *state, mean, deviation);
  }
  return draw_each<double>(call.result(), [mean, deviation](const Draws& draws, std::int64_t i) {
    return exp(mean + deviation * standard_normal(draws, i));
  });
}

// normal: in place, by sizes, or by tensors for mean, std or both.
void infer_normal(Inference& call) {
  const Item& deviation = call.item("std");
  if (!deviation.as<Tensor>() && !(call.real("std") >= 0)) throw OpError("normal wants std >= 0");
  if (call.has("self")) {
    const Tensor& self = call.tensor("self");
    if (self.count() > 0) want_fraction(self.dtype, "normal");
    return make_like_self(call);
  }
  if (call.has("size")) {
    const DType dtype = drawn_dtype(call, DType::kFloat32);
    want_fraction(dtype, "normal");
    return make_sized(call, dtype);
  }
  const Tensor* const mean = call.item("mean").as<Tensor>();
  const Tensor* const spread = deviation.as<Tensor>();
  const Tensor& first = mean ? *mean : *spread;
  want_fraction(drawn_dtype(call, first.dtype), "normal");
  const Sizes sizes = mean && spread ? broadcast_sizes(mean->sizes, spread->sizes) : first.sizes;
  call.make(first.dtype, sizes, {}, first.device);
}
Launch bind_normal(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  if (const Tensor* state = generator_state(call)) {
    return seeded_normal(result, *state, call.item("mean"), call.item("std"));
  }
  return [to = last_rows(result), means = Chances(call.item("mean"), result.sizes),
          spreads = Chances(call.item("std"), result.sizes), source = draw_source()] {
    const Draws draws(source);
    std::vector<double> row(at(to.length()));
    std::vector<double> mean(row.size());
    std::vector<double> spread(row.size());
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      means.load(r, mean);
      spreads.load(r, spread);
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (!(spread[k] >= 0)) throw OpError("normal wants std >= 0");
        row[k] = mean[k] + spread[k] * standard_normal(draws, i++);
      }
      to.store<double>(r, row.data());
    }
  };
}

// ---- whole numbers ----

// Whether the dtype has this whole number, or one near to it.
bool holds_whole(DType dtype, std::int64_t x) {
  if (spec::is_floating_point(dtype)) {
    return std::abs(static_cast<double>(x)) <= greatest_finite(dtype);
  }
  if (dtype == DType::kBool) return x == 0 || x == 1;
  const auto bits = static_cast<unsigned>(8 * spec::item_size_bytes(dtype));
  if (bits == 64) return true;
  const std::int64_t span = std::int64_t{1} << bits;
  const std::int64_t least = dtype == DType::kUInt8 ? 0 : -span / 2;
  return x >= least && x - least < span;
}

std::int64_t lower_end(const KernelCall& call) { return call.has("low") ? call.integer("low") : 0; }

// [low, high) as every number of a launch has it.
struct WholeRange {
  std::int64_t low = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t draw(const Draws& draws, std::int64_t i) const {
    const std::uint64_t first = static_cast<std::uint64_t>(low);
    return static_cast<std::int64_t>(first +
                                     draws.below(static_cast<std::uint64_t>(last) - first + 1, i));
  }
  // The same from a generator's state, which gives 64 bits for ranges from 2^28 on.
  [[nodiscard]] Launch launch(const Tensor& result, const Tensor& state) const {
    const std::uint64_t count =
        static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(low) + 1;
    // All 64 bits are what they are.
    return seeded_whole(result, state, count == 0 ? 0 : low, count,
                        count == 0 || count >> 28U != 0);
  }
};
WholeRange checked_range(std::int64_t low, std::int64_t high, DType dtype) {
  refuse_float8(dtype, "randint");
  if (low >= high) throw OpError("randint wants low < high");
  if (!holds_whole(dtype, low) || !holds_whole(dtype, high - 1)) {
    throw OpError("randint: [low, high) lies outside of " + std::string(spec::torch_name(dtype)));
  }
  return {low, high - 1};
}

// What stands in a tensor is looked at when the launch runs.
void check_whole_range(const KernelCall& call, DType dtype) {
  if (const Tensor* high = call.item("high").as<Tensor>()) {
    refuse_float8(dtype, "randint");
    if (high->rank() != 0) throw OpError("randint_like wants a high without dimensions");
    return;
  }
  (void)checked_range(lower_end(call), call.integer("high"), dtype);
}
void infer_randint(Inference& call) {
  const DType dtype = drawn_dtype(call, DType::kInt64);
  check_whole_range(call, dtype);
  make_sized(call, dtype);
}
void infer_randint_like(Inference& call) {
  check_whole_range(call, drawn_dtype(call, call.tensor("self").dtype));
  make_like_self(call);
}

// Stores whole numbers in any dtype.
template <class F>
Launch draw_whole(const Tensor& result, F number) {
  if (!spec::is_floating_point(result.dtype)) return draw_each<std::int64_t>(result, number);
  return draw_each<double>(result, [number](const Draws& draws, std::int64_t i) {
    return static_cast<double>(number(draws, i));
  });
}
Launch bind_randint(const Binding& call) {
  const std::int64_t low = lower_end(call);
  const Tensor& result = call.result();
  const Tensor* const high = call.item("high").as<Tensor>();
  if (high == nullptr) {
    const WholeRange range = checked_range(low, call.integer("high"), result.dtype);
    if (const Tensor* state = generator_state(call)) return range.launch(result, *state);
    return draw_whole(result,
                      [range](const Draws& draws, std::int64_t i) { return range.draw(draws, i); });
  }
  const auto range_now = [low, end = high->data(), of = high->dtype, dtype = result.dtype] {
    const std::int64_t stop = spec::is_floating_point(of)
                                  ? static_cast<std::int64_t>(load_element<double>(of, end))
                                  : load_element<std::int64_t>(of, end);
    return checked_range(low, stop, dtype);
  };
  if (const Tensor* state = generator_state(call)) {
    return [range_now, result, state = *state] {
      const Launch launch = range_now().launch(result, state);
      if (launch) launch.run();
    };
  }
  return draw_whole(result, [range_now](const Draws& draws, std::int64_t i) {
    return range_now().draw(draws, i);
  });
}

// random_(), random_(to), random_(from, to). Without an end: to the greatest of an integer dtype,
// to the first whole number behind which a floating one has gaps; with the least int64 for `from`,
// any 64 bits.
WholeRange random_range(const KernelCall& call, DType dtype) {
  refuse_float8(dtype, "random_");
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t from = call.has("from") ? call.integer("from") : 0;
  if (call.has("to")) return checked_range(from, call.integer("to"), dtype);
  const bool is_real = spec::is_floating_point(dtype);
  if (from == kLeast) {
    if (dtype == DType::kFloat16 || (!is_real && dtype != DType::kInt64)) {
      throw OpError("random_ has no 64 bits for this dtype");
    }
    return {kLeast, kGreatest};
  }
  if (is_real) return checked_range(from, (std::int64_t{1} << fraction_bits(dtype)) + 1, dtype);
  const int bits =
      static_cast<int>(8 * spec::item_size_bytes(dtype)) - (dtype == DType::kUInt8 ? 0 : 1);
  const std::int64_t last = dtype == DType::kBool ? 1 : kGreatest >> (63 - bits);
  if (from > last || !holds_whole(dtype, from)) throw OpError("random_: from is out of the dtype");
  return {from, last};
}
void infer_random(Inference& call) {
  (void)random_range(call, drawn_dtype(call, call.tensor("self").dtype));
  make_like_self(call);
}
Launch bind_random(const Binding& call) {
  const DType dtype = call.result().dtype;
  const WholeRange range = random_range(call, dtype);
  if (const Tensor* state = generator_state(call)) {
    // Without any end each dtype has words of its own width.
    const bool has_ends = call.has("from") || call.has("to");
    if (has_ends) return range.launch(call.result(), *state);
    const bool takes_pairs = dtype == DType::kInt64 || dtype == DType::kFloat64;
    const std::uint64_t count = static_cast<std::uint64_t>(range.last) + 1;
    return seeded_whole(call.result(), *state, 0, count, takes_pairs);
  }
  return draw_whole(call.result(),
                    [range](const Draws& draws, std::int64_t i) { return range.draw(draws, i); });
}

void infer_randperm(Inference& call) {
  const std::int64_t n = call.integer("n");
  const DType dtype = drawn_dtype(call, DType::kInt64);
  refuse_float8(dtype, "randperm");
  constexpr std::int64_t kMostHalves = 2049;  // float16 tells no more apart
  const bool is_held = dtype == DType::kFloat16         ? n <= kMostHalves
                       : spec::is_floating_point(dtype) ? true
                                                        : holds_whole(dtype, n);
  if (n < 0 || dtype == DType::kBool || !is_held) {
    throw OpError("randperm: no permutation of " + std::to_string(n) + " numbers in " +
                  std::string(spec::torch_name(dtype)));
  }
  call.make(dtype, {n}, {}, call.device_or({}));
}
Launch bind_randperm(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  if (const Tensor* state = generator_state(call)) return seeded_permutation(result, *state);
  return [to = last_rows(result), is_real = spec::is_floating_point(result.dtype),
          source = draw_source()] {
    const Draws draws(source);
    std::vector<std::int64_t> order(at(to.length()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Each number goes to a drawn place among those before it, whose number goes to the end.
      const std::uint64_t place = draws.below(i + 1, static_cast<std::int64_t>(i));
      order[i] = order[place];
      order[place] = static_cast<std::int64_t>(i);
    }
    if (!is_real) return to.store<std::int64_t>(0, order.data());
    const std::vector<double> reals(order.begin(), order.end());
    to.store<double>(0, reals.data());
  };
}

void infer_geometric(Inference& call) {
  const double p = call.real("p");
  if (!(p > 0 && p < 1)) throw OpError("geometric wants 0 < p < 1");
  const DType dtype = call.tensor("self").dtype;
  refuse_float8(dtype, "geometric");
  if (dtype == DType::kBool) throw OpError("geometric has no form for bool");
  make_like_self(call);
}
// By inversion: the least n with 1 - (1 - p)^n above a uniform number.
Launch bind_geometric(const Binding& call) {
  const bool is_real = spec::is_floating_point(call.result().dtype);
  if (const Tensor* state = generator_state(call); state != nullptr && is_real) {
    return seeded_geometric(call.result(), *state, call.real("p"));
  }
  const double log_of_failure = log1p(-call.real("p"));
  return draw_whole(call.result(), [log_of_failure](const Draws& draws, std::int64_t i) {
    const double trials = std::ceil(log(draws.positive(i)) / log_of_failure);
    constexpr double kMost = 0x1p62;
    return static_cast<std::int64_t>(std::clamp(trials, 1.0, kMost));
  });
}

// ---- counts and shares ----

// Many bits for one element, for the standard library's distributions: its own numbers are the key.
class ElementBits {
 public:
  ElementBits(const Draws& draws, std::int64_t i) : key_(draws.bits(i)) {}
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    const PhiloxWords words =
        philox({drawn_++, 0, 0, 0},
               {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32U)});
    return std::uint64_t{words[1]} << 32U | words[0];
  }

 private:
  std::uint64_t key_;
  std::uint32_t drawn_ = 0;
};

bool is_wide(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }
void want_wide(DType dtype, const char* op) {
  if (!is_wide(dtype)) throw OpError(std::string(op) + " wants float32 or float64");
}
void make_row_major(Inference& call, const Tensor& like, Sizes sizes) {
  call.make(like.dtype, std::move(sizes), {}, like.device);
}

// Numbers of element(draws, i, x), with x from a tensor of parameters.
template <class F>
Launch draw_by(const Tensor& result, const Item& parameter, F element) {
  if (result.count() == 0) return {};
  return [to = last_rows(result), from = Chances(parameter, result.sizes), element,
          source = draw_source()] {
    const Draws draws(source);
    std::vector<double> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.load(r, row);
      for (double& x : row) x = element(draws, i++, x);
      to.store<double>(r, row.data());
    }
  };
}

// Whole numbers above it have no fraction, and are their own draws.
constexpr double kMostCounted = 0x1p60;

void infer_poisson(Inference& call) {
  const Tensor& self = call.tensor("self");
  want_fraction(self.dtype, "poisson");
  make_row_major(call, self, self.sizes);
}
Launch bind_poisson(const Binding& call) {
  return draw_by(call.result(), call.item("self"),
                 [](const Draws& draws, std::int64_t i, double rate) {
                   if (!(rate >= 0)) throw OpError("poisson wants rates that are not negative");
                   if (rate == 0 || rate >= kMostCounted) return rate;
                   ElementBits bits(draws, i);
                   std::poisson_distribution<std::int64_t> counts(rate);
                   return static_cast<double>(counts(bits));
                 });
}

void infer_binomial(Inference& call) {
  const Tensor& count = call.tensor("count");
  const Tensor& chance = call.tensor("prob");
  want_wide(count.dtype, "binomial");
  if (count.dtype != chance.dtype) throw OpError("binomial wants count and prob of one dtype");
  make_row_major(call, count, broadcast_sizes(count.sizes, chance.sizes));
}
double successes(const Draws& draws, std::int64_t i, double count, double chance) {
  if (count <= 0 || chance <= 0) return 0;
  if (!(chance < 1) || !(count < kMostCounted)) return count;
  ElementBits bits(draws, i);
  std::binomial_distribution<std::int64_t> tries(static_cast<std::int64_t>(count), chance);
  return static_cast<double>(tries(bits));
}
Launch bind_binomial(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  return [to = last_rows(result), counts = Chances(call.item("count"), result.sizes),
          chances = Chances(call.item("prob"), result.sizes), source = draw_source()] {
    const Draws draws(source);
    std::vector<double> row(at(to.length()));
    std::vector<double> chance(row.size());
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      counts.load(r, row);
      chances.load(r, chance);
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = successes(draws, i++, row[k], chance[k]);
      }
      to.store<double>(r, row.data());
    }
  };
}

double least_normal_of(DType dtype) { return dtype == DType::kFloat32 ? 0x1p-126 : 0x1p-1022; }
// A gamma variate, raised to the least normal number; a shape that is none gives that number.
double gamma_draw(const Draws& draws, std::int64_t i, double shape, DType dtype) {
  if (!(shape > 0)) return least_normal_of(dtype);
  if (std::isinf(shape)) return shape;
  ElementBits bits(draws, i);
  std::gamma_distribution<double> variates(shape);
  return std::max(least_normal_of(dtype), variates(bits));
}
void infer_gamma(Inference& call) {
  const Tensor& self = call.tensor("self");
  want_wide(self.dtype, "a gamma or Dirichlet variate");
  make_row_major(call, self, self.sizes);
}
Launch bind_standard_gamma(const Binding& call) {
  return draw_by(call.result(), call.item("self"),
                 [dtype = call.result().dtype](const Draws& draws, std::int64_t i, double shape) {
                   return gamma_draw(draws, i, shape, dtype);
                 });
}
Launch bind_sample_dirichlet(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  return [to = last_rows(result), from = last_rows(call.tensor("self")), dtype = result.dtype,
          source = draw_source()] {
    const Draws draws(source);
    std::vector<double> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.load<double>(r, row.data());
      double whole = 0;
      for (double& x : row) {
        x = gamma_draw(draws, i++, x, dtype);
        whole += x;
      }
      for (double& x : row) x = std::max(least_normal_of(dtype), x / whole);
      to.store<double>(r, row.data());
    }
  };
}

// ---- coins ----

void check_chance(double p) {
  if (!(p >= 0 && p <= 1)) throw OpError("bernoulli wants chances in [0, 1]");
}

// Of self's own elements, or of p.
void infer_bernoulli(Inference& call) {
  const Tensor& self = call.tensor("self");
  refuse_float8(drawn_dtype(call, self.dtype), "bernoulli");
  const bool has_p = call.has("p");
  const Item& p = call.item(has_p ? "p" : "self");
  if (const Tensor* tensor = p.as<Tensor>()) {
    want_fraction(tensor->dtype, "bernoulli: the tensor of chances");
    (void)broadcast_to(*tensor, self.sizes);
  } else {
    check_chance(call.real("p"));
  }
  const bool is_row_major = !has_p || call.row().schema.overload == "p";
  make_like_self(call, is_row_major ? MemoryFormat::kContiguous : MemoryFormat::kPreserve);
}
template <class C>
Launch toss(const Tensor& result, const Item& p) {
  return [to = last_rows(result), chances = Chances(p, result.sizes), source = draw_source()] {
    const Draws draws(source);
    std::vector<double> chance(at(to.length()));
    std::vector<C> row(chance.size());
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      chances.load(r, chance);
      for (std::size_t k = 0; k < row.size(); ++k) {
        check_chance(chance[k]);
        row[k] = draws.uniform(i++) < chance[k] ? C(1) : C(0);
      }
      to.template store<C>(r, row.data());
    }
  };
}
Launch bind_bernoulli(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  const Item& p = call.item(call.has("p") ? "p" : "self");
  if (const Tensor* state = generator_state(call)) return seeded_coins(result, *state, p);
  return spec::is_floating_point(result.dtype) ? toss<double>(result, p)
                                               : toss<std::int64_t>(result, p);
}

// ---- dropout ----

const Tensor& dropout_input(const KernelCall& call) {
  return call.tensor(call.has("input") ? "input" : "self");
}
bool drops(const KernelCall& call) {
  return call.boolean("train") && call.real("p") > 0 && dropout_input(call).count() > 0;
}

// Out of training, dropout is its argument.
void infer_dropout(Inference& call) {
  const Tensor& input = dropout_input(call);
  const double p = call.real("p");
  if (!(p >= 0 && p <= 1)) throw OpError("dropout probability must be between 0 and 1");
  if (!drops(call)) return call.make_same(input);
  if (p < 1) want_fraction(input.dtype, "dropout in training");
  refuse_float8(input.dtype, "dropout in training");
  call.make(input.dtype, input.sizes, strides_like(input, MemoryFormat::kPreserve));
}

// What an element is multiplied by where it is kept; 0 where it is not.
template <class C>
struct Keep {
  double chance;
  C scale;  // applied to the product with 1 or 0

  // Whether element i is kept.
  [[nodiscard]] bool of(const Draws& draws, std::int64_t i) const {
    return draws.uniform(i) < chance;
  }
};

// x times 1 or 0, times the scale; `mask` gets the ones and zeros where there is one.
template <class C>
Launch drop_launch(const Tensor& result, const Tensor& input, const Tensor* mask, Keep<C> keep) {
  return [to = last_rows(result), from = last_rows(input),
          mask_rows = mask ? std::optional(last_rows(*mask)) : std::nullopt, keep,
          source = draw_source()] {
    const Draws draws(source);
    std::vector<C> row(at(to.length()));
    std::vector<std::int64_t> kept(row.size());
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      for (std::size_t k = 0; k < row.size(); ++k) {
        kept[k] = keep.of(draws, i++) ? 1 : 0;
        row[k] = row[k] * static_cast<C>(kept[k]) * keep.scale;
      }
      to.template store<C>(r, row.data());
      if (mask_rows) mask_rows->template store<std::int64_t>(r, kept.data());
    }
  };
}

// 1 / chance as PyTorch's dropout has it: a number of the input's dtype.
template <class C>
C scale_in(DType dtype, double chance) {
  const C scale = chance == 0 ? C(0) : C(1) / static_cast<C>(chance);
  return Source<C>(Item{static_cast<double>(scale)}, dtype).number;
}

Launch bind_dropout(const Binding& call) {
  if (!drops(call)) return {};
  const Tensor& input = dropout_input(call);
  const double chance = 1 - call.real("p");
  return with_compute(input.dtype, [&]<class C>() {
    return drop_launch<C>(call.result(), input, nullptr,
                          {chance, scale_in<C>(input.dtype, chance)});
  });
}

// Whole features are dropped together: the first two dimensions have one coin each.
bool is_by_feature(const KernelCall& call) {
  return call.row().schema.base_name().starts_with("feature");
}
std::int64_t elements_together(const KernelCall& call, const Tensor& input) {
  if (!is_by_feature(call)) return 1;
  std::int64_t together = 1;
  for (std::size_t d = 2; d < input.sizes.size(); ++d) together *= input.sizes[d];
  return together;
}

void infer_special_dropout(Inference& call) {
  const Tensor& input = dropout_input(call);
  infer_dropout(call);
  if (!drops(call) || call.real("p") == 1 || !is_by_feature(call)) return;
  if (input.rank() < 2) throw OpError("feature dropout wants two dimensions or more");
  if (call.written_result(0) != nullptr) return;
  Tensor noise = input;
  std::fill(noise.sizes.begin() + 2, noise.sizes.end(), 1);
  noise.strides = row_major_strides(noise.sizes);
  call.results().back().tensor.strides = pointwise_strides({&input, &noise}, input.sizes);
}

// x as the dtype holds it.
template <class C>
C as_stored(DType dtype, C x) {
  std::array<std::byte, sizeof(C)> bytes;
  store_element<C>(dtype, x, bytes.data());
  return load_element<C>(dtype, bytes.data());
}

// What becomes of an element of either fate, 0 for dropped: x times the factor, and the shift.
template <class C>
struct Fate {
  C factor{};
  C shift{};
};
template <class C>
using Fates = std::array<Fate<C>, 2>;

// SELU's lower limit is where dropped elements go, so that mean and variance stay.
template <class C>
Fates<C> alpha_fates(DType dtype, double p) {
  constexpr double kDepth = 1.7580993408473766;
  const double slope = 1 / std::sqrt((1 - p) * (1 + p * kDepth * kDepth));
  const C deep = static_cast<C>(kDepth * slope);
  const C rise = static_cast<C>(kDepth * slope * p);
  return {Fate<C>{C(0), as_stored<C>(dtype, as_stored<C>(dtype, -deep) + rise)},
          Fate<C>{as_stored<C>(dtype, static_cast<C>(slope)), as_stored<C>(dtype, rise)}};
}

template <class C>
Launch special_drop_launch(const Tensor& result, const Tensor& input, double chance,
                           std::int64_t together, bool shifts, const Fates<C>& fates) {
  return [to = last_rows(result), from = last_rows(input), dtype = input.dtype, chance, together,
          shifts, fates, source = draw_source()] {
    const Draws draws(source);
    std::vector<C> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      for (C& x : row) {
        const Fate<C>& fate = fates[draws.uniform(i++ / together) < chance ? 1 : 0];
        x = x * fate.factor;
        if (shifts) x = as_stored<C>(dtype, x) + fate.shift;
      }
      to.template store<C>(r, row.data());
    }
  };
}

Launch bind_special_dropout(const Binding& call) {
  if (!drops(call)) return {};
  const Tensor& input = dropout_input(call);
  const double p = call.real("p");
  const bool is_alpha = call.row().schema.base_name().find("alpha") != std::string::npos;
  return with_compute(input.dtype, [&]<class C>() {
    Fates<C> fates = {};
    if (p < 1 && is_alpha) fates = alpha_fates<C>(input.dtype, p);
    if (p < 1 && !is_alpha) fates[1].factor = scale_in<C>(input.dtype, 1 - p);
    return special_drop_launch<C>(call.result(), input, 1 - p, elements_together(call, input),
                                  p < 1 && is_alpha, fates);
  });
}

bool trains(const KernelCall& call) { return !call.has("train") || call.boolean("train"); }

void infer_native_dropout(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (input.count() > 0 && trains(call)) {
    check_chance(1 - call.real("p"));
    want_fraction(input.dtype, "native_dropout in training");
  }
  const Sizes strides = strides_like(input, MemoryFormat::kPreserve);
  call.make(input.dtype, input.sizes, strides);
  // Without elements PyTorch makes a mask of the input's dtype.
  call.make(input.count() == 0 ? input.dtype : DType::kBool, input.sizes, strides);
}
Launch bind_native_dropout(const Binding& call) {
  const Tensor& input = call.tensor("input");
  if (input.count() == 0) return {};
  const double chance = trains(call) ? 1 - call.real("p") : 1;
  return with_compute(input.dtype, [&]<class C>() {
    const double scale = chance == 0 ? 0 : 1 / chance;
    return drop_launch<C>(call.result(0), input, &call.result(1), {chance, static_cast<C>(scale)});
  });
}

// ---- rrelu ----

void infer_rrelu_with_noise(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& noise = call.tensor("noise");
  const bool is_training = call.boolean("training");
  want_fraction(self.dtype, "rrelu_with_noise");
  if (self.sizes != noise.sizes) throw OpError("rrelu_with_noise: noise has other sizes than self");
  if (is_training && (self.dtype == DType::kFloat16 || self.dtype != noise.dtype)) {
    throw OpError("rrelu_with_noise in training wants noise of self's dtype, and not float16");
  }
  if (is_training && !(call.real("lower") <= call.real("upper"))) {
    throw OpError("rrelu_with_noise wants lower <= upper");
  }
  const bool is_functional = call.row().schema.returns.size() == 2;
  call.make(
      self.dtype, self.sizes,
      strides_like(self, is_functional ? MemoryFormat::kPreserve : MemoryFormat::kContiguous));
  if (!is_functional) return;
  call.make(noise.dtype, noise.sizes, strides_like(noise, MemoryFormat::kPreserve));
}

// Slopes for what is not above 0, drawn from [lower, upper]; 1 for the rest.
template <class C>
Launch rectify_launch(const Tensor& result, const Tensor& self, const Tensor& noise, double lower,
                      double upper) {
  return [to = last_rows(result), from = last_rows(self), slopes_to = last_rows(noise),
          dtype = self.dtype, lower, upper, source = draw_source()] {
    const Draws draws(source);
    std::vector<C> row(at(to.length()));
    std::vector<C> slopes(row.size());
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      for (std::size_t k = 0; k < row.size(); ++k, ++i) {
        slopes[k] = C(1);
        if (!(row[k] <= C(0))) continue;
        const double drawn = lower + draws.uniform(i) * (upper - lower);
        slopes[k] = Source<C>(Item{drawn}, dtype).number;
        row[k] = row[k] * slopes[k];
      }
      to.template store<C>(r, row.data());
      slopes_to.template store<C>(r, slopes.data());
    }
  };
}
template <class C>
Launch leak_launch(const Tensor& result, const Tensor& self, C slope) {
  return [to = last_rows(result), from = last_rows(self), slope] {
    std::vector<C> row(at(to.length()));
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      for (C& x : row) x = x > C(0) ? x : x * slope;
      to.template store<C>(r, row.data());
    }
  };
}
Launch bind_rrelu_with_noise(const Binding& call) {
  const Tensor& self = call.tensor("self");
  if (self.count() == 0) return {};
  const Tensor& noise = call.tensor("noise");
  const double lower = call.real("lower");
  const double upper = call.real("upper");
  const bool is_functional = call.row().schema.returns.size() == 2;
  if (call.boolean("training")) {
    return with_real(self.dtype, [&]<class C>() {
      return rectify_launch<C>(call.result(), self, is_functional ? call.result(1) : noise, lower,
                               upper);
    });
  }
  auto leak = with_real(self.dtype, [&]<class C>() {
    return leak_launch<C>(call.result(), self, static_cast<C>((lower + upper) / 2));
  });
  if (!is_functional) return leak;
  const Launch copied = copy_launch(nullptr, call.result(1), noise);
  return [leak, copied] {
    leak.run();
    copied.run();
  };
}

// rrelu keeps its slopes to itself; a new result is row-major.
constexpr PointwiseSignature kRectified{.operands = 1, .numbers = Numbers::kFloating};
void infer_rrelu(Inference& call) {
  const Tensor& self = call.tensor("self");
  want_fraction(self.dtype, "rrelu");
  if (!(call.real("lower") <= call.real("upper"))) throw OpError("rrelu wants lower <= upper");
  if (call.boolean("training") && self.dtype == DType::kFloat16) {
    throw OpError("rrelu in training has no form for float16");
  }
  call.make(self.dtype, self.sizes);
}
template <class C>
Launch sloped_launch(const Tensor& result, const Tensor& self, double lower, double upper) {
  return [to = last_rows(result), from = last_rows(self), dtype = self.dtype, lower,
          width = upper - lower, source = draw_source()] {
    const Draws draws(source);
    std::vector<C> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      for (C& x : row) {
        const double slope = lower + draws.uniform(i++) * width;
        if (x <= C(0)) x = x * as_stored<C>(dtype, static_cast<C>(slope));
      }
      to.template store<C>(r, row.data());
    }
  };
}
// Out of training the slope is the middle of its range.
Launch bind_rrelu(const Binding& call) {
  const double lower = call.real("lower");
  const double upper = call.real("upper");
  const Tensor& self = call.tensor("self");
  if (call.boolean("training")) {
    if (self.count() == 0) return {};
    return with_real(
        self.dtype, [&]<class C>() { return sloped_launch<C>(call.result(), self, lower, upper); });
  }
  const double slope = (lower + upper) / 2;
  return launch_pointwise<kRectified>(
      call, [&]<class C>() { return element::LeakyRelu<C>{static_cast<C>(slope)}; });
}

// ---- multinomial ----

void infer_multinomial(Inference& call) {
  const Tensor& self = call.tensor("self");
  want_fraction(self.dtype, "multinomial");
  if (self.rank() != 1 && self.rank() != 2) throw OpError("multinomial wants rank 1 or 2");
  const std::int64_t samples = call.integer("num_samples");
  Sizes sizes = self.sizes;
  const std::int64_t categories = std::exchange(sizes.back(), samples);
  if (samples <= 0) throw OpError("multinomial wants samples");
  if (!call.boolean("replacement") && samples > categories) {
    throw OpError("multinomial without replacement has fewer categories than samples");
  }
  if (categories == 0 && checked_count(sizes) > 0) throw OpError("multinomial has no category");
  call.make(DType::kInt64, sizes);
}

void check_weights(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0) || std::isinf(weight)) {
      throw OpError("multinomial wants weights that are finite and not negative");
    }
    sum += weight;
  }
  if (!(sum > 0)) throw OpError("multinomial: the weights of a row come to nothing");
}

// Samples by the running sum of the weights; without replacement a weight that was taken counts no
// more. Where rounding leaves nothing, what is left is taken in order.
class WeightedChoice {
 public:
  explicit WeightedChoice(std::vector<double> weights)
      : weights_(std::move(weights)), is_taken_(weights_.size(), false) {
    for (const double weight : weights_) sum_ += weight;
  }

  std::int64_t draw(double uniform, bool replacement) {
    const double wanted = uniform * sum_;
    double running = 0;
    std::size_t found = weights_.size();
    for (std::size_t i = 0; i < weights_.size() && found == weights_.size(); ++i) {
      running += weights_[i];
      if (weights_[i] > 0 && wanted < running) found = i;
    }
    if (found == weights_.size()) found = last_or_free();
    if (!replacement) take(found);
    return static_cast<std::int64_t>(found);
  }

 private:
  // The last with a weight, else the first that nobody has taken.
  [[nodiscard]] std::size_t last_or_free() const {
    for (std::size_t i = weights_.size(); i-- > 0;) {
      if (weights_[i] > 0) return i;
    }
    std::size_t i = 0;
    while (is_taken_[i]) ++i;
    return i;
  }
  void take(std::size_t i) {
    weights_[i] = 0;
    is_taken_[i] = true;
    sum_ = 0;
    for (const double weight : weights_) sum_ += weight;
  }

  std::vector<double> weights_;
  std::vector<bool> is_taken_;
  double sum_ = 0;
};

Launch bind_multinomial(const Binding& call) {
  const Tensor& result = call.result();
  if (result.count() == 0) return {};
  return [to = last_rows(result), from = last_rows(call.tensor("self")),
          replacement = call.boolean("replacement"), source = draw_source()] {
    const Draws draws(source);
    std::vector<std::int64_t> row(at(to.length()));
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < to.count(); ++r) {
      std::vector<double> weights(at(from.length()));
      from.load<double>(r, weights.data());
      check_weights(weights);
      WeightedChoice choice(std::move(weights));
      for (std::int64_t& chosen : row) chosen = choice.draw(draws.uniform(i++), replacement);
      to.store<std::int64_t>(r, row.data());
    }
  };
}

}  // namespace

std::span<const Kernel> random_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static constexpr Kernel kKernels[] = {
      {"aten._sample_dirichlet", infer_gamma, bind_sample_dirichlet},
      {"aten._standard_gamma", infer_gamma, bind_standard_gamma},
      Kernel{"aten.alpha_dropout", infer_special_dropout, bind_special_dropout, kOverlap}.rows(
          row_rules::dropout),
      {"aten.bernoulli", infer_bernoulli, bind_bernoulli},
      {"aten.binomial", infer_binomial, bind_binomial},
      {"aten.cauchy", infer_cauchy, bind_cauchy, kOverlap},
      Kernel{"aten.dropout", infer_dropout, bind_dropout, kOverlap}.rows(row_rules::dropout),
      {"aten.exponential", infer_exponential, bind_exponential, kOverlap},
      Kernel{"aten.feature_alpha_dropout", infer_special_dropout, bind_special_dropout, kOverlap}
          .rows(row_rules::dropout),
      Kernel{"aten.feature_dropout", infer_special_dropout, bind_special_dropout, kOverlap}.rows(
          row_rules::dropout),
      {"aten.geometric", infer_geometric, bind_geometric, kOverlap},
      {"aten.log_normal", infer_log_normal, bind_log_normal, kOverlap},
      {"aten.multinomial", infer_multinomial, bind_multinomial},
      {"aten.native_dropout", infer_native_dropout, bind_native_dropout},
      {"aten.normal", infer_normal, bind_normal},
      {"aten.normal_functional", infer_normal, bind_normal},
      {"aten.poisson", infer_poisson, bind_poisson},
      {"aten.rand", infer_rand, bind_rand},
      {"aten.rand_like", infer_rand_like, bind_rand},
      {"aten.randint", infer_randint, bind_randint},
      {"aten.randint_like", infer_randint_like, bind_randint},
      {"aten.randn", infer_randn, bind_randn},
      {"aten.randn_like", infer_randn_like, bind_randn},
      {"aten.random", infer_random, bind_random, kOverlap},
      {"aten.randperm", infer_randperm, bind_randperm},
      {"aten.rrelu", infer_rrelu, bind_rrelu},
      {"aten.rrelu_with_noise", infer_rrelu_with_noise, bind_rrelu_with_noise},
      {"aten.rrelu_with_noise_functional", infer_rrelu_with_noise, bind_rrelu_with_noise},
      {"aten.uniform", infer_uniform, bind_uniform, kOverlap},
      {"rngprims.philox_rand", infer_philox_rand, bind_philox_rand},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
