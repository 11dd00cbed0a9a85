// Source of every formula and of who draws in which arithmetic: include/ATen/core/
// DistributionsHelper.h, TransformationHelper.h and ATen/native/cpu/DistributionTemplates.h of
// PyTorch 2.15, and what its generator was asked for.
#include "reference/ops/known_draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "reference/movement.h"
#include "reference/number/functions.h"
#include "reference/number/left_open.h"
#include "reference/ops/cpu_generator.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The state, where one is given and the draws are the CPU's.
std::optional<CpuGenerator> generator_of(const Call& call, const Tensor& made) {
  if (!call.has("generator") || made.device.type != "cpu") return std::nullopt;
  const auto* state = call.datum("generator").as<TensorRef>();
  return state ? std::optional(CpuGenerator(**state)) : std::nullopt;
}

// Calls visit(i) for each element, by its row-major number, in the order of PyTorch's serial loop:
// dimensions with smaller strides run faster.
template <class Visit>
void in_serial_order(const Call& call, const Tensor& made, Visit visit) {
  const TensorRef target = call.next_target();
  const Sizes& strides = target && target->sizes == made.sizes ? target->strides : made.strides;
  std::vector<std::size_t> order(made.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  const Sizes places = spec::contiguous_strides(made.sizes);
  Sizes sizes;
  Sizes steps;
  for (const std::size_t d : order) {
    if (made.sizes[d] == 1) continue;
    sizes.push_back(made.sizes[d]);
    steps.push_back(places[d]);
  }
  for_each_index(sizes, [&](const Sizes& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * steps[d];
    visit(at);
  });
}

template <class N>
void emit_numbers(Call& call, const TensorRef& made, const Array<N>& numbers) {
  store(*made, numbers);
  emit_made(call, made);
}

// Numbers that are known to the last bit.
template <class Next>
void emit_exact(Call& call, const TensorRef& made, Next next) {
  if (!spec::is_floating_point(made->dtype)) {
    Array<Whole> numbers(made->sizes);
    in_serial_order(call, *made, [&](std::int64_t i) {
      numbers[i] = Whole(static_cast<std::int64_t>(next(i)));
    });
    return emit_numbers(call, made, numbers);
  }
  with_real(call.mode(), [&]<class N>() {
    Array<N> numbers(made->sizes);
    in_serial_order(call, *made,
                    [&](std::int64_t i) { numbers[i] = N(static_cast<double>(next(i))); });
    emit_numbers(call, made, numbers);
  });
}

// An exact number whose operations round to an arithmetic.
template <class N>
N exact_in(double x, DType arithmetic) {
  if constexpr (std::is_same_v<N, double>) {
    return x;
  } else {
    const bool is_wide = arithmetic == DType::kFloat64;
    return N(x, 0, is_wide ? N::Arithmetic::kFloat64 : N::Arithmetic::kFloat32);
  }
}

double uniform_in(CpuGenerator& generator, DType arithmetic) {
  return arithmetic == DType::kFloat64 ? generator.uniform_double() : generator.uniform_float();
}

template <class N>
N round_up_reached(const N& x, double to, DType dtype) {
  if constexpr (std::is_same_v<N, double>) {
    return x;
  } else {
    // PyTorch puts `from` where rounding reaches `to`.
    const double reach = static_cast<double>(x.value) + x.radius;
    return round_to_dtype(reach, dtype) >= to ? left_open(x) : x;
  }
}

// ---- normal numbers ----

// Eight pairs, of 16 uniform numbers: Box and Muller, 1958.
template <class N>
void fill_sixteen(CpuGenerator& generator, DType arithmetic, N* out) {
  std::array<double, 16> uniform;
  for (double& x : uniform) x = uniform_in(generator, arithmetic);
  const double turn = arithmetic == DType::kFloat64
                          ? 2 * std::numbers::pi
                          : static_cast<double>(2 * std::numbers::pi_v<float>);
  for (std::size_t i = 0; i < 8; ++i) {
    const N size = sqrt(N(-2.0) * log(exact_in<N>(1 - uniform[i], arithmetic)));
    const N angle = exact_in<N>(uniform[i + 8], arithmetic) * N(turn);
    out[i] = size * cos(angle);
    out[i + 8] = size * sin(angle);
  }
}

// Sixteen at a time; those of a last group that is not full are drawn again with others before it.
template <class N>
Array<N> normal_by_sixteen(CpuGenerator& generator, const Sizes& sizes, DType dtype) {
  const DType arithmetic = compute_dtype(dtype);
  Array<N> out(sizes);
  std::int64_t i = 0;
  for (; i + 16 <= out.count(); i += 16) fill_sixteen(generator, arithmetic, &out[i]);
  if (i == out.count()) return out;
  // Where the dtype is that of the arithmetic, a number was drawn for each element before.
  for (; dtype == arithmetic && i < out.count(); ++i) (void)uniform_in(generator, arithmetic);
  fill_sixteen(generator, arithmetic, &out[out.count() - 16]);
  return out;
}

// One after the other, in float64: the second of a pair is kept for the next.
template <class N>
class NormalPairs {
 public:
  explicit NormalPairs(CpuGenerator& generator) : generator_(generator) {
    if (const auto kept = generator.take_normal()) kept_ = exact_in<N>(*kept, DType::kFloat64);
  }
  N next() {
    if (kept_) return *std::exchange(kept_, std::nullopt);
    const double first = generator_.uniform_double();
    const N second = exact_in<N>(generator_.uniform_double(), DType::kFloat64);
    const N size = sqrt(N(-2.0) * log1p(-second));
    const N angle = exact_in<N>(2 * std::numbers::pi, DType::kFloat64) * N(first);
    kept_ = size * sin(angle);
    return size * cos(angle);
  }

 private:
  CpuGenerator& generator_;
  std::optional<N> kept_;
};

bool goes_by_sixteen(const Call& call, const Tensor& made) {
  const TensorRef target = call.next_target();
  return made.count() >= 16 && is_contiguous(target ? *target : made);
}
template <class N>
Array<N> standard_normals(const Call& call, CpuGenerator& generator, const Tensor& made) {
  if (goes_by_sixteen(call, made)) {
    return normal_by_sixteen<N>(generator, made.sizes, made.dtype);
  }
  NormalPairs<N> pairs(generator);
  Array<N> out(made.sizes);
  in_serial_order(call, made, [&](std::int64_t i) { out[i] = pairs.next(); });
  return out;
}

// A number, rounded to an arithmetic, or the elements of a tensor.
template <class N>
Array<N> parameter(const Datum& datum, const Sizes& sizes, DType arithmetic) {
  const auto* tensor = datum.as<TensorRef>();
  if (tensor) return broadcast_to(load<N>(**tensor, (*tensor)->dtype), sizes);
  return Array<N>(sizes, N(round_to_dtype(number<double>(datum, DType::kFloat64), arithmetic)));
}

// Numbers for mean and std go into the draw; tensors multiply and add to what was drawn and
// rounded.
template <class N>
Array<N> normals(const Call& call, CpuGenerator& generator, const Tensor& made, const Datum& mean,
                 const Datum& deviation) {
  Array<N> out = standard_normals<N>(call, generator, made);
  const bool by_steps = mean.as<TensorRef>() || deviation.as<TensorRef>();
  const bool scales_late = deviation.as<TensorRef>() != nullptr;
  const DType arithmetic =
      by_steps || goes_by_sixteen(call, made) ? compute_dtype(made.dtype) : DType::kFloat64;
  const Array<N> means = parameter<N>(mean, made.sizes, arithmetic);
  const Array<N> deviations = parameter<N>(deviation, made.sizes, arithmetic);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    if (scales_late) out[i] = round_edge(out[i], made.dtype);
    out[i] = out[i] * deviations[i];
    if (by_steps) out[i] = round_edge(out[i], made.dtype);
    out[i] = out[i] + means[i];
  }
  return out;
}

// ---- other distributions, in float64 ----

// Whole trials: where rounding may go over an edge nobody says.
double ceiling(double x) { return std::ceil(x); }
template <class P>
Tracked<P> ceiling(const Tracked<P>& x) {
  const long double above = std::ceil(x.value);
  const long double reach = static_cast<long double>(x.radius) * P::kAllowedRadii;
  const Tracked<P> out(above, 0, x.arithmetic);
  const bool is_sure = std::ceil(x.value - reach) == above && std::ceil(x.value + reach) == above;
  return is_sure ? out : left_open(out);
}

template <class N>
N shaped(Continuous kind, double uniform, double first, double second) {
  const N u = exact_in<N>(uniform, DType::kFloat64);
  switch (kind) {
    case Continuous::kExponential:
      return N(-1.0) / exact_in<N>(first, DType::kFloat64) * log1p(-u);
    case Continuous::kCauchy:
      return N(first) +
             N(second) * tan(exact_in<N>(std::numbers::pi, DType::kFloat64) * (u - N(0.5)));
    default:
      return ceiling(log(u) / log1p(-exact_in<N>(first, DType::kFloat64)));
  }
}

}  // namespace

bool emit_known_uniform(Call& call, const TensorRef& made, double from, double to) {
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  const DType dtype = made->dtype;
  const DType arithmetic = compute_dtype(dtype);
  if (from == 0 && to == 1) {
    emit_exact(call, made, [&](std::int64_t) {
      const double drawn = round_to_dtype(uniform_in(*generator, arithmetic), dtype);
      return drawn == 1 ? 0.0 : drawn;
    });
    return true;
  }
  with_real(call.mode(), [&]<class N>() {
    const N low(round_to_dtype(from, arithmetic));
    const N width = exact_in<N>(round_to_dtype(to, arithmetic), arithmetic) - low;
    Array<N> out(made->sizes);
    in_serial_order(call, *made, [&](std::int64_t i) {
      const N drawn = exact_in<N>(uniform_in(*generator, arithmetic), arithmetic) * width + low;
      out[i] = round_up_reached(drawn, to, dtype);
    });
    emit_numbers(call, made, out);
  });
  return true;
}

bool emit_known_normal(Call& call, const TensorRef& made, const Datum& mean,
                       const Datum& deviation) {
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  with_real(call.mode(), [&]<class N>() {
    emit_numbers(call, made, normals<N>(call, *generator, *made, mean, deviation));
  });
  return true;
}

bool emit_known_whole(Call& call, const TensorRef& made, std::int64_t low, std::uint64_t count,
                      bool takes_two_words) {
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  emit_exact(call, made, [&](std::int64_t) {
    const std::uint64_t bits = takes_two_words ? generator->two_words() : generator->word();
    const std::uint64_t below = count == 0 ? bits : bits % count;
    return static_cast<std::int64_t>(below + static_cast<std::uint64_t>(low));
  });
  return true;
}

// Each place, from the first on, takes one of those that are left.
bool emit_known_order(Call& call, const TensorRef& made) {
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  std::vector<std::int64_t> order(static_cast<std::size_t>(made->count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + generator->word() % (order.size() - i)]);
  }
  emit_exact(call, made, [&](std::int64_t i) { return order[static_cast<std::size_t>(i)]; });
  return true;
}

// Chances in a tensor that is not float64 meet a uniform float32, all others a float64.
bool emit_known_coins(Call& call, const TensorRef& made, const Datum& chance) {
  const auto* tensor = chance.as<TensorRef>();
  if (tensor && !is_decided(**tensor)) return false;
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  const bool is_narrow = tensor && (*tensor)->dtype != DType::kFloat64;
  const Array<double> chances = parameter<double>(chance, made->sizes, DType::kFloat64);
  emit_exact(call, made, [&](std::int64_t i) {
    const double drawn = is_narrow ? generator->uniform_float() : generator->uniform_double();
    return drawn < chances[i] ? std::int64_t{1} : std::int64_t{0};
  });
  return true;
}

bool emit_known_continuous(Call& call, const TensorRef& made, Continuous kind, double first,
                           double second) {
  if (!spec::is_floating_point(made->dtype)) return false;
  auto generator = generator_of(call, *made);
  if (!generator) return false;
  with_real(call.mode(), [&]<class N>() {
    NormalPairs<N> pairs(*generator);
    Array<N> out(made->sizes);
    in_serial_order(call, *made, [&](std::int64_t i) {
      out[i] = kind == Continuous::kLogNormal
                   ? exp(pairs.next() * N(second) + N(first))
                   : shaped<N>(kind, generator->uniform_double(), first, second);
    });
    emit_numbers(call, made, out);
  });
  return true;
}

}  // namespace graphgate::reference
