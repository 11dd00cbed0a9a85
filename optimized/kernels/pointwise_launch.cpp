// The loop around the functions of pointwise kernels.
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

// Operands that hold C are read where they are. Where the result holds what the function gives, and
// shares no byte with them, it is written where it is, a whole run at a time; else tile by tile, so
// that all of a tile is read before any of it is written.
template <class C, class R>
class PointwiseLaunch {
 public:
  PointwiseLaunch(const Tensor& result, spec::DType rounds_to, std::vector<Source<C>> sources,
                  ElementMap<C> map)
      : sources_(std::move(sources)),
        result_(result),
        rounds_to_(rounds_to),
        map_(std::move(map)),
        loop_(walked(result_, sources_)) {
    if (sources_.size() == 2 && sources_[kHoisted].is_number) number_ = sources_[kHoisted].number;
  }

  void operator()() const {
    const std::size_t count = sources_.size();
    std::array<std::array<C, kTile>, kMostOperands> converted;
    std::array<Stored, kTile> out;
    for (std::size_t k = 0; k < count; ++k) {
      if (sources_[k].is_number && !is_hoisted(k)) converted[k].fill(sources_[k].number);
    }
    loop_.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
      Pointers in{};
      if (goes_in_place(firsts, strides, n)) {
        std::copy_n(firsts + 1, count, in.begin());
        return map(in, n, firsts[0]);
      }
      for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
        for (std::size_t k = 0; k < count; ++k) {
          const std::byte* first = firsts[k + 1] + begin * strides[k + 1];
          in[k] = load(k, first, strides[k + 1], length, converted[k].data());
        }
        map(in, length, reinterpret_cast<std::byte*>(out.data()));
        store(out, length, firsts[0] + begin * strides[0], strides[0]);
      }
    });
  }

 private:
  static constexpr bool kGivesBool = std::is_same_v<R, bool>;
  using Stored = StoredAs<R>;
  using Pointers = std::array<const std::byte*, kMostOperands>;

  // Numbers take no part in the walk: the result stands in for them.
  static Loop walked(const Tensor& result, const std::vector<Source<C>>& sources) {
    std::array<const Tensor*, kMostOperands + 1> tensors = {&result};
    for (std::size_t k = 0; k < sources.size(); ++k) {
      tensors[k + 1] = sources[k].is_number ? &result : &sources[k].tensor;
    }
    return Loop(std::span(tensors).first(sources.size() + 1));
  }

  // Whether the operand is a number that is not repeated element by element, as in ops of two.
  [[nodiscard]] bool is_hoisted(std::size_t k) const {
    return k == kHoisted && number_.has_value();
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
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (sources_[k].is_number) {
        if (!is_hoisted(k)) return false;
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
  void map(const Pointers& in, std::int64_t n, std::byte* out) const {
    const C* number = number_ ? &*number_ : nullptr;
    if (sources_.size() == 1 || !std::is_floating_point_v<Stored>) {
      return map_(in.data(), number, n, out);
    }
    const std::int64_t whole = n / kBlock * kBlock;
    if (whole != 0) map_(in.data(), number, whole, out);
    if (whole == n) return;
    std::array<std::array<C, kBlock>, kMostOperands> rest;
    Pointers rest_in{};
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (is_hoisted(k)) continue;
      for (std::int64_t i = 0; i < kBlock; ++i) {
        std::memcpy(&rest[k][static_cast<std::size_t>(i)],
                    in[k] + std::min(whole + i, n - 1) * static_cast<std::int64_t>(sizeof(C)),
                    sizeof(C));
      }
      rest_in[k] = reinterpret_cast<const std::byte*>(rest[k].data());
    }
    std::array<Stored, kBlock> rest_out;
    map_(rest_in.data(), number, kBlock, reinterpret_cast<std::byte*>(rest_out.data()));
    constexpr auto kStoredBytes = static_cast<std::int64_t>(sizeof(Stored));
    std::memcpy(out + whole * kStoredBytes, rest_out.data(),
                static_cast<std::size_t>((n - whole) * kStoredBytes));
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

  static constexpr std::size_t kHoisted = 1;
  static constexpr std::int64_t kBlock = 16;  // at least a vector

  std::vector<Source<C>> sources_;
  Tensor result_;
  spec::DType rounds_to_;
  ElementMap<C> map_;
  Loop loop_;
  std::optional<C> number_;
};

}  // namespace

template <class C, class R>
Launch launch_mapped(const Tensor& result, spec::DType rounds_to, std::span<Source<C>> sources,
                     ElementMap<C> map, std::string text, bool reports_faults) {
  GRAPHGATE_CHECK(sources.size() <= kMostOperands);
  std::vector<DeviceOperand> operands;
  for (const Source<C>& source : text.empty() ? std::span<Source<C>>() : sources) {
    DeviceOperand operand{source.tensor, source.as, source.is_number, 0};
    std::memcpy(&operand.number, &source.number, sizeof(C));
    operands.push_back(std::move(operand));
  }
  Launch launch = PointwiseLaunch<C, R>(
      result, rounds_to,
      {std::make_move_iterator(sources.begin()), std::make_move_iterator(sources.end())},
      std::move(map));
  if (text.empty()) return launch;
  return described(std::move(launch),
                   {PointwiseWork{result, rounds_to, native_dtype<C>(), std::move(text),
                                  std::move(operands), false, reports_faults}});
}

#define GRAPHGATE_LAUNCH_MAPPED(C, R)                                                   \
  template Launch launch_mapped<C, R>(const Tensor&, spec::DType, std::span<Source<C>>, \
                                      ElementMap<C>, std::string, bool);
GRAPHGATE_LAUNCH_MAPPED(float, float)
GRAPHGATE_LAUNCH_MAPPED(float, bool)
GRAPHGATE_LAUNCH_MAPPED(float, std::int64_t)
GRAPHGATE_LAUNCH_MAPPED(double, double)
GRAPHGATE_LAUNCH_MAPPED(double, bool)
GRAPHGATE_LAUNCH_MAPPED(double, std::int64_t)
GRAPHGATE_LAUNCH_MAPPED(std::int64_t, std::int64_t)
GRAPHGATE_LAUNCH_MAPPED(std::int64_t, bool)
#undef GRAPHGATE_LAUNCH_MAPPED

}  // namespace graphgate::optimized
