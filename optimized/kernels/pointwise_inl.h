// The templates of pointwise.h.
#pragma once

namespace graphgate::optimized {

template <class C>
C checked_number(const Item& item, spec::DType dtype) {
  check_number(item, dtype);
  return Source<C>(item, dtype).number;
}

template <class C>
Source<C>::Source(const Tensor& from, spec::DType as_dtype) : tensor(from), as(as_dtype) {}

template <class C>
Source<C>::Source(const Item& item, spec::DType as_dtype) : as(as_dtype) {
  if (const auto* from = item.as<Tensor>()) {
    tensor = *from;
    return;
  }
  is_number = true;
  std::array<std::byte, 8> rounded;
  store_number(item, as, rounded.data());
  number = load_element<C>(as, rounded.data());
}

template <class C, class F, std::size_t N>
class PointwiseLaunch {
 public:
  PointwiseLaunch(const Tensor& result, spec::DType rounds_to, std::array<Source<C>, N> sources,
                  F f)
      : sources_(std::move(sources)),
        result_(result),
        rounds_to_(rounds_to),
        f_(std::move(f)),
        loop_(walked(result_, sources_)) {}

  void operator()() const {
    std::array<std::array<C, kTile>, N> in;
    for (std::size_t k = 0; k < N; ++k) {
      if (sources_[k].is_number) in[k].fill(sources_[k].number);
    }
    loop_.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
      for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
        for (std::size_t k = 0; k < N; ++k) {
          const Source<C>& source = sources_[k];
          if (source.is_number) continue;
          load_tile_as<C>(source.as, source.tensor.dtype, firsts[k + 1] + begin * strides[k + 1],
                          strides[k + 1], length, in[k].data());
        }
        apply(in, length, firsts[0] + begin * strides[0], strides[0],
              std::make_index_sequence<N>());
      }
    });
  }

 private:
  // Numbers take no part in the walk: the result stands in for them.
  static Loop walked(const Tensor& result, const std::array<Source<C>, N>& sources) {
    std::array<const Tensor*, N + 1> tensors = {&result};
    for (std::size_t k = 0; k < N; ++k) {
      tensors[k + 1] = sources[k].is_number ? &result : &sources[k].tensor;
    }
    return Loop(tensors);
  }

  template <std::size_t... I>
  void apply(const std::array<std::array<C, kTile>, N>& in, int n, std::byte* first,
             std::int64_t stride_bytes, std::index_sequence<I...>) const {
    using Returned = decltype(f_(in[I][0]...));
    using R = std::conditional_t<std::is_same_v<Returned, bool>, std::int64_t, Returned>;
    std::array<R, kTile> out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      out[i] = static_cast<R>(f_(in[I][i]...));
    }
    store_rounded<R>(rounds_to_, out.data(), n, result_, first, stride_bytes);
  }

  std::array<Source<C>, N> sources_;
  Tensor result_;
  spec::DType rounds_to_;
  F f_;
  Loop loop_;
};

template <Signature kSignature>
void infer_pointwise(Inference& call) {
  const spec::DType common = common_dtype(call, kSignature);
  make_pointwise(call, kSignature.gives_bool ? spec::DType::kBool : common, kSignature.operands);
}

namespace internal {

// The dtype that operand k is cast to.
template <class C>
spec::DType operand_dtype(const Item& item, std::size_t k, const Signature& signature,
                          spec::DType common) {
  const auto* tensor = item.as<Tensor>();
  const bool is_one = !tensor || tensor->count() == 1;
  return k == 1 && signature.exact_number && is_one ? native_dtype<C>() : common;
}

template <class C, Signature kSignature, std::size_t... I>
std::array<Source<C>, sizeof...(I)> sources_of(const Binding& call, spec::DType common,
                                               std::index_sequence<I...>) {
  return {Source<C>(call.arguments()[I],
                    operand_dtype<C>(call.arguments()[I], I, kSignature, common))...};
}

}  // namespace internal

template <Signature kSignature, class Make>
Launch launch_pointwise(const Binding& call, Make&& make) {
  const spec::DType common = common_dtype(call, kSignature);
  const spec::DType rounds_to = kSignature.gives_bool ? spec::DType::kBool : common;
  return with_common<kSignature>(common, [&]<class C>() {
    constexpr auto kOperands = static_cast<std::size_t>(kSignature.operands);
    return launch_sources<C>(
        call.result(), rounds_to,
        internal::sources_of<C, kSignature>(call, common, std::make_index_sequence<kOperands>()),
        make.template operator()<C>());
  });
}

template <Signature kSignature, class F>
constexpr Kernel pointwise_kernel(std::string_view name, F) {
  return {name, infer_pointwise<kSignature>,
          [](const Binding& call) {
            return launch_pointwise<kSignature>(call, []<class C>() { return F{}; });
          },
          Overlap::kSameGeometry};
}

}  // namespace graphgate::optimized
