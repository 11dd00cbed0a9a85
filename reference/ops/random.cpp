// Ops that draw random numbers.
//
// Without a generator's state among the inputs nobody can say which numbers come out: they are left
// open, and with them all that is computed of them. What holds of each draw is kept: oracle runs
// with worst-case radii know between which numbers it lies ([0, 1) of rand, [low, high) of
// randint). The sampled oracle knows nothing of them, since they are no errors.
//
// The reference's own numbers are drawn by SplitMix64, from a seed that the run gives each call
// (Call::draw_seed): the same run draws the same numbers again. Source of what is drawn, refused
// and rounded: aten/src/ATen/native/DistributionTemplates.h, Distributions.cpp, Dropout.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "reference/movement.h"
#include "reference/ops/known_draws.h"
#include "reference/ops/philox.h"
#include "reference/ops/random_draws.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

constexpr long double kUnbounded = std::numeric_limits<long double>::infinity();

// Between which numbers every draw lies, both included; one number that is known where they are
// equal.
struct DrawRange {
  long double least = -kUnbounded;
  long double greatest = kUnbounded;
};

// A tensor of these sizes, row-major: of the out= tensor's dtype, the one that is asked for, or
// `otherwise`.
TensorRef drawn_sized(const Call& call, const Sizes& sizes, DType otherwise) {
  if (!spec::checked_element_count(sizes)) {
    throw OpError("sizes must not be negative, and multiply to less than 2^63");
  }
  const TensorRef out = call.next_target();
  const DType dtype = out ? out->dtype : call.optional_dtype("dtype").value_or(otherwise);
  return new_tensor(dtype, sizes, call.device_or({}));
}

// One that is like another tensor.
TensorRef drawn_like(const Call& call, const Tensor& self, spec::MemoryFormat format) {
  const TensorRef out = call.next_target();
  const DType dtype = out ? out->dtype : call.optional_dtype("dtype").value_or(self.dtype);
  return new_tensor(dtype, self.sizes, strides_like(self, format), call.device_or(self.device));
}
TensorRef drawn_like_self(const Call& call) {
  const auto format = call.optional_format("memory_format");
  return drawn_like(call, *call.tensor("self"), format.value_or(spec::MemoryFormat::kPreserve));
}

// What an oracle run knows of draws, written over what it takes the bytes for.
template <class Range>
void mark_draws(const Call& call, Tensor& tensor, const Range& range_at) {
  if (call.knows_draws() || tensor.count() == 0) return;
  add_marks(tensor);
  std::int64_t i = 0;
  for_each_position(tensor, [&](std::int64_t position) {
    const DrawRange range = range_at(i++);
    if (range.least == range.greatest) return;
    StoredMark& stored = tensor.storage->marks[static_cast<std::size_t>(position)];
    Mark mark = stored;
    const bool is_bounded = std::isfinite(range.least) && std::isfinite(range.greatest);
    if (call.mode() == Mode::kWorstCase && is_bounded) {
      mark.value = range.least + (range.greatest - range.least) / 2;
      mark.radius =
          detail::rounded_up(std::max(range.greatest - mark.value, mark.value - range.least));
    } else {
      mark.radius = detail::kInfinity;
    }
    stored = mark;
  });
}

// The next result: a number of draw(i) for each element of `made`, a new tensor.
template <class N, class Draw, class Range>
void emit_draws(Call& call, const TensorRef& made, const Draw& draw, const Range& range_at) {
  Array<N> numbers(made->sizes);
  for (std::int64_t i = 0; i < numbers.count(); ++i) numbers[i] = N(draw(i));
  store(*made, numbers);
  emit_made(call, made);
  mark_draws(call, **call.results().back().as<TensorRef>(), range_at);
}
template <class Draw>
void emit_reals(Call& call, const TensorRef& made, const Draw& draw, DrawRange range = {}) {
  emit_draws<double>(
      call, made, [&](std::int64_t) { return draw(); }, [&](std::int64_t) { return range; });
}

// The same of whole numbers, in any dtype.
template <class Draw, class Range>
void emit_integers(Call& call, const TensorRef& made, const Draw& draw, const Range& range_at) {
  if (spec::is_floating_point(made->dtype)) {
    emit_draws<double>(
        call, made, [&](std::int64_t i) { return static_cast<double>(draw(i)); }, range_at);
  } else {
    emit_draws<Whole>(call, made, draw, range_at);
  }
}

void require_real_dtype(DType dtype, const char* op) {
  const bool is_real = spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) > 1;
  if (!is_real) throw OpError(std::string(op) + " draws numbers of 16 to 64 bits with a fraction");
}
void refuse_drawn_float8(DType dtype, const char* op) {
  if (spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) == 1) {
    throw OpError(std::string(op) + " is not implemented for 8-bit floating dtypes");
  }
}

// ---- uniform ----

// The bits of the fraction, the leading one included.
int precision_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 53;
    case DType::kFloat32:
      return 24;
    case DType::kFloat16:
      return 11;
    default:
      return 8;
  }
}

// 1 is excluded; where a draw in float32 is rounded to 16 bits it may come out all the same.
DrawRange unit_range(DType dtype) {
  const bool is_wide = dtype == DType::kFloat64 || dtype == DType::kFloat32;
  return {0, is_wide ? 1 - std::ldexp(1.0L, -precision_of(dtype)) : 1};
}

void emit_unit(Call& call, const TensorRef& made) {
  require_real_dtype(made->dtype, "rand");
  if (emit_known_uniform(call, made, 0, 1)) return;
  Draws draws(call);
  // Below 1 in the dtype, too.
  const double steps = std::ldexp(1.0, precision_of(made->dtype));
  emit_reals(
      call, made, [&] { return std::floor(draws.uniform() * steps) / steps; },
      unit_range(made->dtype));
}
void random_rand(Call& call) {
  emit_unit(call, drawn_sized(call, call.integers("size"), DType::kFloat32));
}
// A whole number that an argument holds, where it is known.
std::optional<std::int64_t> known_whole(const Tensor& tensor) {
  if (tensor.dtype != DType::kInt64 || tensor.count() != 1) {
    throw OpError("philox_rand: seed and offset are int64 numbers");
  }
  if (!is_decided(tensor)) return std::nullopt;
  return load<Whole>(tensor, DType::kInt64)[0].value;
}

// Uniform numbers of CUDA's generator, whose state is its arguments, and by how much its offset
// moves. Up to so many elements each has a thread of its own on every GPU; with more, which thread
// draws what depends on how many a GPU runs at a time.
void philox_rand(Call& call) {
  constexpr std::int64_t kThreads = 1 << 13;
  if (call.has("stride")) throw OpError("philox_rand takes no strides");
  const TensorRef made = drawn_sized(call, call.integers("size"), DType::kFloat32);
  if (made->device.type != "cuda") throw OpError("philox_rand draws on CUDA alone");
  if (made->count() == 0) throw OpError("philox_rand draws one number at least");
  const auto seed = known_whole(*call.tensor("seed"));
  const auto offset = known_whole(*call.tensor("offset"));
  if (offset && (*offset < 0 || *offset % 4 != 0)) throw OpError("offset must be a multiple of 4");
  require_real_dtype(made->dtype, "philox_rand");
  if (seed && offset && made->count() <= kThreads && made->dtype != DType::kFloat64) {
    const auto draw = [&](std::int64_t i) {
      return cuda_uniform(static_cast<std::uint64_t>(*seed), static_cast<std::uint64_t>(*offset),
                          static_cast<std::uint64_t>(i), made->dtype);
    };
    emit_draws<double>(call, made, draw, [](std::int64_t) { return DrawRange{0, 0}; });
  } else {
    emit_unit(call, made);
  }
  const TensorRef moved = new_tensor(DType::kInt64, {}, {});
  const bool is_known = made->count() <= kThreads;
  store(*moved, Array<Whole>({}, Whole(4, !is_known)));
  call.emit_datum({moved});
}

void random_rand_like(Call& call) { emit_unit(call, drawn_like_self(call)); }

long double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.FEp127L;
    default:
      return std::numeric_limits<float>::max();
  }
}

// from + u (to - from): `from`, `to`, their distance, the product and the sum round.
void random_uniform(Call& call) {
  const TensorRef made = drawn_like_self(call);
  require_real_dtype(made->dtype, "uniform");
  const double from = call.real("from");
  const double to = call.real("to");
  const long double largest = largest_of(made->dtype);
  if (!(std::fabs(from) <= largest && std::fabs(to) <= largest)) {
    throw OpError("uniform_: a bound is out of the dtype's range");
  }
  if (!(from <= to) || static_cast<long double>(to) - from > largest) {
    throw OpError("uniform_ expects from <= to, and their distance to be a number of the dtype");
  }
  if (emit_known_uniform(call, made, from, to)) return;
  const long double far = std::max(std::fabs(from), std::fabs(to));
  const long double rounding = std::ldexp(2 * far + 3 * (static_cast<long double>(to) - from + far),
                                          -precision_of(made->dtype));
  Draws draws(call);
  emit_reals(call, made, [&] { return from + draws.uniform() * (to - from); },
             {from - rounding, to + rounding});
}

// ---- normal, and what is made of it ----

void emit_standard_normal(Call& call, const TensorRef& made) {
  require_real_dtype(made->dtype, "randn");
  if (emit_known_normal(call, made, {0.0}, {1.0})) return;
  Draws draws(call);
  emit_reals(call, made, [&] { return draws.normal(); });
}
void random_randn(Call& call) {
  emit_standard_normal(call, drawn_sized(call, call.integers("size"), DType::kFloat32));
}
void random_randn_like(Call& call) { emit_standard_normal(call, drawn_like_self(call)); }

// A number, or a tensor of them: of an element nothing is refused that an oracle run cannot tell.
Array<double> numbers_of(const Datum& datum, const Sizes& sizes) {
  const auto* tensor = datum.as<TensorRef>();
  if (!tensor) return Array<double>(sizes, number<double>(datum, DType::kFloat64));
  return broadcast_to(load<double>(**tensor, DType::kFloat64), sizes);
}
bool is_certain(const Datum& datum) {
  const auto* tensor = datum.as<TensorRef>();
  return !tensor || is_decided(**tensor);
}

Sizes sizes_of_operand(const Datum& datum) {
  const auto* tensor = datum.as<TensorRef>();
  return tensor ? (*tensor)->sizes : Sizes{};
}

// normal_(self, mean, std), normal(mean, std, size), or with tensors for one or both of them: then
// the result is row-major, of the dtype of the first.
TensorRef normal_result(const Call& call) {
  if (call.has("self")) return drawn_like_self(call);
  if (call.has("size")) return drawn_sized(call, call.integers("size"), DType::kFloat32);
  const Datum& mean = call.datum("mean");
  const Datum& deviation = call.datum("std");
  const auto* of_mean = mean.as<TensorRef>();
  const Tensor& like = of_mean ? **of_mean : *call.tensor("std");
  const TensorRef out = call.next_target();
  return new_tensor(out ? out->dtype : like.dtype,
                    broadcast_sizes({sizes_of_operand(mean), sizes_of_operand(deviation)}),
                    like.device);
}
void random_normal(Call& call) {
  const TensorRef made = normal_result(call);
  if (made->count() > 0 || !call.has("self")) require_real_dtype(made->dtype, "normal");
  const Array<double> means = numbers_of(call.datum("mean"), made->sizes);
  const Array<double> deviations = numbers_of(call.datum("std"), made->sizes);
  const bool is_refused = is_certain(call.datum("std")) &&
                          std::ranges::any_of(deviations.data, [](double x) { return !(x >= 0); });
  const auto* scalar = call.datum("std").as<TensorRef>();
  if (is_refused || (!scalar && !(call.real("std") >= 0))) {
    throw OpError("normal expects all elements of std >= 0.0");
  }
  if (emit_known_normal(call, made, call.datum("mean"), call.datum("std"))) return;
  Draws draws(call);
  emit_draws<double>(
      call, made, [&](std::int64_t i) { return means[i] + deviations[i] * draws.normal(); },
      [](std::int64_t) { return DrawRange(); });
}

// The largest number there is stands for an end that is not known: an infinity is as good.
constexpr DrawRange kNotNegative = {0, 0x1p1024L};  // 2^1023 and a radius as large

void require_above_zero(double x, const char* message) {
  if (!(x > 0)) throw OpError(message);
}
void random_log_normal(Call& call) {
  const TensorRef made = drawn_like_self(call);
  const double mean = call.real("mean");
  const double deviation = call.real("std");
  require_above_zero(deviation, "log_normal_ expects std > 0.0");
  require_real_dtype(made->dtype, "log_normal_");
  if (emit_known_continuous(call, made, Continuous::kLogNormal, mean, deviation)) return;
  Draws draws(call);
  emit_reals(
      call, made, [&] { return std::exp(mean + deviation * draws.normal()); }, kNotNegative);
}
void random_exponential(Call& call) {
  const TensorRef made = drawn_like_self(call);
  const double rate = call.real("lambd");
  require_above_zero(rate, "exponential_ expects lambda > 0.0");
  if (made->count() > 0) require_real_dtype(made->dtype, "exponential_");
  if (emit_known_continuous(call, made, Continuous::kExponential, rate)) return;
  Draws draws(call);
  emit_reals(
      call, made, [&] { return draws.exponential() / rate; }, kNotNegative);
}
void random_cauchy(Call& call) {
  const TensorRef made = drawn_like_self(call);
  const double median = call.real("median");
  const double sigma = call.real("sigma");
  require_above_zero(sigma, "cauchy_ expects sigma > 0.0");
  if (made->count() > 0) require_real_dtype(made->dtype, "cauchy_");
  if (emit_known_continuous(call, made, Continuous::kCauchy, median, sigma)) return;
  Draws draws(call);
  emit_reals(call, made,
             [&] { return median + sigma * std::tan(std::numbers::pi * (draws.uniform() - 0.5)); });
}

// ---- whole numbers ----

// [low, high) as the dtype holds it. Throws OpError where it does not hold both ends.
DrawRange whole_range(std::int64_t low, std::int64_t high, DType dtype) {
  refuse_drawn_float8(dtype, "randint");
  if (low >= high) throw OpError("random_ expects 'from' to be less than 'to'");
  const DrawRange range = {static_cast<long double>(low), static_cast<long double>(high - 1)};
  const bool fits = spec::is_floating_point(dtype)
                        ? range.least >= -largest_of(dtype) && range.greatest <= largest_of(dtype)
                        : wrap_to(low, dtype) == low && wrap_to(high - 1, dtype) == high - 1;
  const bool is_no_bool = dtype == DType::kBool && (low < 0 || high > 2);
  if (!fits || is_no_bool) throw OpError("random_: an end of the range is out of the dtype's");
  if (!spec::is_floating_point(dtype)) return range;
  return {round_to_dtype(range.least, dtype), round_to_dtype(range.greatest, dtype)};
}

// Ranges from 2^28 on are drawn of 64 bits.
bool takes_two_words(std::uint64_t count) { return count == 0 || count >= std::uint64_t{1} << 28U; }

// Whole numbers from `low` to `last`, of which an oracle run knows `range`.
void emit_between(Call& call, const TensorRef& made, std::int64_t low, std::int64_t last,
                  DrawRange range) {
  const std::uint64_t count =
      static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(low) + 1;
  if (emit_known_whole(call, made, low, count, takes_two_words(count))) return;
  Draws draws(call);
  const auto draw = [&](std::int64_t) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draws.below(count));
  };
  emit_integers(call, made, draw, [&](std::int64_t) { return range; });
}
void emit_below(Call& call, const TensorRef& made, std::int64_t low, std::int64_t high) {
  const DrawRange range = whole_range(low, high, made->dtype);
  emit_between(call, made, low, high - 1, range);
}
std::int64_t lower_end(const Call& call) { return call.has("low") ? call.integer("low") : 0; }
void random_randint(Call& call) {
  emit_below(call, drawn_sized(call, call.integers("size"), DType::kInt64), lower_end(call),
             call.integer("high"));
}
// The upper end may be a tensor without dimensions.
void random_randint_like(Call& call) {
  const auto* high = call.datum("high").as<TensorRef>();
  if (high && (*high)->rank() != 0) throw OpError("high must be a scalar tensor and on CPU");
  if (high) require_decided(**high);
  const std::int64_t end =
      high ? load<Whole>(**high, DType::kInt64)[0].value : call.integer("high");
  emit_below(call, drawn_like_self(call), lower_end(call), end);
}

// The last number that random_ draws where no end is given: of floating dtypes the last behind
// which not every whole number is one of them.
std::int64_t last_drawn(DType dtype) {
  if (spec::is_floating_point(dtype)) return std::int64_t{1} << precision_of(dtype);
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kUInt8:
      return 255;
    default:
      return static_cast<std::int64_t>(
          (std::uint64_t{1} << (8 * spec::item_size_bytes(dtype) - 1)) - 1);
  }
}

// random_(), random_(to), random_(from, to), where no `to` means all from there on, and the least
// number of 64 bits with it any number of them.
void random_random(Call& call) {
  const TensorRef made = drawn_like_self(call);
  const DType dtype = made->dtype;
  refuse_drawn_float8(dtype, "random_");
  const std::int64_t from = call.has("from") ? call.integer("from") : 0;
  if (call.has("to")) return emit_below(call, made, from, call.integer("to"));
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  if (from == kLeast) {
    const bool is_wide =
        dtype != DType::kFloat16 && (spec::is_floating_point(dtype) || dtype == DType::kInt64);
    if (!is_wide) throw OpError("random_ draws 64 bits for int64, float64, float32 and bfloat16");
    const bool is_real = spec::is_floating_point(dtype);
    if (emit_known_whole(call, made, 0, 0, true)) return;  // the bits as they are
    return emit_between(call, made, kLeast, kGreatest,
                        {-0x1p63L, is_real ? 0x1p63L : static_cast<long double>(kGreatest)});
  }
  const std::int64_t last = last_drawn(dtype);
  if (!call.has("from")) {
    const bool is_long = dtype == DType::kInt64 || dtype == DType::kFloat64;
    const std::uint64_t count = static_cast<std::uint64_t>(last) + 1;
    if (emit_known_whole(call, made, 0, count, is_long)) return;
  }
  if (last < kGreatest) return emit_below(call, made, from, last + 1);
  emit_between(call, made, from, last,
               {static_cast<long double>(from), static_cast<long double>(last)});
}

// The most numbers that a floating dtype tells apart, and one: PyTorch's own check.
void check_permutation(std::int64_t n, DType dtype) {
  if (n < 0) throw OpError("n must be non-negative");
  refuse_drawn_float8(dtype, "randperm");
  if (dtype == DType::kBool) throw OpError("randperm is not implemented for bool");
  const bool fits = spec::is_floating_point(dtype) ? dtype != DType::kFloat16 || n <= 2049
                                                   : n == 0 || wrap_to(n, dtype) == n;
  if (!fits) throw OpError("randperm: n is too large for the dtype");
}
void random_randperm(Call& call) {
  const std::int64_t n = call.integer("n");
  const TensorRef made = drawn_sized(call, {n}, DType::kInt64);
  check_permutation(n, made->dtype);
  if (emit_known_order(call, made)) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  Draws draws(call);
  for (std::size_t left = order.size(); left > 1; --left) {  // Fisher and Yates
    std::swap(order[left - 1], order[draws.below(left)]);
  }
  const bool is_real = spec::is_floating_point(made->dtype);
  const long double last = static_cast<long double>(n) - 1;
  const DrawRange range = {0, is_real ? round_to_dtype(last, made->dtype) : last};
  emit_integers(
      call, made, [&](std::int64_t i) { return order[static_cast<std::size_t>(i)]; },
      [&](std::int64_t) { return range; });
}

// How often one has to try, the trial that succeeds included.
void random_geometric(Call& call) {
  const TensorRef made = drawn_like_self(call);
  const double p = call.real("p");
  if (!(p > 0 && p < 1)) throw OpError("geometric_ expects p to be in (0, 1)");
  refuse_drawn_float8(made->dtype, "geometric_");
  if (made->dtype == DType::kBool) throw OpError("geometric_ is not implemented for bool");
  if (emit_known_continuous(call, made, Continuous::kGeometric, p)) return;
  Draws draws(call);
  const auto draw = [&] {
    return std::max(std::ceil(std::log(draws.positive()) / std::log1p(-p)), 1.0);
  };
  if (spec::is_floating_point(made->dtype)) {
    return emit_reals(call, made, draw, {1, kNotNegative.greatest});
  }
  // An integer that it does not fit is cut.
  emit_draws<Whole>(
      call, made, [&](std::int64_t) { return to_whole(draw()).value; },
      [](std::int64_t) { return DrawRange(); });
}

// ---- counts, and shares of a whole ----

TensorRef drawn_row_major(const Call& call, const Tensor& self, const Sizes& sizes) {
  const TensorRef out = call.next_target();
  return new_tensor(out ? out->dtype : self.dtype, sizes, self.device);
}
bool is_wide_real(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }
void require_wide_real(DType dtype, const char* op) {
  if (!is_wide_real(dtype)) throw OpError(std::string(op) + " draws float32 and float64 alone");
}

// Whole numbers of a mean that self says, element by element.
void random_poisson(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_real_dtype(self.dtype, "poisson");
  const Array<double> rates = load<double>(self, DType::kFloat64);
  const bool is_known = is_decided(self);
  if (is_known && !std::ranges::all_of(rates.data, [](double x) { return x >= 0; })) {
    throw OpError("invalid Poisson rate, expected rate to be non-negative");
  }
  Draws draws(call);
  const auto draw = [&](std::int64_t i) {
    const double rate = rates[i];
    if (!(rate > 0)) return 0.0;
    constexpr double kMost = 0x1p60;
    if (!(rate < kMost)) return rate;
    return static_cast<double>(std::poisson_distribution<std::int64_t>(rate)(draws));
  };
  emit_draws<double>(call, drawn_row_major(call, self, self.sizes), draw, [&](std::int64_t i) {
    return is_known && rates[i] == 0 ? DrawRange{0, 0} : kNotNegative;
  });
}

// How many of `count` attempts succeed, each with a chance of its own.
void random_binomial(Call& call) {
  const Tensor& count = *call.tensor("count");
  const Tensor& chance = *call.tensor("prob");
  require_wide_real(count.dtype, "binomial");
  if (chance.dtype != count.dtype) throw OpError("binomial: count and prob differ in dtype");
  const Sizes sizes = broadcast_sizes({count.sizes, chance.sizes});
  const Array<double> counts = broadcast_to(load<double>(count, DType::kFloat64), sizes);
  const Array<double> chances = broadcast_to(load<double>(chance, DType::kFloat64), sizes);
  const bool is_known = is_decided(count) && is_decided(chance);
  Draws draws(call);
  const auto is_none = [&](std::int64_t i) { return counts[i] <= 0 || chances[i] <= 0; };
  const auto draw = [&](std::int64_t i) {
    const double attempts = counts[i];
    const double p = chances[i];
    if (is_none(i)) return 0.0;
    constexpr double kMost = 0x1p60;
    if (p >= 1 || !(attempts < kMost) || std::isnan(p)) return attempts;
    std::binomial_distribution<std::int64_t> tries(static_cast<std::int64_t>(attempts), p);
    return static_cast<double>(tries(draws));
  };
  const auto range_at = [&](std::int64_t i) -> DrawRange {
    if (!is_known) return {};
    if (is_none(i)) return {0, 0};
    if (chances[i] >= 1) return {counts[i], counts[i]};
    return std::isfinite(counts[i]) && !std::isnan(chances[i]) ? DrawRange{0, counts[i]}
                                                               : DrawRange();
  };
  emit_draws<double>(call, drawn_row_major(call, count, sizes), draw, range_at);
}

double least_normal(DType dtype) {
  return dtype == DType::kFloat64 ? std::numeric_limits<double>::min()
                                  : static_cast<double>(std::numeric_limits<float>::min());
}
// A gamma variate of a shape, and of scale 1; never less than the least normal number.
double gamma_variate(double shape, DType dtype, Draws& draws) {
  const double least = least_normal(dtype);
  if (!(shape > 0)) return least;
  if (std::isinf(shape)) return shape;
  return std::max(std::gamma_distribution<double>(shape)(draws), least);
}

void random_standard_gamma(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_wide_real(self.dtype, "_standard_gamma");
  const Array<double> shapes = load<double>(self, DType::kFloat64);
  Draws draws(call);
  emit_draws<double>(
      call, drawn_row_major(call, self, self.sizes),
      [&](std::int64_t i) { return gamma_variate(shapes[i], self.dtype, draws); },
      [&](std::int64_t) {
        return DrawRange{least_normal(self.dtype), kNotNegative.greatest};
      });
}

// Shares of a whole, along the last dimension: gamma variates over their sum.
void random_sample_dirichlet(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_wide_real(self.dtype, "_sample_dirichlet");
  Array<double> shares = load<double>(self, DType::kFloat64);
  const std::int64_t width = self.rank() == 0 ? 1 : self.sizes.back();
  Draws draws(call);
  for (std::int64_t row = 0; row < shares.count(); row += width) {
    double sum = 0;
    for (std::int64_t i = row; i < row + width; ++i) {
      shares[i] = gamma_variate(shares[i], self.dtype, draws);
      sum += shares[i];
    }
    for (std::int64_t i = row; i < row + width; ++i) {
      shares[i] = std::max(shares[i] / sum, least_normal(self.dtype));
    }
  }
  emit_draws<double>(
      call, drawn_row_major(call, self, self.sizes), [&](std::int64_t i) { return shares[i]; },
      [&](std::int64_t) {
        return DrawRange{least_normal(self.dtype), 1};
      });
}

// ---- bernoulli and dropout ----

// Zeros and ones, elements of `made`: one with probability p, of which an oracle run may know no
// more than a radius.
void emit_coins(Call& call, const TensorRef& made, const Datum& p) {
  refuse_drawn_float8(made->dtype, "bernoulli");
  const auto* tensor = p.as<TensorRef>();
  if (tensor) require_real_dtype((*tensor)->dtype, "bernoulli: p");
  const Array<double> chances = numbers_of(p, made->sizes);
  const bool is_known = is_certain(p);
  const bool is_chance =
      std::ranges::all_of(chances.data, [](double x) { return 0 <= x && x <= 1; });
  if (is_known && !is_chance) throw OpError("bernoulli expects p to be in [0, 1]");
  if (emit_known_coins(call, made, p)) return;
  Draws draws(call);
  const auto range_at = [&](std::int64_t i) -> DrawRange {
    const bool is_sure = is_known && (chances[i] == 0 || chances[i] == 1);
    return is_sure ? DrawRange{chances[i], chances[i]} : DrawRange{0, 1};
  };
  emit_integers(
      call, made,
      [&](std::int64_t i) { return draws.uniform() < chances[i] ? std::int64_t{1} : 0; }, range_at);
}

// Of its own elements, of p for all, or of a tensor of chances that stretches to self.
void random_bernoulli(Call& call) {
  const Tensor& self = *call.tensor("self");
  const bool is_of_self = !call.has("p");
  // bernoulli and bernoulli.p make row-major results.
  const std::string_view form = call.row().schema.overload;
  const bool is_row_major = is_of_self || form == "p";
  const TensorRef made = drawn_like(
      call, self, is_row_major ? spec::MemoryFormat::kContiguous : spec::MemoryFormat::kPreserve);
  emit_coins(call, made, is_of_self ? call.datum("self") : call.datum("p"));
}

// A coin as a number that an oracle knows to be 0 or 1.
template <class N>
N coin(std::int64_t drawn, bool is_known) {
  if (is_known) return N(static_cast<double>(drawn));
  if constexpr (std::is_same_v<N, double>) {
    return static_cast<double>(drawn);
  } else if constexpr (std::is_same_v<N, Bounded>) {
    return N(0.5, 0.5, N::Arithmetic::kFloat32);
  } else {
    return left_open(N(static_cast<double>(drawn)));
  }
}

// The coins of a dropout that keeps with this probability.
std::vector<std::int64_t> kept_elements(const Call& call, std::int64_t count, double keeps) {
  Draws draws(call);
  std::vector<std::int64_t> kept(static_cast<std::size_t>(count));
  for (std::int64_t& one : kept) one = draws.uniform() < keeps ? 1 : 0;
  return kept;
}

// x, kept or not, times the scale. What is not finite is not hidden by a zero everywhere.
template <class N>
N dropped(const N& x, const N& coin, const N& scale) {
  return weighted(x, coin) * scale;
}

// The result of native_dropout.
template <class N>
Array<N> drop_out(const Call& call, const Tensor& input, const std::vector<std::int64_t>& kept,
                  double keeps) {
  Array<N> out = load<N>(input, input.dtype);
  const N scale = scale_of<N>(keeps, input.dtype, false);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const N tossed = coin<N>(kept[static_cast<std::size_t>(i)], call.knows_draws());
    out[i] = dropped(out[i], tossed, scale);
  }
  return out;
}

void require_droppable(DType dtype) { require_real_dtype(dtype, "dropout in training"); }

// Dropouts: of elements or of whole features (the first two dimensions), to zero or to where SELU
// has its negative limit, with mean and variance kept.
struct DropoutForm {
  bool is_by_feature = false;
  bool is_alpha = false;
};

// An element with the coin 1 or 0.
template <class N>
N with_coin(const N& x, double coin, double p, DType dtype, bool is_alpha) {
  if (!is_alpha) return dropped(x, N(coin), scale_of<N>(1 - p, dtype, true));
  constexpr double kLimit = 1.7580993408473766;  // of SELU, negated
  const double slope = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const auto scalar = [&](double y) { return N(round_to_dtype(y, compute_dtype(dtype))); };
  const N below = round_edge(N(coin - 1) * scalar(kLimit * slope), dtype);
  const N shift = round_edge(below + scalar(kLimit * slope * p), dtype);
  const N factor = round_edge(N(coin) * scalar(slope), dtype);
  return round_edge(weighted(x, factor), dtype) + shift;
}

template <class N>
Array<N> toss_out(const Call& call, const Tensor& input, DropoutForm form) {
  const double p = call.real("p");
  std::int64_t together = 1;
  for (std::size_t d = 2; form.is_by_feature && d < input.sizes.size(); ++d) {
    together *= input.sizes[d];
  }
  const auto kept = kept_elements(call, input.count() / together, 1 - p);
  Array<N> out = load<N>(input, input.dtype);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    out[i] = tossed(with_coin(out[i], 1, p, input.dtype, form.is_alpha),
                    with_coin(out[i], 0, p, input.dtype, form.is_alpha),
                    kept[static_cast<std::size_t>(i / together)] != 0, call.knows_draws());
  }
  return out;
}

// The noise of features has one element for each.
Sizes dropout_strides(const TensorRef& input, DropoutForm form) {
  if (!form.is_by_feature) return strides_like(*input, spec::MemoryFormat::kPreserve);
  Sizes features(input->sizes.size(), 1);
  std::copy_n(input->sizes.begin(), 2, features.begin());
  const TensorRef noise = new_tensor(input->dtype, features, input->device);
  return pointwise_strides(std::array{input, noise}, input->sizes);
}

// Out of training dropout returns its argument.
void drop_out_by(Call& call, DropoutForm form) {
  const std::string_view name = call.has("input") ? "input" : "self";
  const TensorRef& input = call.tensor(name);
  const double p = call.real("p");
  if (!(p >= 0 && p <= 1)) throw OpError("dropout probability has to be between 0 and 1");
  if (!call.boolean("train") || p == 0 || input->count() == 0) {
    return call.emit_datum({input});
  }
  if (p == 1) return pointwise(call, {name}, []<class N>(const N& x) { return x * N(0); });
  if (form.is_by_feature && input->rank() < 2) {
    throw OpError("Feature dropout requires at least 2 dimensions in the input");
  }
  require_droppable(input->dtype);
  with_real(call.mode(), [&]<class N>() {
    call.emit(toss_out<N>(call, *input, form), input->dtype, dropout_strides(input, form));
  });
}
void random_dropout(Call& call) { drop_out_by(call, {}); }
void random_alpha_dropout(Call& call) { drop_out_by(call, {.is_alpha = true}); }
void random_feature_dropout(Call& call) { drop_out_by(call, {.is_by_feature = true}); }
void random_feature_alpha_dropout(Call& call) {
  drop_out_by(call, {.is_by_feature = true, .is_alpha = true});
}

void emit_mask(Call& call, const Tensor& input, const std::vector<std::int64_t>& kept,
               bool is_known) {
  Array<Whole> mask(input.sizes);
  const bool is_open = !is_known && !call.knows_draws();
  for (std::int64_t i = 0; i < mask.count(); ++i) {
    mask[i] = Whole(kept[static_cast<std::size_t>(i)], is_open);
  }
  // Without elements PyTorch makes it of the input's dtype.
  call.emit(mask, input.count() == 0 ? input.dtype : DType::kBool,
            strides_like(input, spec::MemoryFormat::kPreserve));
}

// The result, and which elements were kept. No value of `train` means training.
void random_native_dropout(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Sizes strides = strides_like(input, spec::MemoryFormat::kPreserve);
  const double p = call.real("p");
  const bool trains = !call.has("train") || call.boolean("train");
  const bool is_known = !trains || p == 0 || p == 1;
  std::vector<std::int64_t> kept(static_cast<std::size_t>(input.count()), trains && p == 1 ? 0 : 1);
  if (input.count() == 0 || !trains) {
    call.emit_datum({copy_of(input, strides)});
    return emit_mask(call, input, kept, is_known);
  }
  if (!(p >= 0 && p <= 1)) throw OpError("bernoulli_ expects p to be in [0, 1]");
  require_droppable(input.dtype);
  if (!is_known) kept = kept_elements(call, input.count(), 1 - p);
  with_real(call.mode(), [&]<class N>() {
    if (is_known) {
      Array<N> out = load<N>(input, input.dtype);
      for (N& x : out.data) x = x * N(p == 1 ? 0.0 : 1.0);
      call.emit(out, input.dtype, strides);
    } else {
      call.emit(drop_out<N>(call, input, kept, 1 - p), input.dtype, strides);
    }
  });
  emit_mask(call, input, kept, is_known);
}

// ---- rrelu ----

// A slope for each element that is not above zero, in training drawn from [lower, upper].
struct Slopes {
  double lower;
  double upper;
  bool are_drawn;
};
Slopes slopes_of(const Call& call) {
  const Slopes slopes = {call.real("lower"), call.real("upper"), call.boolean("training")};
  if (slopes.are_drawn && !(slopes.lower <= slopes.upper)) throw OpError("Expected from <= to");
  return slopes;
}

// A slope as a number that an oracle knows to lie between them.
template <class N>
N slope(const Slopes& slopes, Draws& draws, bool is_known) {
  const double drawn = slopes.lower + draws.uniform() * (slopes.upper - slopes.lower);
  if (is_known) return N(drawn);
  if constexpr (std::is_same_v<N, double>) {
    return drawn;
  } else if constexpr (std::is_same_v<N, Bounded>) {
    const double middle = slopes.lower + (slopes.upper - slopes.lower) / 2;
    const double far = std::max(std::fabs(slopes.lower), std::fabs(slopes.upper));
    const double half = std::max(slopes.upper - middle, middle - slopes.lower);
    return N(middle, detail::rounded_up(half + 4 * far * 0x1p-24), N::Arithmetic::kFloat32);
  } else {
    return left_open(N(drawn));
  }
}

// The result and the slopes, 1 where x passes through.
template <class N>
std::pair<Array<N>, Array<N>> rectify(const Call& call, const Tensor& self, const Slopes& slopes) {
  Draws draws(call);
  const Array<N> x = load<N>(self, self.dtype);
  std::pair<Array<N>, Array<N>> out{Array<N>(x.sizes), Array<N>(x.sizes)};
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const N by = round_edge(slope<N>(slopes, draws, call.knows_draws()), self.dtype);
    const Whole is_below = less(x[i], N(0)) | equal(x[i], N(0));
    out.first[i] = select(is_below, x[i] * by, x[i]);
    out.second[i] = select(is_below, by, N(1.0));
  }
  return out;
}

void check_noise(const Tensor& self, const Tensor& noise, const Slopes& slopes) {
  if (self.sizes != noise.sizes) throw OpError("noise tensor shape must match self tensor shape");
  require_real_dtype(self.dtype, "rrelu_with_noise");
  if (!slopes.are_drawn) return;
  if (self.dtype == DType::kFloat16) throw OpError("rrelu_with_noise is not implemented for Half");
  if (self.dtype != noise.dtype) throw OpError("noise must have the dtype of self");
}

template <class N>
Array<N> leak(const Tensor& self, const Slopes& slopes) {
  const N by = N(round_to_dtype((slopes.lower + slopes.upper) / 2, compute_dtype(self.dtype)));
  Array<N> out = load<N>(self, self.dtype);
  for (N& x : out.data) x = select(less(N(0), x), x, x * by);
  return out;
}

// `noise` takes the slopes; the functional form returns them instead.
void rrelu_with(Call& call, bool is_functional) {
  const Tensor& self = *call.tensor("self");
  const TensorRef& noise = call.tensor("noise");
  const Slopes slopes = slopes_of(call);
  check_noise(self, *noise, slopes);
  const auto format =
      is_functional ? spec::MemoryFormat::kPreserve : spec::MemoryFormat::kContiguous;
  const Sizes strides = strides_like(self, format);
  with_real(call.mode(), [&]<class N>() {
    if (!slopes.are_drawn) {
      call.emit(leak<N>(self, slopes), self.dtype, strides);
      const Sizes kept = strides_like(*noise, spec::MemoryFormat::kPreserve);
      if (is_functional) call.emit_datum({copy_of(*noise, kept)});
      return;
    }
    auto [out, drawn] = rectify<N>(call, self, slopes);
    // PyTorch's CPU kernel writes slopes in the order of memory, whatever noise's strides are.
    const bool is_in_order = is_contiguous(*noise) || call.knows_draws();
    for (N& x : drawn.data) x = is_in_order ? x : left_open(x);
    call.emit(out, self.dtype, strides);
    if (is_functional) {
      call.emit(drawn, noise->dtype, strides_like(*noise, spec::MemoryFormat::kPreserve));
    } else {
      call.write("noise", drawn);
    }
  });
}
void random_rrelu_with_noise(Call& call) { rrelu_with(call, false); }

// The same without noise: whoever calls it does not see the slopes.
void random_rrelu(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Slopes slopes = slopes_of(call);
  if (!(slopes.lower <= slopes.upper)) {
    throw OpError("Lower bound should be less than or equal to the upper bound");
  }
  check_noise(self, self, slopes);
  with_real(call.mode(), [&]<class N>() {
    call.emit(slopes.are_drawn ? rectify<N>(call, self, slopes).first : leak<N>(self, slopes),
              self.dtype);
  });
}
void random_rrelu_functional(Call& call) { rrelu_with(call, true); }

// ---- multinomial ----

void check_weights(const Array<double>& weights, std::int64_t categories) {
  for (std::int64_t row = 0; row < weights.count(); row += categories) {
    double sum = 0;
    for (std::int64_t i = row; i < row + categories; ++i) {
      if (!(weights[i] >= 0) || std::isinf(weights[i])) {
        throw OpError("probability tensor contains either inf, nan or element < 0");
      }
      sum += weights[i];
    }
    if (!(sum > 0)) throw OpError("invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

// Some of the numbers of a row, each with a chance that goes by its weight: those whose exponential
// clocks of such rates ring first.
std::vector<std::int64_t> chosen(const double* weights, std::int64_t categories,
                                 std::int64_t samples, bool replacement, Draws& draws) {
  std::vector<std::int64_t> out;
  std::vector<std::pair<double, std::int64_t>> clocks(static_cast<std::size_t>(categories));
  const auto wind = [&] {
    for (std::int64_t i = 0; i < categories; ++i) {
      const double rings =
          draws.exponential() / weights[i];  // of an open weight it may be no number
      clocks[static_cast<std::size_t>(i)] = {std::isnan(rings) ? HUGE_VAL : rings, i};
    }
  };
  wind();
  if (!replacement) std::ranges::sort(clocks);
  for (std::int64_t n = 0; n < samples; ++n) {
    if (!replacement) {
      out.push_back(clocks[static_cast<std::size_t>(n)].second);
      continue;
    }
    out.push_back(std::ranges::min(clocks).second);
    wind();
  }
  return out;
}

void random_multinomial(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t samples = call.integer("num_samples");
  const bool replacement = call.boolean("replacement");
  if (self.rank() < 1 || self.rank() > 2) throw OpError("prob_dist must be 1 or 2 dim");
  if (samples <= 0) throw OpError("cannot sample n_sample <= 0 samples");
  const std::int64_t categories = self.sizes.back();
  if (!replacement && samples > categories) {
    throw OpError("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  }
  require_real_dtype(self.dtype, "multinomial");
  Sizes sizes = self.sizes;
  sizes.back() = samples;
  const TensorRef made = new_tensor(DType::kInt64, sizes, self.device);
  if (made->count() > 0 && categories == 0) throw OpError("there is nothing to choose from");
  const Array<double> weights = load<double>(self, DType::kFloat64);
  if (is_decided(self)) check_weights(weights, categories);
  Draws draws(call);
  std::vector<std::int64_t> all;
  for (std::int64_t row = 0; row < weights.count(); row += categories) {
    const auto of_row = chosen(weights.data.data() + row, categories, samples, replacement, draws);
    all.insert(all.end(), of_row.begin(), of_row.end());
  }
  const DrawRange range = {0, static_cast<long double>(categories) - 1};
  emit_draws<Whole>(
      call, made, [&](std::int64_t i) { return all[static_cast<std::size_t>(i)]; },
      [&](std::int64_t) { return range; });
}

constexpr std::array kRandomOps = {
    OpBody{"aten._sample_dirichlet", random_sample_dirichlet},
    OpBody{"aten._standard_gamma", random_standard_gamma},
    OpBody{"aten.alpha_dropout", random_alpha_dropout},
    OpBody{"aten.bernoulli", random_bernoulli},
    OpBody{"aten.binomial", random_binomial},
    OpBody{"aten.cauchy", random_cauchy},
    OpBody{"aten.dropout", random_dropout},
    OpBody{"aten.exponential", random_exponential},
    OpBody{"aten.feature_alpha_dropout", random_feature_alpha_dropout},
    OpBody{"aten.feature_dropout", random_feature_dropout},
    OpBody{"aten.geometric", random_geometric},
    OpBody{"aten.log_normal", random_log_normal},
    OpBody{"aten.multinomial", random_multinomial},
    OpBody{"aten.native_dropout", random_native_dropout},
    OpBody{"aten.normal", random_normal},
    OpBody{"aten.normal_functional", random_normal},
    OpBody{"aten.poisson", random_poisson},
    OpBody{"aten.rand", random_rand},
    OpBody{"aten.rand_like", random_rand_like},
    OpBody{"aten.randint", random_randint},
    OpBody{"aten.randint_like", random_randint_like},
    OpBody{"aten.randn", random_randn},
    OpBody{"aten.randn_like", random_randn_like},
    OpBody{"aten.random", random_random},
    OpBody{"aten.randperm", random_randperm},
    OpBody{"aten.rrelu", random_rrelu},
    OpBody{"aten.rrelu_with_noise", random_rrelu_with_noise},
    OpBody{"aten.rrelu_with_noise_functional", random_rrelu_functional},
    OpBody{"aten.uniform", random_uniform},
    OpBody{"rngprims.philox_rand", philox_rand},
};

}  // namespace

std::span<const OpBody> random_ops() { return kRandomOps; }

}  // namespace graphgate::reference
