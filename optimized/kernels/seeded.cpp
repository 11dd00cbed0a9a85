// The formulas and their arithmetic are those that PyTorch's headers state (include/ATen/core/
// DistributionsHelper.h, ATen/native/cpu/DistributionTemplates.h): float32 for uniform numbers of
// float32 and 16 bits and for sixteen normal ones at a time, float64 for all else.
#include "optimized/kernels/seeded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/tile.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/twister.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// Places of a result's elements, and of operands that were stretched to it, in the order of draws.
class SerialWalk {
 public:
  explicit SerialWalk(const Tensor& result) : sizes_(result.sizes.size()) {
    order_.resize(sizes_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
      return result.strides[a] > result.strides[b];
    });
    for (std::size_t d = 0; d < order_.size(); ++d) sizes_[d] = result.sizes[order_[d]];
    count_ = result.count();
  }
  // Calls visit(offsets) with the byte offset of each tensor's element.
  template <std::size_t N, class Visit>
  void each(const std::array<const Tensor*, N>& tensors, Visit visit) const {
    Sizes index(sizes_.size(), 0);
    std::array<std::int64_t, N> offsets{};
    for (std::int64_t i = 0; i < count_; ++i) {
      visit(offsets);
      for (std::size_t d = index.size(); d-- > 0;) {
        const bool wraps = ++index[d] == sizes_[d];
        const std::int64_t steps = wraps ? 1 - sizes_[d] : 1;
        if (wraps) index[d] = 0;
        for (std::size_t t = 0; t < N; ++t) {
          offsets[t] += steps * tensors[t]->strides[order_[d]] * tensors[t]->item_bytes();
        }
        if (!wraps) break;
      }
    }
  }

 private:
  Sizes sizes_;
  std::vector<std::size_t> order_;
  std::int64_t count_ = 0;
};

// A launch that stores next(twister) into each element.
template <class C, class Next>
Launch draw_serially(const Tensor& result, const Tensor& state, Next next) {
  if (result.count() == 0) return {};
  return [result, state, next, walk = SerialWalk(result)] {
    Twister twister(state);
    walk.each<1>({&result}, [&](const auto& at) {
      store_element<C>(result.dtype, next(twister), result.data() + at[0]);
    });
  };
}

// ---- normal numbers ----

// Pairs by Box and Muller, in float64; the second of one is spared for the next element.
class PairedNormals {
 public:
  explicit PairedNormals(Twister& twister)
      : twister_(twister), spare_(twister.spare()), has_spare_(twister.has_spare()) {}

  double next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double angle = 2 * std::numbers::pi * twister_.next_double();
    const double radius = std::sqrt(-2 * log1p(-twister_.next_double()));
    spare_ = radius * sin(angle);
    has_spare_ = true;
    return radius * cos(angle);
  }

 private:
  Twister& twister_;
  double spare_;
  bool has_spare_;
};

template <class C>
C next_uniform(Twister& twister) {
  if constexpr (std::is_same_v<C, float>) {
    return twister.next_float();
  } else {
    return twister.next_double();
  }
}

// Radii are of the first eight uniform numbers, angles of the others.
template <class C>
void draw_sixteen(Twister& twister, C* out) {
  std::array<C, 16> uniform;
  for (C& x : uniform) x = next_uniform<C>(twister);
  for (std::size_t i = 0; i < 8; ++i) {
    const C radius = std::sqrt(C(-2) * log(C(1) - uniform[i]));
    const C angle = C(2) * std::numbers::pi_v<C> * uniform[i + 8];
    out[i] = radius * cos(angle);
    out[i + 8] = radius * sin(angle);
  }
}

// All of a row-major result of sixteen elements or more; where the last sixteen are not full, they
// are drawn once more, behind those of every element (`draws_all`) or of those before.
template <class C>
std::vector<C> vectorized_normals(Twister& twister, std::size_t count, bool draws_all) {
  std::vector<C> out(count);
  std::size_t done = 0;
  for (; done + 16 <= count; done += 16) draw_sixteen<C>(twister, out.data() + done);
  if (done == count) return out;
  for (; draws_all && done < count; ++done) (void)next_uniform<C>(twister);
  draw_sixteen<C>(twister, out.data() + count - 16);
  return out;
}

template <class C>
std::vector<C> standard_normals(Twister& twister, const Tensor& result) {
  const auto count = static_cast<std::size_t>(result.count());
  if (count >= 16 && is_contiguous(result)) {
    return with_real(result.dtype, [&]<class Compute>() {
      const std::vector<Compute> drawn =
          vectorized_normals<Compute>(twister, count, native_dtype<Compute>() == result.dtype);
      return std::vector<C>(drawn.begin(), drawn.end());
    });
  }
  PairedNormals pairs(twister);
  std::vector<C> out(count);
  for (C& x : out) x = static_cast<C>(pairs.next());
  return out;
}

// Numbers multiply and add in the arithmetic of the draws...
template <class C>
Launch normal_by_numbers(const Tensor& result, const Tensor& state, double mean, double deviation) {
  return [result, state, mean = static_cast<C>(mean), deviation = static_cast<C>(deviation),
          walk = SerialWalk(result)] {
    Twister twister(state);
    const std::vector<C> drawn = standard_normals<C>(twister, result);
    auto next = drawn.begin();
    walk.each<1>({&result}, [&](const auto& at) {
      store_element<C>(result.dtype, *next++ * deviation + mean, result.data() + at[0]);
    });
  };
}

// ...and tensors, or a number beside one, behind a rounding to the dtype.
Launch normal_by_tensors(const Tensor& result, const Tensor& state, const Item& mean,
                         const Item& deviation) {
  return with_real(result.dtype, [&]<class C>() -> Launch {
    const Source<C> means(mean, native_dtype<C>());
    const Source<C> spreads(deviation, native_dtype<C>());
    const Tensor& none = result;  // whose offsets nobody reads
    const Tensor mean_at = means.is_number ? none : broadcast_to(means.tensor, result.sizes);
    const Tensor spread_at = spreads.is_number ? none : broadcast_to(spreads.tensor, result.sizes);
    return [result, state, means, spreads, mean_at, spread_at, walk = SerialWalk(result)] {
      Twister twister(state);
      const std::vector<double> drawn = standard_normals<double>(twister, result);
      auto next = drawn.begin();
      walk.each<3>({&result, &mean_at, &spread_at}, [&](const auto& at) {
        std::byte* const out = result.data() + at[0];
        C spread = spreads.number;
        if (!spreads.is_number) {
          spread = load_element<C>(spread_at.dtype, spread_at.data() + at[2]);
          store_element<double>(result.dtype, *next++, out);
        }
        C x = spreads.is_number ? static_cast<C>(*next++) : load_element<C>(result.dtype, out);
        store_element<C>(result.dtype, x * spread, out);
        x = load_element<C>(result.dtype, out);
        const C center =
            means.is_number ? means.number : load_element<C>(mean_at.dtype, mean_at.data() + at[1]);
        store_element<C>(result.dtype, x + center, out);
      });
    };
  });
}

}  // namespace

const Tensor* generator_state(const Binding& call) {
  if (!call.has("generator") || call.result().device.type != "cpu") return nullptr;
  return call.item("generator").as<Tensor>();
}

Launch seeded_uniform(const Tensor& result, const Tensor& state, double from, double to) {
  return with_real(result.dtype, [&]<class C>() {
    const C low = static_cast<C>(from);
    const C width = static_cast<C>(to) - low;
    const C end = Source<C>(Item{to}, result.dtype).number;
    const C start = Source<C>(Item{from}, result.dtype).number;
    return draw_serially<C>(result, state,
                            [low, width, start, end, dtype = result.dtype](Twister& twister) {
                              const C drawn = next_uniform<C>(twister) * width + low;
                              std::array<std::byte, sizeof(C)> stored;
                              store_element<C>(dtype, drawn, stored.data());
                              const C rounded = load_element<C>(dtype, stored.data());
                              return rounded == end ? start : rounded;
                            });
  });
}

Launch seeded_normal(const Tensor& result, const Tensor& state, const Item& mean,
                     const Item& deviation) {
  if (result.count() == 0) return {};
  if (mean.as<Tensor>() || deviation.as<Tensor>()) {
    return normal_by_tensors(result, state, mean, deviation);
  }
  const double center = number_as<double>(mean);
  const double spread = number_as<double>(deviation);
  const bool is_narrow = result.dtype != DType::kFloat64;
  const bool is_vectorized = result.count() >= 16 && is_contiguous(result);
  return is_narrow && is_vectorized ? normal_by_numbers<float>(result, state, center, spread)
                                    : normal_by_numbers<double>(result, state, center, spread);
}

Launch seeded_whole(const Tensor& result, const Tensor& state, std::int64_t low,
                    std::uint64_t count, bool takes_pairs) {
  const auto next = [low = static_cast<std::uint64_t>(low), count, takes_pairs](Twister& twister) {
    const std::uint64_t bits = takes_pairs ? twister.next_pair() : twister.next();
    return static_cast<std::int64_t>(low + (count == 0 ? bits : bits % count));
  };
  return draw_serially<std::int64_t>(result, state, next);
}

Launch seeded_permutation(const Tensor& result, const Tensor& state) {
  if (result.count() == 0) return {};
  return [result, state] {
    Twister twister(state);
    std::vector<std::int64_t> order(static_cast<std::size_t>(result.count()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    // From the front: who stands there changes places with one who stands there or behind.
    for (auto first = order.begin(); order.end() - first > 1; ++first) {
      std::iter_swap(first,
                     first + twister.next() % static_cast<std::uint64_t>(order.end() - first));
    }
    store_tile<std::int64_t>(result.dtype, order.data(), static_cast<int>(order.size()),
                             result.data(), result.strides[0] * result.item_bytes());
  };
}

Launch seeded_coins(const Tensor& result, const Tensor& state, const Item& chance) {
  const auto check = [](double p) {
    if (!(p >= 0 && p <= 1)) throw OpError("bernoulli wants chances in [0, 1]");
  };
  const Tensor* const chances = chance.as<Tensor>();
  if (chances == nullptr) {
    const double p = number_as<double>(chance);
    return draw_serially<std::int64_t>(
        result, state, [p](Twister& twister) { return std::int64_t{twister.next_double() < p}; });
  }
  if (result.count() == 0) return {};
  return [result, state, from = broadcast_to(*chances, result.sizes), check,
          walk = SerialWalk(result)] {
    Twister twister(state);
    const bool is_wide = from.dtype == DType::kFloat64;
    walk.each<2>({&result, &from}, [&](const auto& at) {
      const auto p = load_element<double>(from.dtype, from.data() + at[1]);
      check(p);
      const double drawn = is_wide ? twister.next_double() : double{twister.next_float()};
      store_element<std::int64_t>(result.dtype, std::int64_t{drawn < p}, result.data() + at[0]);
    });
  };
}

Launch seeded_exponential(const Tensor& result, const Tensor& state, double rate) {
  return draw_serially<double>(result, state, [rate](Twister& twister) {
    return -1 / rate * log1p(-twister.next_double());
  });
}
Launch seeded_cauchy(const Tensor& result, const Tensor& state, double median, double sigma) {
  return draw_serially<double>(result, state, [median, sigma](Twister& twister) {
    return median + sigma * tan(std::numbers::pi * (twister.next_double() - 0.5));
  });
}
Launch seeded_log_normal(const Tensor& result, const Tensor& state, double mean, double deviation) {
  if (result.count() == 0) return {};
  return [result, state, mean, deviation, walk = SerialWalk(result)] {
    Twister twister(state);
    PairedNormals pairs(twister);
    walk.each<1>({&result}, [&](const auto& at) {
      store_element<double>(result.dtype, exp(pairs.next() * deviation + mean),
                            result.data() + at[0]);
    });
  };
}
Launch seeded_geometric(const Tensor& result, const Tensor& state, double p) {
  return draw_serially<double>(result, state, [failure = log1p(-p)](Twister& twister) {
    return std::ceil(log(twister.next_double()) / failure);
  });
}

}  // namespace graphgate::optimized
