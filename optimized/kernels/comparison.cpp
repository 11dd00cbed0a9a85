// Comparisons, logic and bits.
#include <cmath>

#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/selection.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kCompare{.operands = 2, .gives_bool = true};
constexpr PointwiseSignature kTest{.operands = 1, .gives_bool = true};
constexpr PointwiseSignature kBits{.operands = 2, .numbers = Numbers::kIntegral};
constexpr PointwiseSignature kBitsOfOne{.operands = 1, .numbers = Numbers::kIntegral};
constexpr PointwiseSignature kChoice{.operands = 2};
constexpr PointwiseSignature kReplace{.operands = 1};

template <class C>
bool is_nan([[maybe_unused]] C x) {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(x);
  return false;
}

template <class C>
bool is_infinite([[maybe_unused]] C x) {
  if constexpr (std::is_floating_point_v<C>) return std::isinf(x);
  return false;
}

// NaN wins; of equals the second.
template <class C>
C maximum(C x, C y) {
  return is_nan(x) || x > y ? x : y;
}
template <class C>
C minimum(C x, C y) {
  return is_nan(x) || x < y ? x : y;
}

// Every bit but of bool, which has one.
Launch bind_bitwise_not(const Binding& call) {
  const bool is_bool = call.tensor("self").dtype == spec::DType::kBool;
  const std::int64_t flipped = is_bool ? 1 : -1;
  return launch_pointwise<kBitsOfOne>(
      call, [flipped]<class C>() { return [flipped](C x) { return x ^ flipped; }; });
}

// What NaN and the infinities become; a number that is not given: 0 and the dtype's finite limits.
template <class C>
struct Replacements {
  C nan, positive, negative;
  C operator()(C x) const {
    if (is_nan(x)) return nan;
    if (is_infinite(x)) return x > 0 ? positive : negative;
    return x;
  }
};

Launch bind_nan_to_num(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  const double limit = spec::is_floating_point(dtype) ? greatest_finite(dtype) : 0;
  return launch_pointwise<kReplace>(call, [&]<class C>() {
    const auto value = [&](const char* name, double otherwise) {
      if (native_dtype<C>() == spec::DType::kInt64) return C(0);
      return Source<C>(Item{call.optional_real(name).value_or(otherwise)}, dtype).number;
    };
    return Replacements<C>{value("nan", 0), value("posinf", limit), value("neginf", -limit)};
  });
}

constexpr auto kAnd = [](auto x, auto y) { return x & y; };
constexpr auto kOr = [](auto x, auto y) { return x | y; };
constexpr auto kXor = [](auto x, auto y) { return x ^ y; };

}  // namespace

std::span<const Kernel> comparison_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      pointwise_kernel<kBits>("aten.__and__", kAnd),
      pointwise_kernel<kBits>("aten.__or__", kOr),
      pointwise_kernel<kBits>("aten.__xor__", kXor),
      pointwise_kernel<kBits>("aten.bitwise_and", kAnd),
      {"aten.bitwise_not", infer_pointwise<kBitsOfOne>, bind_bitwise_not, kOverlap},
      pointwise_kernel<kBits>("aten.bitwise_or", kOr),
      pointwise_kernel<kBits>("aten.bitwise_xor", kXor),
      {"aten.clamp", infer_clamp, bind_clamp, kOverlap},
      {"aten.clamp_max", infer_clamp, bind_clamp, kOverlap},
      {"aten.clamp_min", infer_clamp, bind_clamp, kOverlap},
      pointwise_kernel<kCompare>("aten.eq", [](auto x, auto y) { return x == y; }),
      pointwise_kernel<kCompare>("aten.ge", [](auto x, auto y) { return x >= y; }),
      pointwise_kernel<kCompare>("aten.gt", [](auto x, auto y) { return x > y; }),
      pointwise_kernel<kTest>("aten.isinf", [](auto x) { return is_infinite(x); }),
      pointwise_kernel<kTest>("aten.isnan", [](auto x) { return is_nan(x); }),
      pointwise_kernel<kCompare>("aten.le", [](auto x, auto y) { return x <= y; }),
      pointwise_kernel<kCompare>("aten.logical_and",
                                 [](auto x, auto y) { return x != 0 && y != 0; }),
      pointwise_kernel<kTest>("aten.logical_not", [](auto x) { return x == 0; }),
      pointwise_kernel<kCompare>("aten.logical_or",
                                 [](auto x, auto y) { return x != 0 || y != 0; }),
      pointwise_kernel<kCompare>("aten.logical_xor",
                                 [](auto x, auto y) { return (x != 0) != (y != 0); }),
      pointwise_kernel<kCompare>("aten.lt", [](auto x, auto y) { return x < y; }),
      {"aten.masked_fill", infer_masked_fill, bind_masked_fill, kOverlap},
      pointwise_kernel<kChoice>("aten.maximum", [](auto x, auto y) { return maximum(x, y); }),
      pointwise_kernel<kChoice>("aten.minimum", [](auto x, auto y) { return minimum(x, y); }),
      {"aten.nan_to_num", infer_pointwise<kReplace>, bind_nan_to_num, kOverlap},
      pointwise_kernel<kCompare>("aten.ne", [](auto x, auto y) { return x != y; }),
      {"aten.where", infer_where, bind_where, Overlap::kSameGeometry},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
