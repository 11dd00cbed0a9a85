// The templates of loop.h.
#pragma once

namespace graphgate::optimized {

template <class Visit>
void Loop::for_each_run(Visit&& visit) const {
  if (count_ == 0) return;
  const std::size_t tensors = bases_.size();
  const std::size_t inner = sizes_.size() - 1;
  std::vector<std::byte*> at = bases_;
  Sizes index(sizes_.size(), 0);
  while (true) {
    visit(at.data(), strides_[inner].data(), sizes_[inner]);
    std::size_t d = inner;
    while (d-- > 0) {
      for (std::size_t t = 0; t < tensors; ++t) at[t] += strides_[d][t];
      if (++index[d] < sizes_[d]) break;
      for (std::size_t t = 0; t < tensors; ++t) at[t] -= strides_[d][t] * sizes_[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

template <class C>
C number_as(const Item& item) {
  if (const auto* i = item.as<std::int64_t>()) return static_cast<C>(*i);
  if (const auto* b = item.as<bool>()) return static_cast<C>(*b);
  const auto* x = item.as<double>();
  if (!x) throw OpError("expected a number");
  if constexpr (std::is_same_v<C, std::int64_t>) {
    return truncate_to<std::int64_t>(*x);
  } else {
    return static_cast<C>(*x);
  }
}

template <class R>
void store_rounded(spec::DType rounds_to, const R* values, int n, const Tensor& result,
                   std::byte* first, std::int64_t stride_bytes) {
  if (result.dtype == rounds_to) return store_tile<R>(rounds_to, values, n, first, stride_bytes);
  std::array<std::byte, kTile * 8> rounded;
  const std::int64_t item = spec::item_size_bytes(rounds_to);
  store_tile<R>(rounds_to, values, n, rounded.data(), item);
  with_compute(rounds_to, [&]<class C>() {
    std::array<C, kTile> wide;
    load_tile<C>(rounds_to, rounded.data(), item, n, wide.data());
    store_tile<C>(result.dtype, wide.data(), n, first, stride_bytes);
  });
}

namespace internal {

// Loads one tile of every input, applies f element by element, stores.
template <class C, class F, std::size_t... I>
void apply_tile(const F& f, std::span<const spec::DType> dtypes, std::byte* const* firsts,
                const std::int64_t* strides_bytes, std::int64_t begin, int n, spec::DType rounds_to,
                const Tensor& result, std::index_sequence<I...>) {
  std::array<std::array<C, kTile>, sizeof...(I)> in;
  (load_tile<C>(dtypes[I], firsts[I + 1] + begin * strides_bytes[I + 1], strides_bytes[I + 1], n,
                in[I].data()),
   ...);
  using Returned = decltype(f(in[I][0]...));
  using R = std::conditional_t<std::is_same_v<Returned, bool>, std::int64_t, Returned>;
  std::array<R, kTile> out;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out[at] = static_cast<R>(f(in[I][at]...));
  }
  store_rounded<R>(rounds_to, out.data(), n, result, firsts[0] + begin * strides_bytes[0],
                   strides_bytes[0]);
}

}  // namespace internal

template <class C, class F, class... Inputs>
Launch pointwise(const Tensor& result, spec::DType rounds_to, F f, const Inputs&... inputs) {
  const std::array<const Tensor*, sizeof...(Inputs) + 1> tensors = {&result, &inputs...};
  const std::array<spec::DType, sizeof...(Inputs)> dtypes = {inputs.dtype...};
  return [loop = Loop(tensors), dtypes, result, rounds_to, f = std::move(f)] {
    loop.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
      for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
        internal::apply_tile<C>(f, dtypes, firsts, strides, begin, length, rounds_to, result,
                                std::index_sequence_for<Inputs...>());
      }
    });
  };
}

}  // namespace graphgate::optimized
