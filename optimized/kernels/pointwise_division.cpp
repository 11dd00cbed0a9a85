// Division, its roundings, and remainders.
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kTrue{.operands = 2, .numbers = Numbers::kReal, .exact_number = true};
constexpr PointwiseSignature kRounded{
    .operands = 2, .numbers = Numbers::kNotBool, .exact_number = true};
constexpr PointwiseSignature kRemainder{.operands = 2, .numbers = Numbers::kNotBool};

// Integer division by 0 is an error of the values: it shows when the launch runs.
template <class Quotient>
struct Checked {
  using Unchecked = Quotient;
  std::int64_t operator()(std::int64_t x, std::int64_t y) const {
    if (y == 0) throw_division_by_zero();
    return Quotient()(x, y);
  }
};

// The one of a pair that C needs.
template <class C, class Integer, class Real>
using Of = std::conditional_t<kIsInteger<C>, Integer, Real>;

template <PointwiseSignature kSignature, class Integer, class Real>
Launch bind_either(const Binding& call) {
  return launch_pointwise<kSignature>(call,
                                      []<class C>() { return Of<C, Checked<Integer>, Real>(); });
}

enum class Rounding : std::uint8_t { kNone, kTruncate, kFloor };

Rounding rounding_of(const KernelCall& call) {
  if (!call.has("rounding_mode")) return Rounding::kNone;
  const std::string_view mode = call.text("rounding_mode");
  if (mode == "trunc") return Rounding::kTruncate;
  if (mode == "floor") return Rounding::kFloor;
  throw OpError("rounding_mode is None, 'trunc' or 'floor', not '" + std::string(mode) + "'");
}

void infer_divide(Inference& call) {
  if (rounding_of(call) == Rounding::kNone) return infer_pointwise<kTrue>(call);
  infer_pointwise<kRounded>(call);
}

Launch bind_divide(const Binding& call) {
  switch (rounding_of(call)) {
    case Rounding::kTruncate:
      return bind_either<kRounded, element::IntegerQuotient, element::TruncatedQuotient>(call);
    case Rounding::kFloor:
      return bind_either<kRounded, element::IntegerFlooredQuotient, element::FlooredQuotient>(call);
    case Rounding::kNone:
      break;
  }
  return launch_pointwise<kTrue>(call, []<class C>() { return element::Divide(); });
}

}  // namespace

std::span<const Kernel> pointwise_division_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten.div", infer_divide, bind_divide, kOverlap},
      {"aten.floor_divide", infer_pointwise<kRounded>,
       bind_either<kRounded, element::IntegerFlooredQuotient, element::FlooredQuotient>, kOverlap},
      {"aten.fmod", infer_pointwise<kRemainder>,
       bind_either<kRemainder, element::IntegerFmod, element::Fmod>, kOverlap},
      {"aten.remainder", infer_pointwise<kRemainder>,
       bind_either<kRemainder, element::IntegerRemainder, element::Remainder>, kOverlap},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
