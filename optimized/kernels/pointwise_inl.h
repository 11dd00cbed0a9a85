// The templates of pointwise.h.
#pragma once

#include <cstring>

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

namespace internal {

// Operands of the innermost loop: elements behind each other, not necessarily aligned, or one
// number for all.
template <class C>
struct Elements {
  const std::byte* first;
  C operator()(std::int64_t i) const {
    C value;
    std::memcpy(&value, first + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    return value;
  }
};
template <class C>
struct Constant {
  C number;
  C operator()(std::int64_t) const { return number; }
};

// Writes n elements of type Stored behind each other. `f` is a copy: so the compiler knows that no
// write alters what it holds, and uses vectors.
template <class Stored, class F, class... Operands>
void map_elements(F f, std::int64_t n, std::byte* first, Operands... operands) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<Stored>(f(operands(i)...));
    std::memcpy(first + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
  }
}

// What a function of `n` operands gives.
template <class C, class F, std::size_t... I>
auto returned(const F& f, std::index_sequence<I...>) -> decltype(f((void(I), C{})...));
template <class C, class F, std::size_t N>
using Returned = decltype(returned<C>(std::declval<const F&>(), std::make_index_sequence<N>()));

// The loops over the elements of one function: all of a launch that its function is compiled into.
template <class C, class F, std::size_t N>
struct FunctionMap {
  F f;

  void operator()(const std::byte* const* in, const C* number, std::int64_t n,
                  std::byte* out) const {
    if constexpr (N == 2) {
      if (number != nullptr) {
        return map_elements<Stored>(f, n, out, Elements<C>{in[0]}, Constant<C>{*number});
      }
    }
    map_all(in, n, out, std::make_index_sequence<N>());
  }

 private:
  using Stored = StoredAs<Returned<C, F, N>>;

  template <std::size_t... I>
  void map_all(const std::byte* const* in, std::int64_t n, std::byte* out,
               std::index_sequence<I...>) const {
    map_elements<Stored>(f, n, out, Elements<C>{in[I]}...);
  }
};

}  // namespace internal

template <class C, std::size_t N, class F>
Launch launch_sources(const DeviceListener* listener, const Tensor& result, spec::DType rounds_to,
                      std::array<Source<C>, N> sources, F f) {
  static_assert(N <= kMostOperands);
  std::string text;
  constexpr bool kReportsFaults = requires { typename F::Unchecked; };
  if (listener != nullptr) {
    if constexpr (kReportsFaults) {
      text = checked_text(callable_text<C>(typename F::Unchecked{}));
    } else {
      text = callable_text<C>(f);
    }
  }
  return launch_mapped<C, internal::Returned<C, F, N>>(result, rounds_to, sources,
                                                       internal::FunctionMap<C, F, N>{std::move(f)},
                                                       std::move(text), kReportsFaults);
}

template <PointwiseSignature kSignature>
void infer_pointwise(Inference& call) {
  const spec::DType common = common_dtype(call, kSignature);
  if (kSignature.is_like_self) return make_like_self(call, common);
  make_pointwise(call, kSignature.gives_bool ? spec::DType::kBool : common, kSignature.operands);
}

namespace internal {

// The dtype that operand k is cast to.
template <class C>
spec::DType operand_dtype(const Item& item, std::size_t k, const PointwiseSignature& signature,
                          spec::DType common) {
  const auto* tensor = item.as<Tensor>();
  const bool is_one = !tensor || tensor->count() == 1;
  const bool is_exact = k == 1 && signature.exact_number && is_one && !std::is_integral_v<C>;
  return is_exact ? native_dtype<C>() : common;
}

template <class C, PointwiseSignature kSignature, std::size_t... I>
std::array<Source<C>, sizeof...(I)> sources_of(const Binding& call, spec::DType common,
                                               std::index_sequence<I...>) {
  return {Source<C>(call.arguments()[I],
                    operand_dtype<C>(call.arguments()[I], I, kSignature, common))...};
}

}  // namespace internal

template <PointwiseSignature kSignature, class Make>
Launch launch_pointwise(const Binding& call, Make&& make) {
  const spec::DType common = common_dtype(call, kSignature);
  const spec::DType rounds_to = kSignature.gives_bool ? spec::DType::kBool : common;
  return with_common<kSignature>(common, [&]<class C>() {
    constexpr auto kOperands = static_cast<std::size_t>(kSignature.operands);
    return launch_sources<C>(
        call.listener(), call.result(), rounds_to,
        internal::sources_of<C, kSignature>(call, common, std::make_index_sequence<kOperands>()),
        make.template operator()<C>());
  });
}

template <PointwiseSignature kSignature, class F>
constexpr Kernel pointwise_kernel(std::string_view name, F) {
  return {name, infer_pointwise<kSignature>,
          [](const Binding& call) {
            return launch_pointwise<kSignature>(call, []<class C>() { return F{}; });
          },
          Overlap::kSameGeometry};
}

}  // namespace graphgate::optimized
