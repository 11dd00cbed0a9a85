// The templates of pointwise.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>

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

}  // namespace internal

// Operands that hold C are read where they are. Where the result holds what f gives, and shares no
// byte with them, it is written where it is, a whole run at a time; else tile by tile, so that all
// of a tile is read before any of it is written.
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
    std::array<std::array<C, kTile>, N> converted;
    std::array<Stored, kTile> out;
    for (std::size_t k = 0; k < N; ++k) {
      if (sources_[k].is_number && k != kHoisted) converted[k].fill(sources_[k].number);
    }
    loop_.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
      if (goes_in_place(firsts, strides, n)) return map_run(firsts, n);
      for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
        std::array<const std::byte*, N> in;
        for (std::size_t k = 0; k < N; ++k) {
          const std::byte* first = firsts[k + 1] + begin * strides[k + 1];
          in[k] = load(k, first, strides[k + 1], length, converted[k].data());
        }
        map(in, length, reinterpret_cast<std::byte*>(out.data()));
        store(out, length, firsts[0] + begin * strides[0], strides[0]);
      }
    });
  }

 private:
  template <std::size_t... I>
  static auto call(const F& f, std::index_sequence<I...>) -> decltype(f((void(I), C{})...));
  using Returned = decltype(call(std::declval<const F&>(), std::make_index_sequence<N>()));
  static constexpr bool kGivesBool = std::is_same_v<Returned, bool>;
  using Stored = std::conditional_t<kGivesBool, std::uint8_t, Returned>;

  // Numbers take no part in the walk: the result stands in for them.
  static Loop walked(const Tensor& result, const std::array<Source<C>, N>& sources) {
    std::array<const Tensor*, N + 1> tensors = {&result};
    for (std::size_t k = 0; k < N; ++k) {
      tensors[k + 1] = sources[k].is_number ? &result : &sources[k].tensor;
    }
    return Loop(tensors);
  }

  [[nodiscard]] bool is_read_in_place(std::size_t k, std::int64_t stride_bytes) const {
    return sources_[k].tensor.dtype == native_dtype<C>() && sources_[k].as == native_dtype<C>() &&
           stride_bytes == sizeof(C);
  }

  [[nodiscard]] bool goes_in_place(std::byte* const* firsts, const std::int64_t* strides,
                                   std::int64_t n) const {
    constexpr spec::DType kStored = kGivesBool ? spec::DType::kBool : native_dtype<Stored>();
    if (result_.dtype != kStored || rounds_to_ != kStored || strides[0] != sizeof(Stored)) {
      return false;
    }
    const std::byte* end = firsts[0] + n * strides[0];
    for (std::size_t k = 0; k < N; ++k) {
      if (sources_[k].is_number) {
        if (k != kHoisted) return false;
        continue;
      }
      if (!is_read_in_place(k, strides[k + 1])) return false;
      const std::byte* first = firsts[k + 1];
      if (std::less<>()(first, end) && std::less<>()(firsts[0], first + n * strides[k + 1])) {
        return false;
      }
    }
    return true;
  }

  void map_run(std::byte* const* firsts, std::int64_t n) const {
    std::array<const std::byte*, N> in;
    std::copy_n(firsts + 1, N, in.begin());
    map(in, n, firsts[0]);
  }

  // Where the operand's elements are behind each other as C; `converted` for those that are not.
  const std::byte* load(std::size_t k, const std::byte* first, std::int64_t stride_bytes, int n,
                        C* converted) const {
    const Source<C>& source = sources_[k];
    if (!source.is_number && is_read_in_place(k, stride_bytes)) return first;
    if (!source.is_number) {
      load_tile_as<C>(source.as, source.tensor.dtype, first, stride_bytes, n, converted);
    }
    return reinterpret_cast<const std::byte*>(converted);
  }

  // What is left over of n by kBlock goes through the same blocks as the rest, filled up with its
  // last element. For compilers may swap the operands of a sum or product, differently in the
  // vector loop and in the loop behind it, and of two NaNs the first one wins.
  void map(const std::array<const std::byte*, N>& in, std::int64_t n, std::byte* out) const {
    if constexpr (N == 1 || !std::is_floating_point_v<Stored>) return map_blocks(in, n, out);
    const std::int64_t whole = n / kBlock * kBlock;
    if (whole != 0) map_blocks(in, whole, out);
    if (whole == n) return;
    std::array<std::array<C, kBlock>, N> rest;
    std::array<const std::byte*, N> rest_in{};
    for (std::size_t k = 0; k < N; ++k) {
      if (k == kHoisted && sources_[k].is_number) continue;
      const internal::Elements<C> elements{in[k]};
      for (std::int64_t i = 0; i < kBlock; ++i) {
        rest[k][static_cast<std::size_t>(i)] = elements(std::min(whole + i, n - 1));
      }
      rest_in[k] = reinterpret_cast<const std::byte*>(rest[k].data());
    }
    std::array<Stored, kBlock> rest_out;
    map_blocks(rest_in, kBlock, reinterpret_cast<std::byte*>(rest_out.data()));
    constexpr auto kStoredBytes = static_cast<std::int64_t>(sizeof(Stored));
    std::memcpy(out + whole * kStoredBytes, rest_out.data(),
                static_cast<std::size_t>((n - whole) * kStoredBytes));
  }

  // Never inlined: one body for all callers.
  [[gnu::noinline]] void map_blocks(const std::array<const std::byte*, N>& in, std::int64_t n,
                                    std::byte* out) const {
    if constexpr (N == 2) {
      if (sources_[kHoisted].is_number) {
        const internal::Constant<C> number{sources_[kHoisted].number};
        return internal::map_elements<Stored>(f_, n, out, internal::Elements<C>{in[0]}, number);
      }
    }
    map_all(in, n, out, std::make_index_sequence<N>());
  }

  template <std::size_t... I>
  void map_all(const std::array<const std::byte*, N>& in, std::int64_t n, std::byte* out,
               std::index_sequence<I...>) const {
    internal::map_elements<Stored>(f_, n, out, internal::Elements<C>{in[I]}...);
  }

  void store(const std::array<Stored, kTile>& out, int n, std::byte* first,
             std::int64_t stride_bytes) const {
    if constexpr (kGivesBool) {
      std::array<std::int64_t, kTile> wide;
      std::copy_n(out.begin(), n, wide.begin());
      store_rounded<std::int64_t>(rounds_to_, wide.data(), n, result_, first, stride_bytes);
    } else {
      store_rounded<Stored>(rounds_to_, out.data(), n, result_, first, stride_bytes);
    }
  }

  // The operand whose number is not repeated element by element, in ops of two.
  static constexpr std::size_t kHoisted = N == 2 ? 1 : N;
  static constexpr std::int64_t kBlock = 16;  // at least a vector

  std::array<Source<C>, N> sources_;
  Tensor result_;
  spec::DType rounds_to_;
  F f_;
  Loop loop_;
};

template <class C, std::size_t N, class F>
Launch launch_sources(const DeviceListener* listener, const Tensor& result, spec::DType rounds_to,
                      std::array<Source<C>, N> sources, F f) {
  PointwiseWork work{result, rounds_to, native_dtype<C>(), "", {}};
  if (listener != nullptr) {
    if constexpr (requires { typename F::Unchecked; }) {
      work.function = checked_text(callable_text<C>(typename F::Unchecked{}));
      work.reports_faults = true;
    } else {
      work.function = callable_text<C>(f);
    }
    for (const Source<C>& source : sources) {
      DeviceOperand operand{source.tensor, source.as, source.is_number, 0};
      std::memcpy(&operand.number, &source.number, sizeof(C));
      work.operands.push_back(std::move(operand));
    }
  }
  Launch launch = PointwiseLaunch<C, F, N>(result, rounds_to, std::move(sources), std::move(f));
  if (work.function.empty()) return launch;
  return described(std::move(launch), {std::move(work)});
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
  const bool is_exact = k == 1 && signature.exact_number && is_one && !kIsInteger<C>;
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
