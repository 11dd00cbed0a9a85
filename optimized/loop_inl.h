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

}  // namespace graphgate::optimized
