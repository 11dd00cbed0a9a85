// Comparisons, logic and bits.
#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/elements/elements.h"
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
constexpr PointwiseSignature kReplace{.operands = 1, .is_like_self = true};

// Every bit but of bool, which has one.
Launch bind_bitwise_not(const Binding& call) {
  const bool is_bool = call.tensor("self").dtype == spec::DType::kBool;
  const std::int64_t flipped = is_bool ? 1 : -1;
  return launch_pointwise<kBitsOfOne>(call,
                                      [flipped]<class C>() { return element::BitNot<C>{flipped}; });
}

// Integers, bool not.
void infer_shift(Inference& call) {
  if (common_dtype(call, kBits) == spec::DType::kBool) throw OpError("not implemented for bool");
  infer_pointwise<kBits>(call);
}
template <template <class> class Shift>
Launch bind_shift(const Binding& call) {
  const std::int64_t width = 8 * spec::item_size_bytes(common_dtype(call, kBits));
  return launch_pointwise<kBits>(call, [width]<class C>() { return Shift<C>{width}; });
}

// A number that is not given: 0, and the dtype's finite limits.
Launch bind_nan_to_num(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  const double limit = spec::is_floating_point(dtype) ? greatest_finite(dtype) : 0;
  return launch_pointwise<kReplace>(call, [&]<class C>() {
    const auto value = [&](const char* name, double otherwise) {
      if (native_dtype<C>() == spec::DType::kInt64) return C(0);
      return Source<C>(Item{call.optional_real(name).value_or(otherwise)}, dtype).number;
    };
    return element::Replacements<C>{value("nan", 0), value("posinf", limit),
                                    value("neginf", -limit)};
  });
}

}  // namespace

std::span<const Kernel> comparison_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      pointwise_kernel<kBits>("aten.__and__", element::BitAnd()).rows(row_rules::pointwise),
      Kernel{"aten.__ilshift__", infer_shift, bind_shift<element::ShiftLeft>, kOverlap}.rows(
          row_rules::pointwise),
      Kernel{"aten.__irshift__", infer_shift, bind_shift<element::ShiftRight>, kOverlap}.rows(
          row_rules::pointwise),
      Kernel{"aten.__lshift__", infer_shift, bind_shift<element::ShiftLeft>, kOverlap}.rows(
          row_rules::pointwise),
      pointwise_kernel<kBits>("aten.__or__", element::BitOr()).rows(row_rules::pointwise),
      Kernel{"aten.__rshift__", infer_shift, bind_shift<element::ShiftRight>, kOverlap}.rows(
          row_rules::pointwise),
      pointwise_kernel<kBits>("aten.__xor__", element::BitXor()).rows(row_rules::pointwise),
      pointwise_kernel<kBits>("aten.bitwise_and", element::BitAnd()),
      {"aten.bitwise_left_shift", infer_shift, bind_shift<element::ShiftLeft>, kOverlap},
      {"aten.bitwise_not", infer_pointwise<kBitsOfOne>, bind_bitwise_not, kOverlap},
      pointwise_kernel<kBits>("aten.bitwise_or", element::BitOr()),
      {"aten.bitwise_right_shift", infer_shift, bind_shift<element::ShiftRight>, kOverlap},
      pointwise_kernel<kBits>("aten.bitwise_xor", element::BitXor()),
      {"aten.clamp", infer_clamp, bind_clamp, kOverlap},
      {"aten.clamp_max", infer_clamp, bind_clamp, kOverlap},
      {"aten.clamp_min", infer_clamp, bind_clamp, kOverlap},
      pointwise_kernel<kCompare>("aten.eq", element::Equal()),
      pointwise_kernel<kCompare>("aten.ge", element::GreaterOrEqual()),
      pointwise_kernel<kCompare>("aten.gt", element::Greater()),
      pointwise_kernel<kTest>("aten.isinf", element::IsInfinite()),
      pointwise_kernel<kTest>("aten.isnan", element::IsNan()),
      pointwise_kernel<kTest>("aten.isneginf", element::IsNegativeInfinite()),
      pointwise_kernel<kTest>("aten.isposinf", element::IsPositiveInfinite()),
      pointwise_kernel<kCompare>("aten.le", element::LessOrEqual()),
      pointwise_kernel<kCompare>("aten.logical_and", element::LogicalAnd()),
      pointwise_kernel<kTest>("aten.logical_not", element::LogicalNot()),
      pointwise_kernel<kCompare>("aten.logical_or", element::LogicalOr()),
      pointwise_kernel<kCompare>("aten.logical_xor", element::LogicalXor()),
      pointwise_kernel<kCompare>("aten.lt", element::Less()),
      {"aten.masked_fill", infer_masked_fill, bind_masked_fill, kOverlap},
      pointwise_kernel<kChoice>("aten.maximum", element::Maximum()),
      pointwise_kernel<kChoice>("aten.minimum", element::Minimum()),
      {"aten.nan_to_num", infer_pointwise<kReplace>, bind_nan_to_num, kOverlap},
      pointwise_kernel<kCompare>("aten.ne", element::NotEqual()),
      pointwise_kernel<kTest>("aten.signbit", element::SignBit()),
      {"aten.where", infer_where, bind_where, Overlap::kSameGeometry},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
